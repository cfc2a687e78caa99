"""Attach."""
