"""Indexes behind the infini-gram-mini protocol."""
