"""Rows → the few tables that answer their question, the same in terminals, pages and notebooks."""
