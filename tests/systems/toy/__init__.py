"""A retrieval system as anybody may add one: notes whose titles were said, the most urgent first."""

from typing import Final

TITLE: Final = "Toy"
SUMMARY: Final = "Notes whose titles were said go in, the most urgent first."
