"""Which notes are asked about, which are left out and why. Reads the notes; asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import Json, trim
from lorestudio.exchange.problems import InputError
from lorestudio.llm import ChatRequest
from lorestudio.studio.jobs import Cancelled, CancelToken
from lorestudio.studio.note_locks import is_locked, is_locked_itself
from lorestudio.studio.project import Project
from lorestudio.studio.proposals.model import Material, Passage, Plan, ProposalKind, Skipped, Task
from lorestudio.studio.proposals.prompts import MODES, draft_request, keys_request, summary_request
from lorestudio.vault import ParseRules, VaultError, parse_note, read_note
from lorestudio.vault.note_document import NoteDocument

LOCKED_ITSELF: Final = "It is locked by its own property “locked”."
LOCKED_HERE: Final = "It is locked in the studio. Unlock it to have proposals for it."
UNSAVED: Final = "It has unsaved text in the editor. Save it first."
NO_FOLDER: Final = "Its vault has no folder here, so it cannot be written."
NOTHING_TO_READ: Final = "It has no text to go by."
HAS_SUMMARY: Final = "It has a summary."

MOST_MESSAGES: Final = 100
"""So many messages at most make a passage."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What must not be touched: the studio's locked notes (`NoteLocks.load`), and notes with unsaved text."""

    locked: Collection[str] = frozenset()
    unsaved: Collection[Path] = frozenset()

    def reason(self, path: Path, text: str) -> str:
        """Why nothing may be proposed for a note, "" where something may."""
        if is_locked_itself(text):
            return LOCKED_ITSELF
        if is_locked(path, self.locked):
            return LOCKED_HERE
        return UNSAVED if path in self.unsaved else ""


def plan_summaries(
    project: Project,
    entries: Iterable[Entry] | None = None,
    guard: Guard | None = None,
    *,
    model: str = "",
    again: bool = False,
    cancel: CancelToken | None = None,
) -> Plan:
    """Ask for a summary of each of the entries, by default all of the project, that has none; with `again`, of all.

    Notes that have one are named as skipped where entries were chosen; of a whole vault they are passed over.
    Raises Cancelled.
    """
    chosen = entries is not None

    def refuse(material: Material) -> str | None:
        if not again and trim(material.entry.summary):
            return HAS_SUMMARY if chosen else ""
        return None

    def request(material: Material) -> ChatRequest:
        return summary_request(material, project.settings, model)

    wanted = project.index.entries if entries is None else entries
    return _plan(project, ProposalKind.SUMMARY, wanted, guard, request, refuse, cancel)


def plan_keys(
    project: Project,
    entries: Iterable[Entry],
    guard: Guard | None = None,
    *,
    mode: str = "",
    model: str = "",
    cancel: CancelToken | None = None,
) -> Plan:
    """Ask for better keys of each of the entries. `mode` is one of `MODES`, by default what the settings say.

    Raises Cancelled, and InputError for another mode.
    """
    mode = mode or project.settings.optimize_keys_mode
    if mode not in MODES:
        raise InputError("mode", f"there is no mode “{mode}”. There are: {', '.join(MODES)}.")

    def request(material: Material) -> ChatRequest:
        return keys_request(material, mode, project.settings, model)

    return _plan(project, ProposalKind.KEYS, entries, guard, request, lambda _material: None, cancel)


def plan_draft(project: Project, numbers: Sequence[int], focus: str = "", *, model: str = "") -> Plan:
    """Ask for a new note from the messages with these indices. Raises InputError with what to do."""
    chat = project.chat
    if chat is None:
        raise InputError("chat", "a draft is written from messages, and no chat is open. Open one first.")
    wanted = tuple(sorted(set(numbers)))
    if not wanted or wanted[0] < 0 or wanted[-1] >= len(chat.messages):
        raise InputError("messages", f"choose messages from #0 to #{len(chat.messages) - 1}.")
    if len(wanted) > MOST_MESSAGES:
        raise InputError("messages", f"{len(wanted)} are too many for one draft. Choose at most {MOST_MESSAGES}.")
    messages = [chat.messages[number] for number in wanted]
    if not any(message.scannable and trim(message.text) for message in messages):
        raise InputError("messages", "they are all hidden or empty. Choose messages that the story has.")
    titles = titles_of(project)
    request = draft_request(messages, titles, focus, project.settings, model)
    passage = Passage(draft_folder(project), wanted, titles, trim(focus))
    return Plan(ProposalKind.DRAFT, (Task(ProposalKind.DRAFT, passage, request),))


def draft_folder(project: Project) -> Path:
    """Where drafts go: the folder for suggestions of the first vault that has one. Raises InputError where none has."""
    vault = next((folder for folder in project.vault_folders if folder is not None), None)
    if vault is None:
        raise InputError("vault", "a note is written into a vault's folder, and this vault has none.")
    parts = [
        part for part in project.settings.auto_suggest_folder.replace("\\", "/").split("/") if part not in ("", ".")
    ]
    if ".." in parts:
        text = f"the folder for suggestions “{project.settings.auto_suggest_folder}” leads out of the vault."
        raise InputError("settings", text, field="autoSuggestFolder")
    return vault.joinpath(*parts)


def titles_of(project: Project) -> tuple[str, ...]:
    """The titles of all entries, each once."""
    return tuple(dict.fromkeys(entry.title for entry in project.index.entries))


def note_path(project: Project, entry: Entry) -> Path | None:
    """The file of an entry, None where its vault has no folder."""
    place = project.index.vaults.index(entry.vault) if entry.vault in project.index.vaults else -1
    folder = project.vault_folders[place] if 0 <= place < len(project.vault_folders) else None
    return folder / entry.filename if folder is not None else None


def read_material(project: Project, entry: Entry, guard: Guard) -> Material | Skipped:
    """The note as it is on disk now, or why nothing may be proposed for it."""
    path = note_path(project, entry)
    if path is None:
        return Skipped(entry.filename, entry.title, NO_FOLDER)
    try:
        text, _ = read_note(path)
    except VaultError as error:
        return Skipped(entry.filename, entry.title, str(error))
    reason = guard.reason(path, text)
    if reason:
        return Skipped(entry.filename, entry.title, reason)
    rules = ParseRules.from_settings(project.settings, project.index.fields)
    parsed = parse_note(text, entry.filename, entry.vault, rules, project.counter)
    if isinstance(parsed, LeftOutNote):
        return Skipped(entry.filename, entry.title, f"It is no entry any more: {parsed.message}")
    if not trim(parsed.content):
        return Skipped(entry.filename, parsed.title, NOTHING_TO_READ)
    return Material(path, parsed, text, _aliases(text))


def _plan(
    project: Project,
    kind: ProposalKind,
    entries: Iterable[Entry],
    guard: Guard | None,
    request: Callable[[Material], ChatRequest],
    refuse: Callable[[Material], str | None],
    cancel: CancelToken | None,
) -> Plan:
    """`refuse` gives the reason to leave a note out, "" to pass it over without a word, None to ask about it."""
    tasks: list[Task] = []
    skipped: list[Skipped] = []
    for entry in entries:
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        material = read_material(project, entry, guard or Guard())
        if isinstance(material, Skipped):
            skipped.append(material)
            continue
        reason = refuse(material)
        if reason is None:
            tasks.append(Task(kind, material, request(material)))
        elif reason:
            skipped.append(Skipped(entry.filename, material.entry.title, reason))
    return Plan(kind, tuple(tasks), tuple(skipped))


def _aliases(text: str) -> tuple[str, ...]:
    """The note's other names, as Obsidian has them."""
    document = NoteDocument(text)
    found = document.find("aliases") or document.find("alias")
    value: Json = found.value if found is not None else None
    items = value if isinstance(value, list) else [value]
    return tuple(name for item in items if isinstance(item, str) and (name := trim(item)))
