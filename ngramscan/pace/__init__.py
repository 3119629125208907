"""How fast a server is asked, and asking it."""
