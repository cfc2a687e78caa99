"""Settings, each declared once: its default, range, unit, help, and the stages of a run that it changes."""
