"""Vault."""
