"""The commands: a module each, with its one function and the work that only it does."""
