"""Commands about notes and the lore in them."""
