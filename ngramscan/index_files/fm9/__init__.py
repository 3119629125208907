"""The index format of infini-gram-mini: files that count any string in a text."""
