"""From a draft to the text of a new note and the file it goes to (spec: deeplore-ai-and-tools 2.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from lorestudio.domain.javascript import Json, fold, trim
from lorestudio.memory.scribe import safe_name
from lorestudio.vault import cleaning
from lorestudio.vault.note_document import NoteDocument, apply_edits

PRIORITY: Final = 50
"""What DeepLore gives to notes that were suggested."""
_MOST_NAMESAKES: Final = 1000

_TEMPLATER: Final = re.compile(r"<%.*?%>", re.DOTALL)
_RUN_AT_ONCE: Final = re.compile(
    r"^([ \t]*[`~]{3,}[ \t]*)(?:dataview(?:js)?|templater|button|tasks)\b.*$", re.MULTILINE
)
_INLINE_QUERY: Final = re.compile(r"`\$?=")
_RULE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"\A#[ \t]+([^\n]*)\n+")
_EMBED: Final = re.compile(r"!(?=\[\[)")
_LINK: Final = re.compile(r"\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]")


def note_text(title: str, keys: Sequence[str], summary: str, content: str, tag: str, titles: Collection[str]) -> str:
    """A whole note: tags, keys, summary and priority above the heading and the content.

    `titles` are those of notes that exist: links to others become plain text. What Obsidian's plugins would carry out
    becomes plain text too. Raises ValueError where a property cannot hold its value.
    """
    title = trim(title.replace("[[", "").replace("]]", "").lstrip("# \t"))
    text = f"# {title}\n\n{harmless(content, title, titles)}\n"
    properties: list[tuple[str, Json]] = [("tags", [tag]), ("keys", list(keys)), ("priority", PRIORITY)]
    if summary:
        properties.append(("summary", summary))
    for name, value in properties:
        text = apply_edits(text, [NoteDocument(text).set(name, value)])
    return text


def harmless(content: str, title: str, titles: Collection[str]) -> str:
    """The content as a note may have it: nothing that a plugin runs, no second heading, no links to nowhere."""
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    text = _TEMPLATER.sub("", text).replace("<%", "< %").replace("%%", "")
    text = _INLINE_QUERY.sub("` =", _RUN_AT_ONCE.sub(r"\1text", text))
    heading = _HEADING.match(text)
    if heading and fold(trim(heading[1])) == fold(title):
        text = text[heading.end() :]
    known = {fold(name) for name in titles}

    def shown(link: re.Match[str]) -> str:
        return link[0] if fold(trim(link[1])) in known else (link[2] or link[1])

    text = _LINK.sub(shown, _EMBED.sub("", text))
    return trim(_RULE.sub("- - -", text))


def title_of(text: str, path: Path) -> str:
    """The title that DeepLore reads in the text of a note."""
    return cleaning.title(NoteDocument(text).body, path.name)


def free_path(folder: Path, title: str, exists: Callable[[Path], bool] = lambda path: path.exists()) -> Path:
    """A file for a note of this title that no file stands in the way of; a name that is taken gets a number.

    Raises ValueError where there are too many of the same name. Looks at the disk.
    """
    name = safe_name(title)
    for number in range(1, _MOST_NAMESAKES):
        path = folder / (f"{name}.md" if number == 1 else f"{name} {number}.md")
        if not exists(path):
            return path
    raise ValueError(f"“{folder}” has too many notes called “{name}”. Give the draft another title.")
