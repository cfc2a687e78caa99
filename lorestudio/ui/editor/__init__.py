"""The editor of a note: one text with one undo history, seen as a form, as a body and as the whole file."""
