"""Rows → sentences, never beyond what their intervals and tests allow."""
