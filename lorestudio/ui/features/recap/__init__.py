"""Recap."""
