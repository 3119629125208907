"""Servers, builders and oracles that several tests use."""
