"""From the files of the vaults to the index that a run takes (spec: deeplore-engine 1.12, 1.13)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lorestudio.domain.entry import Entry, Folder, LeftOutNote, VaultIndex
from lorestudio.domain.fields import BUILT_IN_FIELDS, FieldDefinition
from lorestudio.domain.javascript import trim
from lorestudio.vault import conflicts
from lorestudio.vault import fields as field_file
from lorestudio.vault.entries import EntryFields, ParseRules, read_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lorestudio.domain.tokens import TokenCounter
    from lorestudio.settings.deeplore import DeepLoreSettings
    from lorestudio.vault.files import VaultFiles


def build_index(files_by_vault: Sequence[VaultFiles], settings: DeepLoreSettings, counter: TokenCounter) -> VaultIndex:
    """Every entry of the vaults in their order, links resolved, references to missing titles taken out.

    The first vault's definition file decides which gating fields exist. Notes that gave no entry, or could not be
    read, are in `left_out`, vault by vault. Equal files and names give an equal digest.
    """
    definitions, field_errors = _field_definitions(files_by_vault, settings.field_definitions_path)
    rules = ParseRules.from_settings(settings, definitions)
    parsed: list[EntryFields] = []
    left_out: list[LeftOutNote] = []
    for vault in files_by_vault:
        for file in vault.files:
            if not file.filename.endswith(".md"):
                continue
            note = read_fields(file.text, file.filename, vault.name, rules, counter)
            if isinstance(note, LeftOutNote):
                left_out.append(note)
            else:
                parsed.append(note)
        left_out.extend(vault.left_out)
    entries = _finalized(conflicts.resolve(parsed, settings.multi_vault_conflict_resolution))
    return VaultIndex(
        entries=entries,
        left_out=tuple(left_out),
        folders=_folders(entries),
        fields=definitions,
        field_errors=field_errors,
        vaults=tuple(vault.name for vault in files_by_vault),
        digest=_digest(files_by_vault),
    )


def _field_definitions(
    files_by_vault: Sequence[VaultFiles], path: str
) -> tuple[tuple[FieldDefinition, ...], tuple[str, ...]]:
    """The definitions that hold and what is wrong with the file (spec 5.4)."""
    path = path or field_file.DEFAULT_PATH
    text = next((file.text for vault in files_by_vault[:1] for file in vault.files if file.filename == path), "")
    definitions, errors = field_file.parse(text)
    if not definitions and trim(text):
        advice = (
            "No field is defined, so the four built-in fields hold. Begin the file with the line “fields:” and each "
            "field with two spaces, a dash and its name, as in “  - name: season”."
        )
        errors = (*errors, advice)
    return definitions or BUILT_IN_FIELDS, tuple(f"{path}: {error}" for error in errors)


def _finalized(parsed: Sequence[EntryFields]) -> tuple[Entry, ...]:
    """Entries with their ids; references that no title answers to are taken out, and kept as written beside them."""
    # Of several spellings of a title, the last entry's is the one that links lead to.
    titles = {fields["title"].lower(): fields["title"] for fields in parsed}
    entries = []
    for position, fields in enumerate(parsed):
        requires, excludes, cascade_links = fields["requires"], fields["excludes"], fields["cascade_links"]
        fields["requires"] = _existing(requires, titles)
        fields["excludes"] = _existing(excludes, titles)
        fields["cascade_links"] = _existing(cascade_links, titles)
        entry = Entry(
            id=position,
            resolved_links=tuple([titles[name] for link in fields["links"] if (name := link.lower()) in titles]),
            written_requires=None if fields["requires"] is requires else requires,
            written_excludes=None if fields["excludes"] is excludes else excludes,
            written_cascade_links=None if fields["cascade_links"] is cascade_links else cascade_links,
            **fields,
        )
        entries.append(entry)
    return tuple(entries)


def _existing(names: tuple[str, ...], titles: Mapping[str, str]) -> tuple[str, ...]:
    """The names that are titles; the very same tuple where all are."""
    for name in names:
        if name.lower() not in titles:
            return tuple([name for name in names if name.lower() in titles])
    return names


def _folders(entries: Sequence[Entry]) -> tuple[Folder, ...]:
    """Every folder above an entry, most entries first, else in order of appearance (outer before inner)."""
    counts: dict[str, int] = {}
    for entry in entries:
        if entry.folder:
            parts = entry.folder.split("/")
            for size in range(1, len(parts) + 1):
                path = "/".join(parts[:size])
                counts[path] = counts.get(path, 0) + 1
    return tuple(Folder(path, count) for path, count in sorted(counts.items(), key=lambda item: -item[1]))


def _digest(files_by_vault: Sequence[VaultFiles]) -> str:
    """SHA-256 over the names and contents of everything that was read."""
    digest = hashlib.sha256()
    for vault in files_by_vault:
        digest.update(f"vault {vault.name}\0".encode("utf-8", "surrogatepass"))
        for file in vault.files:
            content = hashlib.sha256(file.text.encode("utf-8", "surrogatepass")).hexdigest()
            digest.update(f"{content} {file.filename}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
