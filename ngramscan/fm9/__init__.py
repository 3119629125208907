"""The index format of infini-gram-mini: files that tell how often anything occurs in a text."""
