"""Ideas."""
