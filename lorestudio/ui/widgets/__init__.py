"""Widgets of our own that more than one pane uses."""
