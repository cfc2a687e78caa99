"""What the command line prints of traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from lorestudio.studio import Project
from lorestudio.studio.doctor import Finding
from lorestudio.trace import FateState, Outcome, Trace, fates, summary

_SHOWN_TITLES = 4


def replay_table(traces: Sequence[Trace], project: Project) -> Table:
    """One row a generation: what was matched, what went in, what was cut, and what is new since the turn before."""
    table = Table(title=f"{project.name}: {len(traces)} generations", title_justify="left", expand=False)
    for heading, justify in (
        ("reply", "right"),
        ("matched", "right"),
        ("left out", "right"),
        ("injected", "right"),
        ("tokens", "right"),
        ("new in this turn", "left"),
    ):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    before: set[str] = set()
    for trace in traces:
        titles = [injection.title for injection in trace.injections]
        new = [title for title in titles if title not in before]
        table.add_row(
            _reply(trace, project),
            str(_matched(trace)),
            str(_left_out(trace)),
            str(len(titles)),
            f"{trace.total_tokens:,}",
            _listed(new) if titles else Text(summary(trace), style="dim"),
        )
        before = set(titles)
    return table


def _reply(trace: Trace, project: Project) -> str:
    """The reply's number as people count messages, with its swipe where it has several."""
    messages = project.chat.messages if project.chat is not None else ()
    place = trace.turn.message
    if place >= len(messages):
        return "next"
    swipes = len(messages[place].swipes)
    return f"{place + 1} ‹{trace.turn.swipe + 1}/{swipes}›" if swipes > 1 else str(place + 1)


def _matched(trace: Trace) -> int:
    return len({verdict.entry for record in trace.stages for verdict in record.with_outcome(Outcome.ADDED)})


def _left_out(trace: Trace) -> int:
    return sum(1 for fate in fates(trace).values() if fate.state is FateState.REMOVED)


def _listed(titles: Sequence[str]) -> str:
    shown = ", ".join(titles[:_SHOWN_TITLES])
    more = len(titles) - _SHOWN_TITLES
    return f"{shown} and {more} more" if more > 0 else shown


def replay_summary(traces: Sequence[Trace], project: Project) -> str:
    """A few lines on the whole replay: the entries used most, those never used, and the last turn in one sentence."""
    injected = Counter(injection.title for trace in traces for injection in trace.injections)
    lines = []
    if injected:
        most = ", ".join(f"{title} ({count}×)" for title, count in injected.most_common(5))
        lines.append(f"Injected most often: {most}.")
    never = [entry.title for entry in project.index.entries if entry.title not in injected and not entry.guide]
    if never:
        lines.append(f"Never injected: {len(never)} of {len(project.index.entries)} entries.")
    broken = [note for note in project.index.left_out if note.problem.broken]
    lines += [f"Cannot be read: {note.filename}. {note.message}" for note in broken]
    lines += project.problems
    if traces:
        lines.append(f"The last generation: {summary(traces[-1])}")
    return "\n".join(lines)


def findings_table(findings: Sequence[Finding]) -> Table:
    """What the doctor found."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for finding in findings:
        table.add_row(
            Text("✓ fine" if finding.ok else "✗ wrong", style="green" if finding.ok else "red"),
            finding.subject,
            finding.message,
        )
    return table
