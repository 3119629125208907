"""Index backends."""
