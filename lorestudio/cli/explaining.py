"""What `lorestudio explain` prints: an entry's way through the stages, what would help, the fates of a whole turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.table import Table

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.studio.why_not import Answer, WhyNot
from lorestudio.studio.why_not_words import PARTS, conclusion, further_groups, moves, standing
from lorestudio.trace import CELL_WORDS, EntryRef, FateState, Journeys, Trace, explain_cell, summary, turn_words
from lorestudio.trace.would import WouldAlso, WouldState


@dataclass(frozen=True, slots=True)
class EntryExplained:
    """One note in one generation. `would` is None where no stage is behind the one that decided."""

    trace: Trace
    note: Entry | LeftOutNote | EntryRef
    would: WouldAlso | None
    found: WhyNot | None

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
        words = end.explain(trace)
        figures = f"priority {note.priority:,g}, {note.tokens:,} tokens"
        lines = [f"“{note.title}” ({note.filename}, {figures})", turn_words(trace.turn), "", words.sentence]
        if words.fix:
            lines.append(f"To change it: {words.fix}")
        lines += ["", *_stages(trace, journeys, note.id, explained.would)]
        if explained.would is not None:
            lines += ["", *(f"It {sentence}." for sentence in explained.would.sentences)]
    if explained.found is not None:
        lines += ["", *_found_lines(explained.found)]
    return lines


def _stages(trace: Trace, journeys: Journeys, entry: int, would: WouldAlso | None) -> Iterator[str]:
    rows: list[tuple[str, str, str]] = []
    for cell in journeys.cells(entry):
        words = explain_cell(trace, entry, cell)
        later = would.at(cell.stage) if would is not None else None
        if later is not None:
            rows.append((cell.stage, _WOULD.get(later.state, "(would pass)"), later.sentence))
        else:
            rows.append((cell.stage, CELL_WORDS[cell.state], words.sentence if words is not None else ""))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)] if rows else [0, 0]
    for stage, state, sentence in rows:
        yield f"  {stage:<{widths[0]}}  {state:<{widths[1]}}  {sentence}".rstrip()


def _found_lines(found: WhyNot) -> Iterator[str]:
    yield conclusion(found)
    for number, answer in enumerate(found.answers, start=1):
        yield f"{number:>3}. {answer.change.title}"
        yield f"     {PARTS[answer.change.part]}: {moves(answer)}"
        if standing(answer):
            yield f"     {standing(answer)}"
    for sentence, changes in further_groups(found.further):
        yield f"  Not enough, because then: {sentence}"
        yield from (f"     {change.title}" for change in changes)


def fates_table(trace: Trace) -> Table:
    """One row for each entry that came into question."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in ("entry", "result", "stage"):
        table.add_column(heading, overflow="fold")
    table.add_column("why", overflow="fold", ratio=1)
    journeys = Journeys(trace)
    for entry in journeys.rows:
        end = journeys.fate(entry)
        table.add_row(trace.entries[entry].title, _RESULTS[end.state], end.stage, end.explain(trace).sentence)
    return table


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
    fates = [{"title": trace.entries[entry].title, **_fate_json(trace, journeys, entry)} for entry in journeys.rows]
    return {"message": trace.turn.message, "swipe": trace.turn.swipe, "summary": summary(trace), "entries": fates}


def entry_json(explained: EntryExplained) -> dict[str, Any]:
    """The explanation of one note."""
    note, trace = explained.note, explained.named
    result: dict[str, Any] = {
        "message": trace.turn.message,
        "swipe": trace.turn.swipe,
        "vault": note.vault,
        "filename": note.filename,
    }
    if isinstance(note, LeftOutNote):
        result |= {"title": None, "state": "no_entry", "problem": str(note.problem), "sentence": note.message}
    else:
        journeys = Journeys(trace)
        result |= {"title": note.title, **_fate_json(trace, journeys, note.id)}
        result["stages"] = [
            {
                "stage": cell.stage,
                "state": str(cell.state),
                "reason": cell.verdict.reason if cell.verdict is not None else None,
                "sentence": words.sentence if (words := explain_cell(trace, note.id, cell)) is not None else None,
            }
            for cell in journeys.cells(note.id)
        ]
        result["would_also"] = _would_json(explained.would)
    if explained.found is not None:
        found = explained.found
        result["why_not"] = {
            "conclusion": conclusion(found),
            "runs": found.tried,
            "only_a_model_could_say": found.unasked,
            "answers": [_answer_json(answer) for answer in found.answers],
            "not_enough": [{"change": each.change.title, "then": each.sentence} for each in found.further],
        }
    return result


def _fate_json(trace: Trace, journeys: Journeys, entry: int) -> dict[str, Any]:
    end = journeys.fate(entry)
    words = end.explain(trace)
    return {
        "state": str(end.state),
        "stage": end.stage or None,
        "reason": end.reason or None,
        "sentence": words.sentence,
        "fix": words.fix or None,
    }


def _would_json(would: WouldAlso | None) -> list[dict[str, Any]]:
    cells = would.cells if would is not None else ()
    return [
        {
            "stage": cell.stage,
            "state": str(cell.state),
            "reason": cell.verdict.reason if cell.verdict is not None else None,
            "sentence": cell.sentence or None,
        }
        for cell in cells
    ]


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
        else {
            "filename": edit.filename,
            "property": edit.name,
            "removed": edit.removed,
            "value": edit.value,
            "add": list(edit.add),
            "drop": list(edit.drop),
        },
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
