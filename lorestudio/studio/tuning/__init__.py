"""Lore as something that can be tested: what should be in the prompt, and what a change does to every reply."""
