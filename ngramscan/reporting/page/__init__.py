"""Rows of any command → one self-contained page: words, figures, tables, methods, provenance."""
