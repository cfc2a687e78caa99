"""Changes to notes: what a set of them is, how it is checked, written, kept and undone."""
