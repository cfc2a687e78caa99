"""Scenes of a chat: their breaks and how these are looked for, their recaps."""
