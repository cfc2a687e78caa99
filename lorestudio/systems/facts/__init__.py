"""Fact memory: facts are drawn out of a conversation once it has fallen silent, and found again by similarity.

Two ways of doing it: strict does what the original does, slips included; safe (the default) mends what loses data
(rules: fact-memory 13). All text fields are spelled as in the original wherever they leave the program.
"""

from typing import Final

NAME: Final = "facts"
TITLE: Final = "Fact memory"
SUMMARY: Final = (
    "Facts that were drawn out of the chat and stored: the ones most like your last message go in, and the pinned ones."
)

SOURCE: Final = "memories"
"""What stands in a trace in place of a vault."""
