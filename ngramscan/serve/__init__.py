"""Local indexes behind the infini-gram-mini HTTP protocol, for any client of the public service."""
