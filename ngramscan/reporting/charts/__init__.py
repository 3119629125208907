"""Rows → figures: the same on a page and in a file."""
