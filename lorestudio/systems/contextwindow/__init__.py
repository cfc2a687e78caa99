"""The context window: weighted lore in a budget that elements and conversation share (rules: context-window)."""

from typing import Final

NAME: Final = "context-window"
TITLE: Final = "Context window"
SUMMARY: Final = (
    "Weighted entries whose key or alias the text mentions, under a budget that they share with constant notes and the "
    "conversation."
)
