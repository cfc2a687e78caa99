"""Tryout."""
