"""Hybrid retrieval: keywords choose, vectors rank (rules: hybrid-retrieval)."""

from typing import Final

NAME: Final = "hybrid"
TITLE: Final = "Hybrid retrieval"
SUMMARY: Final = (
    "Keys choose the candidates, vectors rank them by likeness to the end of the chat, and the first few go in."
)
