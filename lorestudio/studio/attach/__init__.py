"""Attach: what a front end really sends to its provider, taken on the way and set beside the studio's own runs."""
