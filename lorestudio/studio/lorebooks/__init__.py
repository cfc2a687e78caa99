"""Lorebooks and notes: import, export, and what links the two."""
