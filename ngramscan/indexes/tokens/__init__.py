"""Token-level indexes: the hosted ones of infini-gram, and local folders of its format."""
