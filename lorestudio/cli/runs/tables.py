"""What the command line prints of traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from lorestudio.cli.screen import figure, fold, table
from lorestudio.domain.chat import Generation
from lorestudio.domain.history import HistoryRule
from lorestudio.domain.json_text import texts_in
from lorestudio.domain.records import grouped, replace
from lorestudio.studio.project.project import Project
from lorestudio.trace.ai_selection import ai_lines, ai_totals, commonest, failure_of, selection_of, switch_effects
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Outcome, Phase, Trace
from lorestudio.trace.summary import summary
from lorestudio.trace.vocabulary import Tone
from lorestudio.trace.wording import first_few, lowered, number_words, plural

_SHOWN_TITLES: Final = 4
_TONES: Final = {Tone.GOOD: "cyan", Tone.NEUTRAL: "cyan", Tone.WARNING: "yellow", Tone.ERROR: "red"}
_LEGEND: Final = "+ new since the turn before  ~ shortened  - left out, and why  ‹1/2› swipe 1 of 2"


class ReplayReport:
    """What is printed of a replay. It takes the traces in order, as they come, and keeps none of them whole."""

    def __init__(self, project: Project) -> None:
        self._project = project
        headings = map(figure, ("reply", "matched", "in", "tokens"))
        self._table = table(*headings, fold("what happened"), caption=_LEGEND)
        self._injected: Counter[tuple[str, str, str]] = Counter()  # by vault, file and title: titles may be the same
        self._kept: list[Trace] = []
        self._last: Trace | None = None

    def take(self, trace: Trace) -> None:
        """The next generation."""
        before = {injection.entry for injection in self._last.injections} if self._last is not None else set()
        self._table.add_row(
            reply_words(self._project, trace.turn.generation) or "next",
            str(len({verdict.entry for record in trace.stages for verdict in record.with_outcome(Outcome.ADDED)})),
            str(len(trace.injections)),
            f"{trace.total_tokens:,}",
            _happened(trace, before),
        )
        went_in = (trace.entries[injection.entry] for injection in trace.injections)
        self._injected.update((ref.vault, ref.filename, ref.title) for ref in went_in)
        self._kept.append(_questions(trace))
        self._last = trace

    def table(self) -> Table:
        """One row a generation: how many entries matched and went in, what is new, what was left out and why."""
        chat = f" with {self._project.chat_path.name}" if self._project.chat_path is not None else ""
        generations = plural(len(self._kept), "# generation|# generations")
        self._table.title = f"{self._project.name}{chat}: {generations}"
        return self._table

    def summary(self) -> str:
        """A few lines on the whole replay: entries used most and never, what a model was asked, and the last turn."""
        lines = _summary(self._kept, self._injected, self._project)
        return "\n".join([*lines, *([f"The last generation: {summary(self._last)}"] if self._last is not None else [])])

    def failures(self) -> str:
        """How often a model gave no usable answer, and why most often; "" for never."""
        totals, whys = ai_totals(self._kept), [*filter(None, map(failure_of, self._kept))]
        told = f"the AI gave no usable answer in {totals.failed} of {totals.runs} generations"
        return f"{told}{f', most often: {commonest(whys)}' if whys else ''}." if totals.failed else ""


def _questions(trace: Trace) -> Trace:
    """As much of a trace as is told of a whole replay: what a model was asked, and what the run rests on."""
    selection = selection_of(trace)
    stages = (replace(selection, verdicts=(), entered=(), left=()),) if selection is not None else ()
    calls = tuple(replace(call, system="", user="", reply="") for call in trace.ai_calls)
    return replace(trace, entries={}, stages=stages, injections=(), prompt=(), labels=(), notes=(), ai_calls=calls)


def reply_words(project: Project, generation: Generation) -> str:
    """The reply's number as SillyTavern shows it, with its swipe where it has several; "" for the reply to come."""
    messages = project.chat.messages if project.chat is not None else ()
    place = generation.message
    if place >= len(messages):
        return ""
    swipes = len(messages[place].swipes)
    several = len({*range(swipes), messages[place].swipe}) > 1  # the active one may be under way, behind all others
    return f"#{place} ‹{generation.swipe + 1}/{swipes}›" if several else f"#{place}"


def _happened(trace: Trace, before: set[int]) -> Text:
    """What a model chose, warnings, what is new since the generation that injected `before`, shortened or left out."""
    asked = [("", _TONES[line.tone], line.text) for line in ai_lines(trace)]
    asked += [("", _TONES[Tone.WARNING], warning) for warning in trace.warnings]
    out = [
        ("- ", "red", f"{first_few(titles, _SHOWN_TITLES)}: {reason}") for reason, titles in _left_out(trace).items()
    ]
    if not trace.injections:
        return _lines([*asked, ("", "dim", summary(trace)), *out])
    new = [injection.title for injection in trace.injections if injection.entry not in before]
    shortened = [injection.title for injection in trace.injections if injection.truncated]
    lines = [("+ ", "green", first_few(new, _SHOWN_TITLES))] if new else []
    lines += [("~ ", "yellow", first_few(shortened, _SHOWN_TITLES))] if shortened else []
    lines += out
    return _lines([*asked, *(lines or [("", "dim", "as in the turn before")])])


def _lines(lines: Sequence[tuple[str, str, str]]) -> Text:
    """Lines of a sign, a style and words; the style is that of the sign, or of the words where there is none."""
    return Text("\n").join(
        Text.assemble((sign, style), words) if sign else Text(words, style=style) for sign, style, words in lines
    )


def _left_out(trace: Trace) -> Mapping[str, list[str]]:
    """Titles of entries that a stage took out, or found and did not let in, by the label of the reason."""
    return grouped(
        (lowered(trace.words.label(fate.reason)), trace.entries[fate.entry].title) for fate in _stopped(trace)
    )


def _stopped(trace: Trace) -> Iterator[Fate]:
    """In the order of the stages; what no text brings in is the same every time and not told.

    Nor is what a model did not choose from the whole vault: that is nearly all of it, every time.
    """
    journeys = Journeys(trace)
    whole_vault = trace.ran(trace.words.whole_stage) is not None
    for entry in journeys.rows:
        fate = journeys.fate(entry)
        if whole_vault and fate.reason in trace.words.not_chosen:
            continue
        if fate.state in (FateState.REMOVED, FateState.REFUSED) and not whatever_is_said(trace, fate):
            yield fate


def whatever_is_said(trace: Trace, fate: Fate) -> bool:
    """Whether an entry stays out whatever the text is: a guide, and what is kept out before its keys are looked for."""
    early = fate.phase is Phase.LOAD or fate.reason in trace.words.unsearched
    return early and fate.state is FateState.REFUSED


def _summary(traces: Sequence[Trace], injected: Counter[tuple[str, str, str]], project: Project) -> list[str]:
    lines = []
    if injected:
        most = ", ".join(f"{title} ({count}×)" for (*_, title), count in injected.most_common(5))
        lines.append(f"Injected most often: {most}.")
    lore = [(entry.vault, entry.filename, entry.title) for entry in project.index.entries if not entry.guide]
    never = [entry for entry in lore if entry not in injected]
    if never and any(trace.of_notes for trace in traces):
        lines.append(f"Never injected: {len(never)} of {len(lore)} entries (“lorestudio usage” says why).")
    totals = ai_totals(traces)
    if totals.sentence:
        lines.append(totals.sentence)
    effects = switch_effects(traces)
    if effects:
        told = ", ".join(f"{switch} ({count}×)" for switch, count in effects.items())
        lines.append(f"Fixed switches that changed something: {told}.")
    lines += dict.fromkeys(
        note for trace in traces for call in trace.ai_calls for note in texts_in(call.details.get("notes"))
    )
    broken = [note for note in project.index.left_out if note.problem.broken]
    lines += [f"Cannot be read: {note.filename}. {note.message}" for note in broken]
    lines += project.problems
    lines += _seen(traces)
    history = project.history
    if history.rule is HistoryRule.NOW and history.hidden:
        told = plural(len(history.hidden), "# message that is hidden today was|# messages that are hidden today were")
        lines.append(f"As it is now: {told} taken for hidden all along.")
    lines.append(project.counting.sentence)
    return lines


def _seen(traces: Sequence[Trace]) -> Iterator[str]:
    """How many replies rest on what is only assumed, and how many on texts that the chat does not have so."""
    past = sum(bool(trace.seen.shown) for trace in traces)
    assumed = sum(bool(trace.seen.assumed) for trace in traces)
    if past:
        told = f"Messages that are hidden today were in sight of {plural(past, '# reply|# replies')}"
        told += f"; for {number_words(assumed)} that is assumed." if assumed else "."
        yield f"{told} “lorestudio basis” says since when they are hidden."
    read = sum(bool(trace.seen.read) for trace in traces)
    if read:
        yield f"Texts were searched otherwise than they are stored in {plural(read, '# reply|# replies')} (explain)."
