"""Patterns and indexes: counts, totals, documents, contexts."""
