"""What a new note begins with: the templates that come with the studio and those of the vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.studio.vault_notes import VaultNotes
from lorestudio.vault import front_matter
from lorestudio.vault.link_targets import base_name
from lorestudio.vault.note_document import NoteDocument, apply_edits

FOLDER: Final = "templates"
"""The folder of a vault's own templates, in any capital letters."""
_BY_TITLE: Final = "{{title}}"
_BY_DATE: Final = "{{date}}"


@dataclass(frozen=True, slots=True)
class Template:
    """A note with `{{title}}` and `{{date}}` in it. `filename` is that of a vault's own template, "" for the others."""

    name: str
    text: str
    filename: str = ""


def _built_in(name: str, tag: str, body: str, fields: str = "") -> Template:
    front = f'---\ntags:\n  - lorebook\n  - {tag}\nkeys:\n  - "{_BY_TITLE}"\npriority: 50\n{fields}summary: ""\n---\n'
    return Template(name, f"{front}\n# {_BY_TITLE}\n\n{body}")


BUILT_IN: Final = (
    _built_in(
        "character", "character",
        "Who they are, in one sentence.\n\nLooks:\n\nManner and voice:\n\nWhat they want:\n\nTies to others:\n",
    ),
    _built_in("place", "location", "What one sees first.\n\nWho is here:\n\nWhat happens here:\n\nWhat lies near:\n"),
    _built_in("faction", "faction", "What they are after.\n\nMembers:\n\nMeans:\n\nFriends and enemies:\n"),
    _built_in("event", "event", "What happened, and when.\n\nWho took part:\n\nWhat came of it:\n"),
    _built_in("rule", "rule", "What always holds in this world.\n\nExceptions:\n", "constant: false\n"),
)  # fmt: skip
"""A note of each kind that lore is mostly made of."""


def templates(vault: VaultNotes) -> tuple[Template, ...]:
    """The vault's own templates by name, then those of the studio whose names are not taken."""
    own = [
        Template(base_name(filename), note.text, filename)
        for filename, note in sorted(vault.index.notes.items())
        if filename.lower().startswith(f"{FOLDER}/")
    ]
    taken = {template.name.lower() for template in own}
    return (*own, *(template for template in BUILT_IN if template.name not in taken))


def fill(template: str, title: str, today: date) -> str:
    """The text of a template with title and date; a property means then what it meant, whatever signs the title has.

    A property is spelled anew only where the bare words would be read as something else.
    """
    words = {_BY_TITLE: title, _BY_DATE: today.isoformat()}
    text = _filled(template, words)
    wanted = {name: _filled_value(value, words) for name, value in _values(template).items()}
    for name, value in wanted.items():
        document = NoteDocument(text)
        found = document.find(name)
        if found is not None and found.value != value:
            try:
                text = apply_edits(text, [document.set(name, value)])
            except ValueError:
                continue  # no spelling holds this title, and the note shows it as the template has it
    return text


def _filled(text: str, words: Mapping[str, str]) -> str:
    for placeholder, value in words.items():
        text = text.replace(placeholder, value)
    return text


def _filled_value(value: Json, words: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _filled(value, words)
    if isinstance(value, list):
        return [_filled_value(item, words) for item in value]
    return value


def _values(text: str) -> Mapping[str, Json]:
    yaml_text, _ = front_matter.split(text)
    return {} if yaml_text is None else front_matter.parse(yaml_text)
