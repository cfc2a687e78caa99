"""Recap memory in the window: the pane, what its actions do, and the work beside the window."""
