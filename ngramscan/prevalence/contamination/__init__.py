"""Which entries of a benchmark are in corpora, and whether models do better on them."""
