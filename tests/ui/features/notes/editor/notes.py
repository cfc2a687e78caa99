"""Notes for the tests of the editor, nasty on purpose."""

from __future__ import annotations

from lorestudio.vault.links.references import Reference, references

NASTY = (
    "\ufeff---\r\n"
    "# a comment of the author\r\n"
    'keys: [skarn, "the dragon"]   \r\n'
    "tags:\r\n"
    "    - lorebook   \r\n"
    "    - 'place'\r\n"
    "priority: 20\r\n"
    "\r\n"
    "nested:\r\n"
    "  inner: 1\r\n"
    "summary: A dragon\u00a0of ash.\r\n"
    "---\r\n"
    "# Skarn\r\n"
    "\r\n"
    "A\u2028dragon 🐉 lives in [[Dawnkeep]].\r\n"
)
PLAIN = "---\ntags: [lorebook]\nkeys: [skarn]\npriority: 20\n---\n# Skarn\n\nA dragon.\n"


def link(target: str) -> Reference:
    """A link in brackets to this note, with its heading if there is one."""
    (found,) = references(f"[[{target}]]")
    return found


def place(editor, text: str, *, end: bool = False) -> None:
    """Put the caret before (or behind) the first occurrence of a text."""
    found = editor.body.document().find(text)
    cursor = editor.body.textCursor()
    cursor.setPosition(found.selectionEnd() if end else found.selectionStart())
    editor.body.setTextCursor(cursor)
    editor.body.setFocus()


def offered(editor) -> list[str]:
    """What the popup of links shows, [] while it is closed."""
    popup = editor.completer.completer.popup()
    names = popup.model()
    return [names.index(row, 0).data() for row in range(names.rowCount())] if popup.isVisible() else []
