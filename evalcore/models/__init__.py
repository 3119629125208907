"""Models that can be asked: a hosted one, or recorded outputs in its place."""
