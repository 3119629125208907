"""Model-written programs, run so that they can do no harm."""
