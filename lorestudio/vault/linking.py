"""The edit that makes a link of a name in plain text."""

from __future__ import annotations

from lorestudio.vault.note_document import TextEdit

_NOT_IN_LINKS = "#^[]|"


def link_edit(text: str, start: int, end: int, title: str) -> TextEdit:
    """Link `text[start:end]` to the note of this title, with what is written there as the alias where it differs.

    The title is what DeepLore's links lead to; Obsidian finds it where the file is called so too. In the row of a table
    the bar is escaped. Raises ValueError for a title that no link can name.
    """
    if not title or any(char in title for char in _NOT_IN_LINKS) or "\n" in title:
        raise ValueError(
            f"No link can lead to “{title}”: {' '.join(_NOT_IN_LINKS)} mean something in links. Rename the note first."
        )
    written = text[start:end]
    line = text[text.rfind("\n", 0, start) + 1 : start].lstrip(" \t>")
    bar = "\\|" if line.startswith("|") else "|"
    return TextEdit(start, end, f"[[{title}]]" if written == title else f"[[{title}{bar}{written}]]")
