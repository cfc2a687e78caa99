"""Lorebooks."""
