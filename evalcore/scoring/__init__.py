"""Rules that tell whether an answer is the gold."""
