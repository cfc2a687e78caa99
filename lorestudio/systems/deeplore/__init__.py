"""DeepLore 2.0.2's retrieval: keywords, AI selection, gates, budget (rules: deeplore)."""
