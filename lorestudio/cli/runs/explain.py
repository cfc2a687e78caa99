"""The command that explains: an entry's way through a reply, what would bring it in, and the fates of a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from rich.progress import BarColumn, TextColumn
from rich.table import Column, Table

from lorestudio.cli.command import Limits
from lorestudio.cli.options import (
    ChatOptions,
    OfflineRun,
    ResultOptions,
    SwipeOption,
    chosen_generation,
    note_called,
    notes_called,
)
from lorestudio.cli.output import echo, say, say_all
from lorestudio.cli.runs.runs import with_kept
from lorestudio.cli.runs.tables import whatever_is_said
from lorestudio.cli.screen import Screen, figure, filled, fold, print_lines, progress_bar, table
from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.records import picked, replace
from lorestudio.exchange.problems import InputError
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator, knowing_all
from lorestudio.studio.tryout.preview import HeldRuns
from lorestudio.studio.tryout.why_not import (
    Answer,
    WhyNot,
    WhyNotFinder,
    WhyNotNews,
    conclusion,
    further_groups,
    moves,
    place_of,
    standing,
)
from lorestudio.trace.flow import TABLE_COLUMNS, flow, flow_rows
from lorestudio.trace.held_run import WouldAlso, WouldCell, WouldState
from lorestudio.trace.journey import FateState, JourneyCell, Journeys, explain_cell
from lorestudio.trace.model import EntryRef, Trace
from lorestudio.trace.storage.serialize import record_to_json
from lorestudio.trace.summary import seen_lines, summary
from lorestudio.trace.text import CELL_WORDS, csv_bytes, entry_figures, turn_words
from lorestudio.trace.wording import first_few, plural


@dataclass(frozen=True, slots=True)
class EntryExplained:
    """One note in one generation. `would` is None where no stage is behind the one that decided, and where the system
    cannot tell, as `not_held` then says. `found` is None where it went in and nobody asked what would keep it out.
    """

    trace: Trace
    note: Entry | LeftOutNote | EntryRef
    would: WouldAlso | None
    found: WhyNot | None
    not_held: str = ""

    @property
    def best(self) -> Answer | None:
        """The best of the changes that were tried and work."""
        return self.found.answers[0] if self.found is not None and self.found.answers else None

    @property
    def named(self) -> Trace:
        """The trace, which also knows an entry that no stage decided about."""
        note = self.note
        if not isinstance(note, Entry) or note.id in self.trace.entries:
            return self.trace
        ref = EntryRef(note.id, note.title, note.vault, note.filename, note.priority, note.tokens)
        return replace(self.trace, entries={**self.trace.entries, note.id: ref})


_WOULD = {WouldState.STOP: "(would stop)", WouldState.NOT_ASKED: "(not asked)"}


def entry_lines(explained: EntryExplained) -> list[str]:
    """The explanation line by line."""
    note, trace = explained.note, explained.named
    if isinstance(note, LeftOutNote):
        lines = [f"{note.filename} is no entry: {note.message}"]
    else:
        journeys = Journeys(trace)
        end = journeys.fate(note.id)
        words = journeys.told(note.id)
        figures = entry_figures(trace, note.priority, note.tokens)
        lines = [f"“{note.title}” ({note.filename}, {figures})", turn_words(trace.turn), *seen_lines(trace)]
        lines += ["", words.sentence]
        if explained.best is not None and explained.found is not None and not explained.found.complete:
            answer = explained.best
            lines.append(" ".join(filter(None, (f"Tried, and it goes in: {answer.change.title}.", standing(answer)))))
            lines.append("All changes that bring it in: --why-not.")
        if stages := [*_stages(trace, journeys, note.id, explained.would)]:
            lines += ["", *stages]
        if explained.would is not None:
            lines += ["", *(f"It {sentence}." for sentence in explained.would.sentences)]
        elif explained.not_held and not end.state.went_in:
            lines += ["", f"What later stages would have done is not known. {explained.not_held}"]
    if explained.found is not None and explained.found.complete:
        lines += ["", *_found_lines(explained.found)]
    return lines


def _stages(trace: Trace, journeys: Journeys, entry: int, would: WouldAlso | None) -> Iterator[str]:
    rows: list[tuple[str, str, str]] = []
    said = [journeys.told(entry).sentence, *(would.sentences if would is not None else ())]  # above and below
    for cell in journeys.cells(entry):
        later = would.at(cell.stage) if would is not None else None
        if later is not None:
            state, sentence = _WOULD.get(later.state, "(would pass)"), later.sentence
        else:
            words = explain_cell(trace, entry, cell)
            state, sentence = CELL_WORDS[cell.state], words.sentence if words is not None else ""
        rows.append((cell.stage, state, "" if any(sentence in each for each in said) else sentence))
        said.append(sentence)
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)] if rows else [0, 0]
    for stage, state, sentence in rows:
        yield f"  {stage:<{widths[0]}}  {state:<{widths[1]}}  {sentence}".rstrip()


def _found_lines(found: WhyNot) -> Iterator[str]:
    yield conclusion(found)
    for number, answer in enumerate(found.answers, start=1):
        yield f"{number:>3}. {answer.change.title}"
        yield f"     {place_of(answer.change)}: {moves(answer)}"
        if standing(answer):
            yield f"     {standing(answer)}"
    for sentence, changes in further_groups(found.further):
        yield f"  Not enough, because then: {sentence}"
        yield from (f"     {change.title}" for change in changes)


def fates_table(trace: Trace) -> Table:
    """One row for each entry that came into question; those that no text brings in are counted below."""
    journeys = Journeys(trace)
    told = [entry for entry in journeys.rows if not whatever_is_said(trace, journeys.fate(entry))]
    out = plural(len(journeys.rows) - len(told), "# more stays|# more stay")
    columns = (*map(fold, ("entry", "result")), Column("why", overflow="fold", ratio=1), figure("tokens"))
    inside = {each.entry: each.tokens for each in trace.injections}
    caption = f"{out} out whatever the text is; --entry says why." if len(told) < len(journeys.rows) else ""
    return filled(table(*columns, caption=caption), (
        (
            trace.entries[entry].title, _RESULTS[journeys.fate(entry).state], journeys.told(entry).sentence,
            f"{inside.get(entry, trace.entries[entry].tokens):,}",
        )
        for entry in told
    ))  # fmt: skip


_RESULTS = {
    FateState.INJECTED: "went in",
    FateState.TRUNCATED: "shortened",
    FateState.REMOVED: "taken out",
    FateState.REFUSED: "not let in",
    FateState.UNDECIDED: "not placed",
    FateState.NEVER: "not matched",
}


def turn_json(trace: Trace) -> dict[str, Any]:
    """The same of a whole turn."""
    journeys = Journeys(trace)
    fates = [{"title": trace.entries[entry].title, **_fate_json(journeys, entry)} for entry in journeys.rows]
    return {
        "format": "lorestudio-turn",  # so that it is taken for no lorebook
        **picked(trace.turn, "message", "swipe"),
        "summary": summary(trace),
        "seen": record_to_json(trace.seen),
        "entries": fates,
    }


def entry_json(explained: EntryExplained) -> dict[str, Any]:
    """The explanation of one note."""
    note, trace = explained.note, explained.named
    result = picked(trace.turn, "message", "swipe") | picked(note, "vault", "filename")
    if isinstance(note, LeftOutNote):
        result |= {"title": None, "state": "no_entry", "problem": str(note.problem), "sentence": note.message}
    else:
        journeys = Journeys(trace)
        result |= {"title": note.title, **_fate_json(journeys, note.id)}
        result["fix"] = explained.best.change.title if explained.best is not None else None
        told = [(cell, explain_cell(trace, note.id, cell)) for cell in journeys.cells(note.id)]
        result["stages"] = [_cell_json(cell, words.sentence if words is not None else None) for cell, words in told]
        would = explained.would.cells if explained.would is not None else ()
        result["would_also"] = [_cell_json(cell, cell.sentence or None) for cell in would]
        result["not_held"] = explained.not_held or None
    found = explained.found
    if found is not None and found.complete:
        result["why_not"] = {
            "conclusion": conclusion(found),
            "runs": found.tried,
            "only_a_model_could_say": found.unasked,
            "answers": [_answer_json(answer) for answer in found.answers],
            "not_enough": [{"change": each.change.title, "then": each.sentence} for each in found.further],
        }
    return result


def _fate_json(journeys: Journeys, entry: int) -> dict[str, Any]:
    end = journeys.fate(entry)
    return {
        "state": str(end.state),
        "stage": end.stage or None,
        "reason": end.reason or None,
        "sentence": journeys.told(entry).sentence,
    }


def _cell_json(cell: JourneyCell | WouldCell, sentence: str | None) -> dict[str, Any]:
    reason = cell.verdict.reason if cell.verdict is not None else None
    return {"stage": cell.stage, "state": str(cell.state), "reason": reason, "sentence": sentence}


def _answer_json(answer: Answer) -> dict[str, Any]:
    diff, change = answer.diff, answer.change
    edit = change.note
    return {
        "change": change.title,
        "code": change.code,
        "part": str(change.part),
        "settings": dict(change.settings) or None,
        "note": None
        if edit is None
        else {"property": edit.name, **picked(edit, "filename", "removed", "value", "add", "drop")},
        "holds": str(answer.holds),
        "then": answer.stopped or None,
        "entered": [each.title for each in diff.entered if each.key != answer.target],
        "left": [each.title for each in diff.left],
        "resized": [each.title for each in diff.resized],
        "moved": [each.title for each in diff.moved],
        "tokens": list(diff.tokens),
        "earlier_replies_changed": answer.earlier,
        "earlier_replies": answer.replies,
    }


def explain(
    given: ChatOptions,
    by: OfflineRun,
    *,
    entry: Annotated[str | None, "The entry: its title, or its file name in the vault. Default: all."] = None,
    message: Annotated[int | None, Limits(0), "The number of a message. Default: the reply to come."] = None,
    swipe: SwipeOption = None,
    why_not: Annotated[bool, "Find the single changes that would bring the entry in."] = False,
    result: ResultOptions,
) -> None:
    """Say stage by stage what a reply did with an entry, and which change was tried and brings it in.

    No provider is asked.
    """
    if why_not and entry is None:
        raise InputError("--why-not", "name the entry that it is about with --entry.")
    if result.tabled and entry is not None:
        raise InputError("--output", "a table has the stages of a whole reply. Leave --entry out, or end it in .json.")
    project = given.project()
    simulator = with_kept(by.simulator(project))
    generation = chosen(simulator, message, swipe)
    trace = asyncio.run(simulator.generate(generation))
    say_all(project.problems)
    project = simulator.project  # as the system that decides reads it
    if entry is None:
        rows = TABLE_COLUMNS, *flow_rows(flow(trace), trace)
        result.give(
            partial(turn_json, trace), partial(csv_bytes, rows, grouped=True), partial(_say_turn, trace), indent=2
        )
        return
    trace = knowing_all(trace, simulator.decider(generation), simulator.moment(generation))
    note = find_in(project, trace, entry)
    finder = WhyNotFinder(simulator, generation, by.recorded(project))
    if why_not:
        found: WhyNot | None = _search(finder, note, quiet=result.json)
    else:
        inside = note.id in {each.entry for each in trace.injections} if not isinstance(note, LeftOutNote) else False
        found = None if inside else finder.find(note.note_key, first=True)
    held = HeldRuns(simulator, generation)
    would = held.of(note.id) if isinstance(note, Entry) else None
    explained = EntryExplained(trace, note, would, found, held.not_held)
    result.give(partial(entry_json, explained), bytes, lambda: print_lines(entry_lines(explained)), indent=2)


def _say_turn(trace: Trace) -> None:
    echo("\n".join((f"{turn_words(trace.turn)}: {summary(trace)}", *seen_lines(trace))))
    Screen().print(fates_table(trace))


def find_in(project: Project, trace: Trace, name: str) -> Entry | LeftOutNote | EntryRef:
    """What has that title or file name in a run, which may know others than the vault's notes; else the note.

    Memories and messages are told shortened, and lists of memories have the beginnings of their ids: a beginning is
    enough where no note is called so. Raises InputError.
    """
    known = {entry.note_key for entry in project.index.entries}
    own = [ref for ref in trace.entries.values() if ref.note_key not in known]
    found = [ref for ref in own if ref.filename == name] or [ref for ref in own if ref.title.lower() == name.lower()]
    if not found and not notes_called(project, name):
        begins = name.lower()
        found = [ref for ref in own if ref.filename.startswith(name) or ref.title.lower().startswith(begins)]
    if len(found) > 1:
        names = first_few([ref.filename for ref in found], 8)
        raise InputError("--entry", f"several entries are called “{name}”. Name one of: {names}.")
    return found[0] if found else note_called(project, name, "--entry")


def chosen(simulator: Simulator, message: int | None, swipe: int | None) -> Generation:
    """The generation of that reply; for a message that is no reply that of the next one. Raises InputError."""
    if message is None:
        return simulator.generations[-1]
    later = [each for each in simulator.generations if each.message >= message]
    if not later:
        last = simulator.generations[-1].message
        raise InputError("--message", f"the chat has no message #{message}; #{last} is the reply to come.")
    place = later[0].message
    if place != message:
        say(f"#{message} is no reply; the reply after it, #{place}, is explained.")
    return chosen_generation(simulator, place, swipe)


def _search(finder: WhyNotFinder, note: Entry | LeftOutNote | EntryRef, *, quiet: bool) -> WhyNot:
    """Search with a progress bar on the error stream."""
    with progress_bar(TextColumn("Trying"), BarColumn(), TextColumn("{task.description}"), quiet=quiet) as bar:
        task = bar.add_task("", total=None)

        def told(news: WhyNotNews) -> None:
            bar.update(task, completed=news.done, total=news.total, description=news.trying)

        return finder.find(note.note_key, told)
