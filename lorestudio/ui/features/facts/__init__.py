"""Memories."""
