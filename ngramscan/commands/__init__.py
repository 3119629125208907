"""The commands: a module each, with a function for Python and for the terminal."""
