"""DeepLore's retrieval by the rules of 2.0.2 or 2.6: keywords, AI selection, gates, budget (rules: deeplore)."""

from typing import Final

NAME: Final = "deeplore"
TITLE: Final = "DeepLore"
SUMMARY: Final = "Keys, links and a model choose notes through DeepLore's stages, under its token budget."
