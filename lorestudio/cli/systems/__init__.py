"""Commands of one retrieval system, named after it."""
