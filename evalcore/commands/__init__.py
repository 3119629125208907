"""The commands as functions: the same names and options, returning data frames.

Each is imported from its own module: what one command needs may be slow to import.
"""
