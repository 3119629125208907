"""Patterns: their sets, files and literals, and how they overlap."""
