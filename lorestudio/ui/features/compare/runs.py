"""The runs that can be compared: turns, swipes, marked and former runs, unsaved texts, other settings, kept runs.

A comparison as a tree: what was different, then the entries by what happened to them, unchanged ones folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QFont, QStandardItem, QStandardItemModel

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.studio.compare.causes import Causes, RunSide, What, effects
from lorestudio.studio.compare.sides import edited_side, run_side, system_side, with_settings_of
from lorestudio.studio.compare.system_differences import differences_between, same_system
from lorestudio.studio.compare.text import HEADINGS, SIGNS, cause_words, change_lines
from lorestudio.studio.project.answering import AnswerKind, load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import Keeper
from lorestudio.studio.replay.system_simulator import SystemSimulator
from lorestudio.studio.replay.timeline import generation_before
from lorestudio.systems.registry import DEEPLORE, KINDS, kind_of
from lorestudio.trace.diff import EntryChange, Key, TraceDiff, injections_by_key
from lorestudio.trace.journey import Fate
from lorestudio.trace.model import Injection, Trace
from lorestudio.trace.wording import place as place_words
from lorestudio.trace.wording import signed_words
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, ITEM, TOOLTIP
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, shorten, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session

COLUMNS: Final = ("Entry", "A", "B", "Tokens", "Because of")
_TONES: Final = {What.ENTERED: "good", What.LEFT: "error", What.MOVED: "accent", What.RESIZED: "warning"}
_RIGHT: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def fill_rows(model: QStandardItemModel, diff: TraceDiff, causes: Causes | None, theme: Theme) -> list[QStandardItem]:
    """Put a comparison into the model; returns the groups that should be open."""
    model.clear()
    model.setHorizontalHeaderLabels([tr(column) for column in COLUMNS])
    opened = []
    if causes is not None:
        group = _group(model, tr("What was different"), len(causes.causes))
        for cause in causes.causes:
            difference = cause.difference
            cells = [difference.title, difference.before, difference.after, "", sentence_case(cause_words(cause))]
            _row(group, cells, "" if cause.does_something else "text_faint", theme, difference.note)
        opened.append(group)
    lines = change_lines(diff, causes)
    changes = effects(diff)
    for what, heading in HEADINGS.items():
        mine = [line for line in lines if line.what is what]
        if mine:
            group = _group(model, tr(heading), len(mine), SIGNS[what])
            for line in mine:
                cells = [line.title, *_sides(what, changes[line.effect], diff), _signed(line.tokens)]
                who = line.who.removeprefix("by ") or (tr("not found") if causes is not None else "")
                _row(group, [*cells, who], _TONES.get(what, "warning"), theme, line.effect[1])
            opened.append(group)
    _add_rest(model, diff, {key for _what, key in changes}, theme)
    return opened


def _add_rest(model: QStandardItemModel, diff: TraceDiff, changed: set[Key], theme: Theme) -> None:
    """What is the same, and who was stopped by something else; folded."""
    if diff.refated:
        group = _group(model, tr("Stopped by something else"), len(diff.refated))
        for change in diff.refated:
            cells = [change.title, _why(change.before_fate, diff.before), _why(change.after_fate, diff.after), "", ""]
            _row(group, cells, "", theme, change.key)
    same = [(key, each) for key, each in injections_by_key(diff.after).items() if key not in changed]
    if same:
        group = _group(model, tr("Unchanged"), len(same), "=")
        for key, injection in same:
            tokens = _tokens(injection)
            _row(group, [injection.title, tokens, tokens, "", ""], "", theme, key)


def _group(model: QStandardItemModel, title: str, amount: int, sign: str = "") -> QStandardItem:
    text = f"{sign} {title} ({number(amount)})".strip()
    item = QStandardItem(text)
    font = QFont(item.font())
    font.setWeight(QFont.Weight.DemiBold)
    item.setFont(font)
    item.setData(text, ACCESSIBLE_TEXT)
    item.setEditable(False)
    model.appendRow(item)
    return item


def _row(group: QStandardItem, cells: Sequence[str], tone: str, theme: Theme, key: Key | None) -> None:
    items = []
    for column, cell in enumerate(cells):
        item = QStandardItem(cell)
        item.setEditable(False)
        item.setData(cell, TOOLTIP)
        item.setData(key, ITEM)
        item.setData(f"{tr(COLUMNS[column])}: {cell or tr('nothing')}", ACCESSIBLE_TEXT)
        if tone and (column == 3 or tone == "text_faint"):
            item.setForeground(QBrush(theme.color(tone)))
        if column == 3:
            item.setTextAlignment(_RIGHT)
        items.append(item)
    group.appendRow(items)


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
    return sentence_case(tr(fate.explain(trace).label))


def _signed(tokens: int) -> str:
    return signed_words(tokens) if tokens else ""


MOST_FORMER: Final = 6
"""Of one reply so many former runs are kept in memory, with what they were made from."""

MOST_REPLIES: Final = 8
"""Of so many replies former runs are kept, those that were looked at last."""

MOST_KEPT: Final = 12

Load = Callable[[CancelToken, Callable[[Progress], None]], RunSide]


@dataclass(frozen=True, slots=True)
class SideChoice:
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
        session.project_changed.connect(self._project_changed)
        session.traces_changed.connect(lambda _generations: self._look())
        session.preview_changed.connect(self.changed)
        selection.generation_changed.connect(self._look)

    # ---- what there is ----------------------------------------------------------------------------------------------

    def name(self, generation: Generation) -> str:
        """A reply and its swipe, where it has several."""
        project = self._session.project
        chat = project.chat if project is not None else None
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
            found += self._of_systems(project)
        for path in self._files:
            found.append(SideChoice(f"file:{path}", tr("Settings of {name}", name=path.name), None, self._loader(path)))
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
        project = session.project
        before = generation_before(project.chat if project is not None else None, shown)
        earlier = session.runs.side(before, self.name(before)) if before is not None else None
        if earlier is not None:
            found.append(SideChoice("before", tr("Turn before: {run}", run=earlier.title), earlier))
        for other in session.swipes(shown.message):
            side = session.runs.side(other, self.name(other)) if other != shown else None
            if side is not None:
                found.append(SideChoice(f"swipe{other.swipe}", tr("Swipe {swipe}", swipe=other.swipe + 1), side))
        return found

    def _of_systems(self, project: Project) -> list[SideChoice]:
        """The shown reply as each other system would be given it, with the settings that the system has now."""
        session = self._session
        found = []
        for name in (DEEPLORE, *KINDS):
            if name != session.choice.system and project.chat is not None:
                title = tr("With {system}", system=system_title(name))
                found.append(SideChoice(f"system:{name}", title, None, self._system_loader(name, project)))
        return found

    def _system_loader(self, system: str, project: Project) -> Load | None:
        session, shown = self._session, self._selection.generation
        if shown is None:
            return None
        title = tr("{run} with {system}", run=self.name(shown), system=system_title(system))
        folder, source = session.keep_in, session.choice.source
        if system == DEEPLORE:

            def load_deeplore(cancel: CancelToken, report: Callable[[Progress], None]) -> RunSide:
                recorded = None if source.kind is AnswerKind.STAND_IN else load_recorded(project.chat_path)
                return run_side(project, shown, title, recorded, cancel, report)

            return load_deeplore
        kind = kind_of(system)
        settings = session.choices.systems.get(system) or kind.settings()

        def load(cancel: CancelToken, report: Callable[[Progress], None]) -> RunSide:
            simulator = SystemSimulator(project, kind.make(settings, project))
            if folder is not None:
                with suppress(OSError), Keeper(folder) as keeper:
                    keeper.restore(simulator)
            return system_side(simulator, shown, title, cancel, report)

        return load

    def _former_choices(self, shown: Generation) -> list[SideChoice]:
        """Former runs of the shown reply, the newest first, called by what was changed after them."""
        runs = self._former.get(shown, [])
        now = self._now.get(shown)
        found = []
        for place, side in enumerate(runs):
            later = runs[place + 1] if place + 1 < len(runs) else now
            what = _first_difference(side, later) if later is not None else ""
            words = (
                tr("Before “{change}”", change=shorten(what, 60))
                if what
                else tr("Former run {number}", number=place + 1)
            )
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
            with Keeper(folder) as keeper:
                traces = keeper.history(project, shown, system)[-MOST_KEPT:]
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

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _loader(self, path: Path) -> Load | None:
        session, shown = self._session, self._selection.generation
        project, source = session.project, session.choice.source
        if project is None or shown is None:
            return None
        title = tr("{run} with the settings of {name}", run=self.name(shown), name=path.name)

        def load(cancel: CancelToken, report: Callable[[Progress], None]) -> RunSide:
            recorded = None if source.kind is AnswerKind.STAND_IN else load_recorded(project.chat_path)
            return run_side(with_settings_of(project, path), shown, title, recorded, cancel, report)

        return load

    def _project_changed(self) -> None:
        if not self._session.renewed:
            self.marked = None
            self._now, self._former, self._kept = {}, {}, {}
        self.changed.emit()

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


def _first_difference(before: RunSide, after: RunSide) -> str:
    one, other = before.context, after.context
    if one is None or other is None or not same_system(one, other):
        return ""
    return next((each.sentence for each in differences_between(one, other)), "")
