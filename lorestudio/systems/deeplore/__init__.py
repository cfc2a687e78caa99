"""DeepLore's retrieval by the rules of 2.0.2 or 2.6: keywords, AI selection, gates, budget (rules: deeplore)."""
