"""Dialogs for settings: profiles, carrying them elsewhere and taking them over, a chat's choices, shortcuts."""
