"""The context window: weighted lore in a budget that elements and conversation share (spec: context-window)."""
