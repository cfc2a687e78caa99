"""`lorestudio effects`: what a change does to whole chats, and how sensitive they are to each setting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from rich.console import Console

from lorestudio.cli.options import JsonOption, note_called
from lorestudio.cli.output import print_json, say_all
from lorestudio.cli.runs.controls import ChoiceOptions, with_chosen
from lorestudio.cli.runs.preview import edited_note, told_new
from lorestudio.cli.screen import Screen, figure, filled, fold, table
from lorestudio.cli.tuning.whole_chats import WholeChats
from lorestudio.domain.entry import NoteKey
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import picked
from lorestudio.domain.texts import meant
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.sections import assigned
from lorestudio.studio.compare.comparison import simulator_of
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.project_changes import ProjectChanges, edited_text
from lorestudio.studio.tuning.effects import Effects, StepEffect, TurnEffect, WholeChat, moving_steps, sensitivity
from lorestudio.systems.ideas import NoteEdit
from lorestudio.trace.wording import joined, signed_words
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.front_matter import parse


def effects(
    chats: WholeChats,
    chosen: ChoiceOptions,
    *,
    changes: Annotated[list[str] | None, "--set", "NAME=VALUE", "A setting's value. May be repeated."] = None,
    note: Annotated[
        list[str] | None,
        "NOTE:NAME=VALUE",
        "A property of a note, its value as in the note; without one it goes. May be repeated.",
    ] = None,
    text: Annotated[list[str] | None, "NOTE=FILE", "A note with the text of a file. May be repeated."] = None,
    each: Annotated[bool, "Instead, each setting by a step to both sides."] = False,
    setting: Annotated[list[str] | None, "With --each: only this. May be repeated."] = None,
    as_json: JsonOption = False,
) -> None:
    """Run whole chats with a change, offline, and say reply by reply who enters, who leaves, and what is expected.

    Pins, blocks and what else is chosen for a chat are changes, too. With --each it is said of every setting what a
    step to either side does, and of every pin and block what it does.
    """
    changing = bool(changes or note or text or chosen)
    if each and changing:
        raise InputError("--each", "this tries settings as they are now, one by one. Leave out what changes.")
    if not each and not changing:
        raise InputError("--set", "say what changes, with --set, --note, --text or --pin, or try --each setting.")
    found: list[Json] = []
    console, problems = Screen(), list[str]()
    for project in chats.projects():
        _, expected = chats.expected(project)
        problems += [*project.problems, *expected.problems]
        problems += told_new(project, (item.partition("=")[0] for item in text or ()))
        for candidate in chats.candidates(project):
            simulator = simulator_of(project, candidate)
            asyncio.run(simulator.run_missing())
            chat = WholeChat(simulator, expected.every)
            where = {"chat": project.chat_path.stem if project.chat_path else "", "run": candidate.label}
            title = f"{where['chat'] or 'no chat'}, {where['run']}"
            if each:
                rows = tuple(sensitivity(chat, _known(chat.settings, setting or ())))
                found.append({**where, "settings": [_row_json(row) for row in rows]})
                if not as_json:
                    _print_rows(console, title, rows)
                continue
            settings = assigned(changes or (), type(chat.settings), chat.settings)
            notes = tuple(_notes(project, note or (), text or ()))
            controls = with_chosen(project, chosen, candidate.system).controls
            told = chat.effects(settings, notes, controls=controls)
            found.append({**where, **effects_json(told)})
            if not as_json:
                print_effects(console, title, told)
    if as_json:
        print_json({"effects": found}, 1)
    say_all(problems)


def _known(settings: Section, names: Sequence[str]) -> tuple[str, ...]:
    """These names of settings. Raises InputError for one that there is not."""
    for name in names:
        if not settings.has(name):
            known = (each.alias for each in declared(type(settings)))
            raise InputError("--setting", f"there is no setting “{name}”.{meant(name, known)}")
    return tuple(names)


def _notes(project: Project, edits: Sequence[str], texts: Sequence[str]) -> Iterator[NoteText]:
    """The notes with their changes; several properties of one note come together."""
    for item in texts:
        name, equals, file = item.partition("=")
        if not equals:
            raise InputError("--text", f"“{item}”: write NOTE=FILE.")
        yield edited_note(project, name, Path(file))
    known: dict[NoteKey, str] = {}
    reading = ProjectChanges(project)
    for item in edits:
        place, equals, value = item.partition("=")
        name, colon, prop = place.rpartition(":")
        if not (equals and colon and prop.strip()):
            raise InputError("--note", f"“{item}”: write NOTE:NAME=VALUE, as in Lamp:priority=10.")
        found = note_called(project, name.strip(), "--note")
        key = found.note_key
        read = parse(f"{prop.strip()}: {value.strip()}").get(prop.strip())
        edit = NoteEdit.of(found, prop.strip(), read, removed=not value.strip())
        try:
            known[key] = edited_text(known.get(key) or reading.text(*key), edit)
        except ValueError as error:
            raise InputError("--note", f"“{item}”: {error}") from error
    yield from (NoteText(*key, changed) for key, changed in known.items())


def effects_json(told: Effects) -> dict[str, Json]:
    """What a change does to a chat, as data."""
    return {
        **_totals_json(told),
        "look_first": [turn.generation.message for turn in told.worth_a_look],
        "turns": [_turn_json(turn) for turn in told.turns],
    }


def _totals_json(told: Effects) -> dict[str, Json]:
    gain = told.after.gain(told.before, "tokens")
    return {
        "replies": told.replies,
        "changed": len(told.changed),
        **picked(told, "won", "lost"),
        "tokens_per_reply": told.tokens,
        "tokens_interval": None if gain is None else [gain.low, gain.high],
    }


def _turn_json(turn: TurnEffect) -> Json:
    return {
        "reply": turn.generation.message,
        "entered": list(turn.entered),
        "left": list(turn.left),
        "tokens": list(turn.tokens),
        "won": [each.sentence for each in turn.won],
        "lost": [each.sentence for each in turn.lost],
    }


def _row_json(row: StepEffect) -> Json:
    return {"setting": row.name, **picked(row, "before", "after"), **_totals_json(row.effects)}


def print_effects(console: Console, title: str, told: Effects) -> None:
    """Print what a change does to a chat, reply by reply, and what to look at first."""
    shown = table(
        figure("reply"), figure("tokens"), *map(fold, ("enters", "leaves", "holds now", "holds no more")), title=title
    )
    rows = (
        [
            f"#{turn.generation.message}",
            signed_words(turn.tokens[1] - turn.tokens[0]),
            *(joined(titles) for titles in (turn.entered, turn.left)),
            *("; ".join(one.sentence for one in which) for which in (turn.won, turn.lost)),
        ]
        for turn in told.changed
    )
    console.print(filled(shown, rows))
    gain = told.after.gain(told.before, "tokens")
    sure = f" (95 %: {signed_words(round(gain.low))} to {signed_words(round(gain.high))})" if gain is not None else ""
    console.print(f"{told.brief}{sure}.", markup=False)
    if told.worth_a_look:
        first = joined([f"#{turn.generation.message}" for turn in told.worth_a_look])
        console.print(f"Look first at {first}.", markup=False)


def _print_rows(console: Console, title: str, rows: Sequence[StepEffect]) -> None:
    moving = moving_steps(rows)
    shown = table(
        fold("setting"), fold("step"), *map(figure, ("replies", "expected", "broken", "tokens a reply")), title=title,
        caption=f"{len(rows) - len(moving)} other steps change nothing.",
    )  # fmt: skip
    console.print(filled(shown, map(_cells, moving)))


def _cells(row: StepEffect) -> list[str]:
    told = row.effects
    return [
        row.name,
        " -> ".join(row.words),
        str(len(told.changed)),
        f"+{told.won}" if told.won else "",
        signed_words(-told.lost) if told.lost else "",
        signed_words(round(told.tokens)),
    ]
