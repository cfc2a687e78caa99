"""Further names of notes, which Obsidian's links may use and DeepLore does not read."""

from __future__ import annotations

from collections.abc import Mapping

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import trim
from lorestudio.studio.project.project import Project
from lorestudio.vault import front_matter
from lorestudio.vault.files import VaultError
from lorestudio.vault.writer import read_note


def read_aliases(project: Project) -> Mapping[str, tuple[str, ...]]:
    """The aliases of the project's entries by lower-case title. Reads every note, so it takes its time.

    A note that cannot be read has none; the index says what is wrong with it.
    """
    folders = dict(zip(project.index.vaults, project.vault_folders, strict=False))
    found: dict[str, tuple[str, ...]] = {}
    for entry in project.index.entries:
        folder = folders.get(entry.vault)
        if folder is None:
            continue
        try:
            text, _digest = read_note(folder / entry.filename)
        except VaultError:
            continue
        names = aliases_of(text, entry)
        if names:
            found[entry.title.lower()] = (*found.get(entry.title.lower(), ()), *names)
    return found


def aliases_of(text: str, entry: Entry) -> tuple[str, ...]:
    """The further names that a note's text gives."""
    front, _body = front_matter.split(text)
    if front is None or "alias" not in front:
        return ()
    values = front_matter.parse(front)
    names: list[str] = []
    for field in ("aliases", "alias"):
        value = values.get(field)
        pieces = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
        names += [name for piece in pieces if (name := trim(str(piece))) and name.lower() != entry.title.lower()]
    return tuple(dict.fromkeys(names))
