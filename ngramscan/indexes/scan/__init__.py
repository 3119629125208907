"""Corpora that are read once for an answer."""
