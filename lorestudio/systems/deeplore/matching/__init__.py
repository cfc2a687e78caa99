"""Keys, scores and what is scanned for them."""
