"""Proposals."""
