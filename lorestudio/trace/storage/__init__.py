"""Traces as they are kept and passed on: text, packed, on disk, without what is private."""
