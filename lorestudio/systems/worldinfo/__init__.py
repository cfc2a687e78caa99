"""SillyTavern's World Info scan, to compare with (spec: deeplore-ai-and-tools 5.6)."""
