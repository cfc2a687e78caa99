"""Providers over HTTP: how each is asked and what it answers."""
