"""The commands: a function each, for Python and for the terminal."""
