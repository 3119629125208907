"""Rows → pictures. matplotlib is imported where one is drawn."""
