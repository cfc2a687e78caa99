"""`lorestudio preview`: the note with its edited text, and what that changes in a generation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final

from lorestudio.cli.options import (
    ChatOptions,
    JsonOption,
    OfflineRun,
    ReplyOption,
    chosen_generation,
    note_called,
    notes_called,
)
from lorestudio.cli.output import echo, print_json, read_text, say_all
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.exchange.problems import InputError
from lorestudio.studio.compare.text import comparison_json
from lorestudio.studio.notes import book_entries
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import EditedNote, Preview, Previewer
from lorestudio.trace.diff import compare, sizes
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.trace.storage.serialize import record_to_json
from lorestudio.trace.summary import summary
from lorestudio.trace.wording import lowered, plural
from lorestudio.vault.edited_vaults import NoteText

_UNUSED: Final = {
    "constant": "The entry is a constant: it goes in without its keys.",
    "guide": "The entry is a guide: it is never injected, and its keys are not searched.",
    "ai_only": "The mode is ai-only: keys are not searched.",
    "scan_depth_zero": "The scan depth is 0: keys are not searched.",
}


def edited_note(project: Project, name: str, text: Path | None) -> NoteText:
    """The note called `name` with the text of a file, or as it is saved. Raises InputError or VaultError.

    A name that no note has and that ends in .md is a new note of the first vault.
    """
    if _is_new(project, name):
        vault, filename = project.index.vaults[0], name
    else:
        note = note_called(project, name, "NOTE", " A new note's name ends in .md.")
        vault, filename = note.vault, note.filename
    if text is None:
        path = project.note_path(vault, filename)
        if path is None:
            raise InputError("--text", "the vault is not a folder here. Give the note's text in a file.")
        return NoteText(vault, filename, book_entries.read_text(path)[0])
    return NoteText(vault, filename, read_text(text))


def told_new(project: Project, names: Iterable[str]) -> list[str]:
    """A sentence about each of these names that `edited_note` takes for that of a new note."""
    return [f"no note is called “{name}”: it counts as a new one." for name in names if _is_new(project, name)]


def _is_new(project: Project, name: str) -> bool:
    return name.endswith(".md") and bool(project.index.vaults) and not notes_called(project, name)


def preview_lines(preview: Preview) -> list[str]:
    """What the edit changes, line by line."""
    changes = compare(preview.before, preview.trace)
    lines = [f"before  {summary(preview.before)}", f"edited  {summary(preview.trace)}"]
    label = preview.trace.words.label
    lines += [f"  + {each.title} goes in ({lowered(label(each.after_fate.reason))})" for each in changes.entered]
    lines += [f"  - {each.title} no longer goes in" for each in changes.left]
    lines += [f"  ~ {each.title}: {before:,} -> {after:,} tokens" for each, before, after in sizes(changes)]
    if not (changes.entered or changes.left or any(sizes(changes))):
        lines.append("  The same entries go in, with as many tokens.")
    lines.append(f"  {changes.tokens[0]:,} -> {changes.tokens[1]:,} tokens in all")
    for note in preview.notes:
        lines += ["", *_note_lines(note)]
    return [*lines, *preview.remarks]


def preview_json(preview: Preview) -> dict[str, Json]:
    """The same as data: what differs as `lorestudio diff` says it, and about each note what it does."""
    diff = compare(preview.before, preview.trace)
    notes: list[Json] = [
        {
            "vault": each.note.vault, "filename": each.note.filename,
            "problem": None if each.left_out is None else each.left_out.message,
            "title": None if each.entry is None else each.entry.title,
            "outcome": None if each.outcome is None else record_to_json(each.outcome),
            "injected": None if each.injected is None else picked(each.injected, "tokens", "whole_tokens", "truncated"),
            "match": None if each.match is None else record_to_json(each.match),
        }
        for each in preview.notes
    ]  # fmt: skip
    return {**comparison_json(diff, ("before", "edited")), "notes": notes, "remarks": list(preview.remarks)}


def _note_lines(note: EditedNote) -> Iterator[str]:
    if note.left_out is not None:
        yield f"{note.note.filename} is no entry: {note.left_out.message}"
        return
    if note.entry is None or note.outcome is None:
        yield f"{note.note.filename} gives no entry of its own: another note has its title, or it is gone."
        return
    yield f"{note.entry.title} ({note.note.filename})"
    injected = note.injected
    how = "goes in" if note.outcome.goes_in else "does not go in"
    if injected is not None:
        how += " shortened" if injected.truncated else ""
        framed = f", {injected.whole_tokens:,} with the template" if injected.whole_tokens != injected.tokens else ""
        yield f"  {how}: {injected.tokens:,} tokens{framed}"
    if note.match is not None:
        yield from _match_lines(note.match)
    else:
        yield f"  {how}: {note.outcome.sentence}"


def _match_lines(match: WouldMatch) -> Iterator[str]:
    if match.unused:
        yield f"  {_UNUSED[match.unused]}"
    if not match.keys:
        yield "  It has no keys."
        return
    count = plural(match.messages, "# message|# messages")
    if match.key:
        deciding = f" and the refine key “{match.refine_key}”" if match.refine_key else ""
        yield f"  would match in the last {count} by “{match.key}”{deciding}"
    elif match.missing_refine:
        yield f"  would not match in the last {count}: a key is found, but no refine key"
    else:
        yield f"  would not match in the last {count}"
    yield from (f"    key “{key.key}”: {_where(key)}" for key in match.keys)
    yield from (f"    refine key “{key.key}”: {_where(key)}" for key in match.refine_keys)


def _where(key: KeyMatch) -> str:
    if key.blank:
        return "blank, so it is not searched"
    cut = " (only its beginning is searched)" if key.cut else ""
    if not key.found:
        return f"not found{cut}"
    times = plural(key.count, "once|# times")
    name = " in the speaker's name" if key.in_name else ""
    span = "" if key.start is None else f" at {key.start} to {key.end}"
    return f"found {times}, last in #{key.message}{name}{span}{cut}"


def preview(
    given: ChatOptions,
    note: Annotated[str, "<NOTE>", "The note: its file name in the vault, or its title."],
    by: OfflineRun,
    *,
    message: ReplyOption = None,
    text: Annotated[Path | None, "A file with the edited note, - for standard input. Default: as saved."] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what an edited note would change in a generation, without saving it. No provider is asked."""
    project = by.adjusted(given.project())
    edited = edited_note(project, note, text)
    simulator = Simulator(project, by.offline(project, by.answers))
    generation = chosen_generation(simulator, message)
    asyncio.run(simulator.generate(generation))
    made = Previewer(simulator, generation, by.recorded(project)).preview([edited])
    say_all((*project.problems, *told_new(project, [note])))
    if as_json:
        print_json(preview_json(made), 1)
    else:
        echo("\n".join(preview_lines(made)))
