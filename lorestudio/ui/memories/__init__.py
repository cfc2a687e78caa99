"""Fact memory in the window: its pane, drawing facts out of the open chat, and looking after the memories."""
