"""Requests to a server over HTTP, at a polite pace."""
