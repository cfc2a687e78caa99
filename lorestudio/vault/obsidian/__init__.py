"""Obsidian."""
