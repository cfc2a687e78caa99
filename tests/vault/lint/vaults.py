"""Vaults out of a few lines of text, and what the checks say about them."""

from __future__ import annotations

from collections.abc import Mapping

from lorestudio.domain.javascript import Json
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import sanitise
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from lorestudio.vault.lint.linter import Linter, Report, Scope
from lorestudio.vault.lint.model import Finding
from lorestudio.vault.lint.settings import SettingsFile

Files = Mapping[str, str]


def note(front: str = "keys: [harbour]", body: str = "Some text.", tags: str = "lorebook") -> str:
    """The text of an entry; `front` may have several lines."""
    lines = [f"tags: [{tags}]", *front.split("\n")] if front else [f"tags: [{tags}]"]
    return "---\n" + "\n".join(lines) + f"\n---\n{body}\n"


def scope(
    files: Files | Mapping[str, Files],
    settings: Mapping[str, Json] | None = None,
    *,
    file: Mapping[str, Json] | None = None,
) -> Scope:
    """What is checked: one vault `v` of files by name, or several vaults; `file` are settings as in a file."""
    vaults: dict[str, Files] = {}
    for key, value in files.items():
        if isinstance(value, str):
            vaults.setdefault("v", {})
            vaults["v"] = {**vaults["v"], key: value}
        else:
            vaults[key] = value
    read = sanitise({"enabled": True, **(settings or {}), **(file or {})}).settings
    listed = []
    for name, notes in vaults.items():
        read_notes = (NoteFile(filename, text.removeprefix("\ufeff")) for filename, text in sorted(notes.items()))
        listed.append(VaultFiles(name, tuple(read_notes)))
    index = build_index(listed, read, CHARS_4)
    texts = {(name, filename): text for name, notes in vaults.items() for filename, text in notes.items()}
    known = None if file is None else SettingsFile(read, file.get("vaults"))
    return Scope(index, read, texts, known)


def lint(checked: Scope) -> Report:
    """All findings of a vault, from nothing."""
    return Linter().run(checked)


def findings(files: Files | Mapping[str, Files], code: str = "", **more: object) -> tuple[Finding, ...]:
    """The findings of a vault, those of one check where `code` is given."""
    found = lint(scope(files, **more)).findings  # type: ignore[arg-type]  # handed on as they are
    return tuple(finding for finding in found if code in ("", finding.code))


def codes(files: Files | Mapping[str, Files], **more: object) -> set[str]:
    """The codes of all findings."""
    return {finding.code for finding in findings(files, **more)}
