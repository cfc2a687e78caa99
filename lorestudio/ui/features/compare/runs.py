"""Runs to compare, and a comparison as a tree: what differed, then entries by what happened to them.

Runs are turns, swipes, marked and former ones, unsaved texts, other settings, kept ones. Unchanged entries are folded.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal

from lorestudio.domain.chat import Generation, first_difference
from lorestudio.domain.entry import NoteKey
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.texts import shorten
from lorestudio.studio.compare.causes import Causes, RunSide, What, edited_side, effects, run_side, with_settings_of
from lorestudio.studio.compare.differences import input_differences, same_system
from lorestudio.studio.compare.text import HEADINGS, SIGNS, cause_words, change_lines
from lorestudio.studio.project.answering import AnswerKind, AnswerSource, Source, load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import RunStore
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.replay.timeline import generation_before
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.trace.diff import EntryChange, TraceDiff, injections_by_key
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Injection, Trace
from lorestudio.trace.wording import place as place_words
from lorestudio.trace.wording import signed_words
from lorestudio.ui.shell.words import count, number, sentence_case, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.cells import Column, titled
from lorestudio.ui.widgets.tree import TreeRow

_TONES: Final = {What.ENTERED: "good", What.LEFT: "error", What.MOVED: "accent", What.RESIZED: "warning"}


@dataclass(slots=True, eq=False)
class ChangeRow(TreeRow):
    """A group with a name only, or a change: the entry, how it stands in A and in B, tokens, because of what.

    `opened` says whether a group is open at first, `key` what the change is about.
    """

    cells: tuple[str, ...]
    tone: str = ""
    key: NoteKey | str | None = None
    opened: bool = False


def change_columns() -> list[Column]:
    """The columns of a comparison; the last has A and B in one, for where there is no room for both."""

    def cell(place: int) -> Callable[[ChangeRow], str]:
        return lambda row: row.cells[place] if place < len(row.cells) else ""

    def tone(row: ChangeRow) -> str:
        return row.tone if row.tone == "text_faint" else ""

    return [
        Column("Entry", cell(0), tone=tone, bold=lambda row: len(row.cells) == 1),
        Column("A", cell(1), tone=tone),
        Column("B", cell(2), tone=tone),
        Column("Tokens", cell(3), tone=attrgetter("tone"), numeric=True),
        Column("Because of", cell(4), tone=tone),
        Column("A → B", lambda row: " → ".join(filter(None, row.cells[1:3])), tone=tone, again=True),
    ]


def spoken_change(row: ChangeRow, column: Column) -> str:
    """A group by its name, a cell of a change with the name of its column."""
    return row.cells[0] if len(row.cells) == 1 else titled()(row, column)


def change_rows(diff: TraceDiff, causes: Causes | None) -> ChangeRow:
    """A comparison as a tree below an invisible root."""
    root = ChangeRow(())
    if causes is not None:
        group = _group(root, tr("What was different"), len(causes.causes), opened=True)
        for cause in causes.causes:
            difference = cause.difference
            cells = (difference.title, difference.before, difference.after, "", sentence_case(cause_words(cause)))
            group.add(ChangeRow(cells, "" if cause.does_something else "text_faint", difference.note))
    lines = change_lines(diff, causes)
    changes = effects(diff)
    for what, heading in HEADINGS.items():
        mine = [line for line in lines if line.what is what]
        if mine:
            group = _group(root, tr(heading), len(mine), SIGNS[what], opened=True)
            for line in mine:
                who = line.who.removeprefix("by ") or (tr("not found") if causes is not None else "")
                tokens = signed_words(line.tokens) if line.tokens else ""
                cells = (line.title, *_sides(what, changes[line.effect], diff), tokens, who)
                group.add(ChangeRow(cells, _TONES.get(what, "warning"), line.effect[1]))
    _add_rest(root, diff, {key for _what, key in changes})
    return root


def _add_rest(root: ChangeRow, diff: TraceDiff, changed: set[NoteKey]) -> None:
    """What is the same, and who was stopped by something else; folded."""
    if diff.refated:
        group = _group(root, tr("Stopped by something else"), len(diff.refated))
        for change in diff.refated:
            before, after = _why(change.before_fate, diff.before), _why(change.after_fate, diff.after)
            group.add(ChangeRow((change.title, before, after, "", ""), key=change.key))
    same = [(key, each) for key, each in injections_by_key(diff.after).items() if key not in changed]
    if same:
        group = _group(root, tr("Unchanged"), len(same), "=")
        for key, injection in same:
            tokens = _tokens(injection)
            group.add(ChangeRow((injection.title, tokens, tokens, "", ""), key=key))


def _group(root: ChangeRow, title: str, amount: int, sign: str = "", *, opened: bool = False) -> ChangeRow:
    group = ChangeRow((f"{sign} {title} ({number(amount)})".strip(),), opened=opened)
    root.add(group)
    return group


def _sides(what: What, change: EntryChange, diff: TraceDiff) -> tuple[str, str]:
    """How it stands in A and in B."""
    if what is What.MOVED and change.before is not None and change.after is not None:
        before, after = (place_words(each.position, each.depth, each.role) for each in (change.before, change.after))
        return (before, after) if before != after else (tr("in order"), tr("in another order"))
    return (
        _tokens(change.before) if change.before is not None else _why(change.before_fate, diff.before),
        _tokens(change.after) if change.after is not None else _why(change.after_fate, diff.after),
    )


def _tokens(injection: Injection) -> str:
    if injection.truncated:
        return tr("{tokens} tokens, shortened", tokens=number(injection.tokens))
    return tr("{tokens} tokens", tokens=number(injection.tokens))


def _why(fate: Fate, trace: Trace) -> str:
    return sentence_case(tr(trace.words.label(fate.reason)))


MOST_FORMER: Final = 6
"""Of one reply so many former runs are kept in memory, with what they were made from."""

MOST_REPLIES: Final = 8
"""Of so many replies former runs are kept, those that were looked at last."""

MOST_KEPT: Final = 12

Load = Callable[[CancelToken, Callable[[Progress], None]], RunSide]


class SideChoice(Struct, frozen=True):
    """A run to choose. `key` stays the same while what it means moves on (“shown” is always the shown run).

    Without a `side` it has to be run first, by `load`, in a worker.
    """

    key: str
    title: str
    side: RunSide | None = None
    load: Load | None = None


class ComparableRuns(QObject):
    """Knows the runs; `changed` says that there are others, or that one of them means another run."""

    changed = Signal()

    def __init__(self, session: Session, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._selection = session, selection
        self.marked: RunSide | None = None
        self._now: dict[Generation, RunSide] = {}
        self._former: dict[Generation, list[RunSide]] = {}
        self._files: list[Path] = []
        self._last: tuple[object, ...] = ()
        self._kept: dict[Generation, tuple[RunSide, ...]] = {}
        session.project_replaced.connect(self._drop)
        session.project_changed.connect(self.changed)
        session.traces_changed.connect(lambda _generations: self._look())
        session.preview_changed.connect(self.changed)
        selection.generation_changed.connect(self._look)

    # ---- what there is ----------------------------------------------------------------------------------------------

    def name(self, generation: Generation) -> str:
        """A reply and its swipe, where it has several."""
        chat = self._session.chat
        if chat is not None and generation.message >= len(chat.messages):
            return tr("the next reply (#{number})", number=generation.message)
        if len(self._session.swipes(generation.message)) > 1:
            return tr("reply #{number}, swipe {swipe}", number=generation.message, swipe=generation.swipe + 1)
        return tr("reply #{number}", number=generation.message)

    def choices(self) -> list[SideChoice]:
        """Everything that can be compared at the moment, the shown run first."""
        shown, project = self._selection.generation, self._session.project
        if shown is None or project is None:
            return []
        found = self._of_shown(shown)
        if self.marked is not None:
            found.append(SideChoice("marked", tr("Marked: {run}", run=self.marked.title), self.marked))
        found += self._former_choices(shown)
        for place, side in enumerate(self._kept.get(shown, ())):
            found.append(SideChoice(f"kept{place}", side.title, side))
        if found:  # something of the chat was run, so there is something to compare with
            found += self._of_systems(shown, project)
        for path in self._files:
            load = self._with_file(shown, project, path)
            found.append(SideChoice(f"file:{path}", tr("Settings of {name}", name=path.name), load=load))
        return found

    def _of_shown(self, shown: Generation) -> list[SideChoice]:
        session = self._session
        found: list[SideChoice] = []
        now = session.runs.side(shown, self.name(shown))
        if now is not None:
            found.append(SideChoice("shown", tr("Shown: {run}", run=now.title), now))
        preview = session.runs.preview_of(shown)
        if preview is not None and now is not None:
            title = tr("{run} with unsaved texts", run=now.title)
            found.append(SideChoice("unsaved", tr("Shown, with unsaved texts"), edited_side(now, preview, title)))
        before = generation_before(session.chat, shown)
        earlier = session.runs.side(before, self.name(before)) if before is not None else None
        if earlier is not None:
            found.append(SideChoice("before", tr("Turn before: {run}", run=earlier.title), earlier))
        for other in session.swipes(shown.message):
            side = session.runs.side(other, self.name(other)) if other != shown else None
            if side is not None:
                found.append(SideChoice(f"swipe{other.swipe}", tr("Swipe {swipe}", swipe=other.swipe + 1), side))
        return found

    def _of_systems(self, shown: Generation, project: Project) -> list[SideChoice]:
        """The shown reply as each other system would be given it, with the settings that the system has now."""
        found = []
        for name in KINDS:
            if name != self._session.choice.system and project.chat is not None:
                title = tr("With {system}", system=system_title(name))
                found.append(SideChoice(f"system:{name}", title, load=self._with_system(shown, project, name)))
        return found

    def _with_system(self, shown: Generation, project: Project, system: str) -> Load:
        session = self._session
        title = tr("{run} with {system}", run=self.name(shown), system=system_title(system))
        folder, source = session.keep_in, session.choice.source
        settings = session.choices.systems.get(system)

        def load(cancel: CancelToken, report: Callable[[Progress], None]) -> RunSide:
            kind = kind_of(system)  # which may have to be loaded
            own = None if kind.in_project else settings
            simulator = Simulator(
                project, system_of(project.scene(_recorded(project, source)), kind, own).with_made_vectors()
            )
            if folder is not None:
                with suppress(OSError), RunStore(folder) as store:
                    store.restore(simulator)
            return run_side(simulator, shown, title, cancel, report)

        return load

    def _with_file(self, shown: Generation, project: Project, path: Path) -> Load:
        title = tr("{run} with the settings of {name}", run=self.name(shown), name=path.name)
        source, kind = self._session.choice.source, kind_of(self._session.choice.system)

        def load(cancel: CancelToken, report: Callable[[Progress], None]) -> RunSide:
            own = None if kind.in_project else kind.read_file(path)
            other = with_settings_of(project, path) if own is None else project.with_settings_of(kind, own)
            system = system_of(other.scene(_recorded(project, source)), kind, own).with_made_vectors()
            return run_side(Simulator(other, system), shown, title, cancel, report)

        return load

    def _former_choices(self, shown: Generation) -> list[SideChoice]:
        """Former runs of the shown reply, the newest first, called by what was changed after them."""
        runs = self._former.get(shown, [])
        now = self._now.get(shown)
        found = []
        for place, side in enumerate(runs):
            later = runs[place + 1] if place + 1 < len(runs) else now
            what = _first_difference(side, later) if later is not None else ""
            usual = tr("Former run {number}", number=place + 1)
            words = tr("Before “{change}”", change=shorten(what, 60)) if what else usual
            title = tr("{run}, {before}", run=self.name(shown), before=words[:1].lower() + words[1:])
            found.append(SideChoice(f"former{id(side)}", words, RunSide(title, side.trace, side.context)))
        return found[::-1]

    @property
    def last_former(self) -> str:
        """The key of the run that the shown one replaced last, "" where there is none."""
        shown = self._selection.generation
        runs = self._former.get(shown, []) if shown is not None else []
        return f"former{id(runs[-1])}" if runs else ""

    # ---- what can be done -------------------------------------------------------------------------------------------

    def mark(self) -> bool:
        """Keep the shown run for a comparison; False where nothing is shown."""
        shown = self._selection.generation
        preview = self._session.runs.preview_of(shown)
        side = self._session.runs.side(shown, self.name(shown)) if shown is not None else None
        if side is not None and preview is not None and self._session.runs.preview_shown:
            side = edited_side(side, preview, tr("{run} with unsaved texts", run=side.title))
        if side is None:
            return False
        self.marked = side
        self.changed.emit()
        return True

    def add_settings(self, path: Path) -> str:
        """Offer the settings of a file; returns the choice's key."""
        if path not in self._files:
            self._files.append(path)
        self.changed.emit()
        return f"file:{path}"

    def load_kept(self, failed: Callable[[Exception], object]) -> None:
        """Look for runs of the shown reply that were kept by earlier starts."""
        shown, project, folder = self._selection.generation, self._session.project, self._session.keep_in
        if shown is None or project is None or folder is None:
            return
        system = self._session.choice.system
        now = self._session.runs.traces.get(shown)
        inputs = now.digests.get("inputs") if now is not None and now.system == system else None

        def work(_report: object) -> tuple[RunSide, ...]:
            with RunStore(folder) as store:
                traces = store.history(project, shown, system)[-MOST_KEPT:]
            sides = []
            for place, trace in enumerate(traces, start=1):
                what = count(len(trace.injections), "entry", "entries")
                title = tr(
                    "Kept run {number}: {what}, {tokens}", number=place, what=what, tokens=number(trace.total_tokens)
                )
                if inputs is not None and trace.digests.get("inputs") != inputs:
                    title = tr("{run}, before something was changed", run=title)
                sides.append(RunSide(title, trace))
            return tuple(reversed(sides))

        def done(sides: tuple[RunSide, ...]) -> None:
            self._kept = {shown: sides}
            self.changed.emit()

        self._session.jobs.start(tr("Looking for kept runs"), work, done=done, failed=failed)

    def _drop(self, before: Project | None, now: Project | None, renewed: str) -> None:
        """Forget the runs of another chat; behind messages that came or went a number means another reply."""
        if not renewed or before is None or now is None:
            self.marked = None
            self._now, self._former, self._kept = {}, {}, {}
        elif _messages(before) != _messages(now):
            same = first_difference(before.chat, now.chat)
            self._now = {each: run for each, run in self._now.items() if each.message <= same}
            self._former = {each: runs for each, runs in self._former.items() if each.message <= same}
            self._kept = {each: runs for each, runs in self._kept.items() if each.message <= same}

    def _look(self) -> None:
        """Remember the shown run with its inputs, and the one that it replaced."""
        shown = self._selection.generation
        side = self._session.runs.side(shown, self.name(shown)) if shown is not None else None
        if shown is not None and side is not None and side.context is not None:
            known = self._now.pop(shown, None)
            if known is not None and known.trace is not side.trace and _first_difference(known, side):
                self._former.setdefault(shown, []).append(known)
                del self._former[shown][:-MOST_FORMER]
            self._now[shown] = side
            while len(self._now) > MOST_REPLIES:
                oldest = next(iter(self._now))
                del self._now[oldest]
                self._former.pop(oldest, None)
        now = shown, side.trace if side is not None else None, side is not None and side.context is not None
        if now != self._last:  # while a replay runs there is news of other replies all the time
            self._last = now
            self.changed.emit()


def _messages(project: Project) -> int:
    return len(project.chat.messages) if project.chat is not None else 0


def _first_difference(before: RunSide, after: RunSide) -> str:
    one, other = before.context, after.context
    if one is None or other is None or not same_system(one, other):
        return ""
    return next((each.sentence for each in input_differences(one, other)), "")


def _recorded(project: Project, source: Source) -> AnswerSource | None:
    """The answers recorded beside the chat, None where the stand-in answers."""
    return None if source.kind is AnswerKind.STAND_IN else load_recorded(project.chat_path)
