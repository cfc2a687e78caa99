"""The context window: weighted lore in a budget that elements and conversation share (rules: context-window)."""
