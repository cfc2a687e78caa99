"""The tables of a comparison of systems: turn by turn, and over the whole chat.

What can be compared (systems, DeepLore with a profile, settings of files), and comparing it in a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QObject, Qt

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.settings.store import SettingsProfile
from lorestudio.studio.compare.comparing import Candidate, Comparison, RunKeeper, compare_candidates
from lorestudio.studio.compare.comparison import generation_of, names_of, total_rows
from lorestudio.studio.compare.comparison_store import ComparisonKeeper, in_slot
from lorestudio.studio.project.answering import AnswerKind, load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import ChatRuns
from lorestudio.systems.registry import DEEPLORE, KINDS
from lorestudio.trace.text import turn_words
from lorestudio.ui.shell.jobs import StoppableRun
from lorestudio.ui.shell.qt import ACCESSIBLE_TEXT, DISPLAY, HORIZONTAL, ITEM, NO_INDEX, TOOLTIP, Index
from lorestudio.ui.shell.words import count, number, sentence_of, tr
from lorestudio.ui.state.choices import system_help, system_title
from lorestudio.ui.state.session import Session


@dataclass(frozen=True, slots=True)
class Offer:
    """One run that can be compared. `key` names it from one moment to the next; `run` has run it already."""

    key: str
    label: str
    help: str
    candidate: Candidate
    run: ChatRuns | None = field(default=None, repr=False)


def offers(
    session: Session, profiles: Sequence[SettingsProfile], files: Sequence[tuple[str, Path]]
) -> tuple[Offer, ...]:
    """All that can be compared now; `files` are settings files that were added, each with its system."""
    found = []
    for name in (DEEPLORE, *KINDS):
        choice = session.choices.with_settings(replace(session.choice, system=name))
        candidate = Candidate(system_title(name), name, choice.settings)
        found.append(Offer(name, system_title(name), system_help(name), candidate, session.runs.complete(choice)))
    for profile in profiles:
        if profile.settings is not None:
            label = tr("DeepLore: {profile}", profile=profile.name)
            on = profile.settings.model_copy(update={"enabled": True})
            candidate = Candidate(label, DEEPLORE, on, profile.path)
            found.append(Offer(f"profile:{profile.name}", label, str(profile.path), candidate))
    for name, path in files:
        label = tr("{system}: {file}", system=system_title(name), file=path.name)
        found.append(Offer(f"file:{name}:{path}", label, str(path), Candidate(label, name, settings_path=path)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ComparisonProgress:
    """How far a comparison came: which run it is at, and how far that is."""

    label: str
    number: int
    of: int
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class ComparedSystems:
    """What came of a comparison: None where only kept runs were to be compared, and some are missing.

    `stale` says that it is of runs from before the last change; `problems` are about keeping.
    """

    comparison: Comparison | None
    stale: bool = False
    problems: tuple[str, ...] = ()


class Comparing:
    """One comparison, run by a worker; `stop` may be called from any thread.

    With `keep_in`, the folder of kept runs, nothing is run that was kept. `only_kept` runs nothing at all.
    """

    def __init__(
        self,
        project: Project,
        chosen: Sequence[Offer],
        answers: AnswerKind,
        keep_in: Path | None = None,
        *,
        only_kept: bool = False,
    ) -> None:
        self._project, self._chosen, self._kind = project, tuple(chosen), answers
        self._keep_in, self.only_kept = keep_in, only_kept
        self._token, self._run = CancelToken(), StoppableRun()

    def stop(self) -> None:
        """End it, also in the middle of a question."""
        self._token.cancel()
        self._run.stop()

    def work(self, report: Callable[[object], None]) -> ComparedSystems:
        """Run what was not run yet, with recorded answers or else the stand-in's; vectors are made as settings say.

        Raises Cancelled, InputError, SettingsError and VaultError.
        """
        candidates = [_with_traces(offer) for offer in self._chosen]
        if self._keep_in is None:
            return ComparedSystems(None if self.only_kept else self._compare(candidates, report, None))
        try:
            keeper = ComparisonKeeper(self._keep_in)
        except OSError as error:
            found = None if self.only_kept else self._compare(candidates, report, None)
            return ComparedSystems(found, problems=(sentence_of(error),))
        with keeper:
            if self.only_kept:
                recorded = None if self._kind is AnswerKind.STAND_IN else load_recorded(self._project.chat_path)
                kept = keeper.last(self._project, candidates, recorded)
                return ComparedSystems(kept.comparison, kept.stale) if kept is not None else ComparedSystems(None)
            found = self._compare(candidates, report, keeper)
            keeper.remember(self._project, [offer.key for offer in self._chosen])
            return ComparedSystems(found, problems=tuple(keeper.problems))

    def _compare(
        self, candidates: Sequence[Candidate], report: Callable[[object], None], keeping: RunKeeper | None
    ) -> Comparison:
        recorded = None if self._kind is AnswerKind.STAND_IN else load_recorded(self._project.chat_path)
        step = ComparisonProgress("", 0, len(candidates))

        def begun(candidate: Candidate) -> None:
            nonlocal step
            step = ComparisonProgress(candidate.label, step.number + 1, step.of)
            report(step)

        def progressed(progress: Progress) -> None:
            report(replace(step, progress=progress))

        return self._run.run(
            lambda: compare_candidates(self._project, candidates, recorded, progressed, self._token, begun, keeping)
        )


def _with_traces(offer: Offer) -> Candidate:
    if offer.run is None:
        return _with_file(in_slot(offer.candidate, offer.key))
    return replace(offer.candidate, traces=tuple(offer.run.traces[each] for each in offer.run.generations))


def _with_file(candidate: Candidate) -> Candidate:
    """A system's settings are read from its file now; DeepLore's are when it is run."""
    if candidate.settings is None and candidate.settings_path is not None and candidate.system in KINDS:
        return replace(candidate, settings=KINDS[candidate.system].read(candidate.settings_path))
    return candidate


_ALIGN: Final = int(Qt.ItemDataRole.TextAlignmentRole)
_RIGHT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
_LEFT: Final = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_FIRST: Final = 2


class TurnsTable(QAbstractTableModel):
    """A row for every turn: its name, the overlap, and for each run its amount and what it alone puts in.

    `ITEM` is the generation.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.found: Comparison | None = None

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def row_of(self, generation: Generation | None) -> int:
        """The row of a generation, -1 where it has none."""
        turns = self.found.turns if self.found is not None else ()
        return next((row for row, turn in enumerate(turns) if generation_of(turn.turn) == generation), -1)

    def generation(self, row: int) -> Generation | None:
        """The generation of a row."""
        turns = self.found.turns if self.found is not None else ()
        return generation_of(turns[row].turn) if 0 <= row < len(turns) else None

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the turns."""
        return 0 if parent.isValid() or self.found is None else len(self.found.turns)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: turn, overlap, and two columns for every run."""
        return 0 if parent.isValid() or self.found is None else _FIRST + 2 * len(self.found.labels)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are; rows have no name."""
        found = self.found
        if found is None or orientation != HORIZONTAL or not 0 <= section < self.columnCount():
            return None
        if role == _ALIGN:
            return _LEFT
        if role not in {DISPLAY, TOOLTIP, ACCESSIBLE_TEXT}:
            return None
        if section < _FIRST:
            tips = (tr("Turn"), tr("What all runs put in, as a part of what any of them puts in"))
            return tips[section] if role == TOOLTIP else (tr("Turn"), tr("Overlap"))[section]
        place, alone = divmod(section - _FIRST, 2)
        label = found.labels[place]
        if alone:
            long = tr("Entries that {run} alone puts in", run=label)
            return tr("only there") if role == DISPLAY else long
        return label if role == DISPLAY else tr("{run}: entries and tokens", run=label)

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the texts."""
        found = self.found
        if found is None or not 0 <= index.row() < len(found.turns):
            return None
        turn, column = found.turns[index.row()], index.column()
        if role == ITEM:
            return generation_of(turn.turn)
        if role == _ALIGN:
            return _RIGHT if column == 1 else _LEFT
        if role == DISPLAY:
            return self._text(index.row(), column)
        if role in {TOOLTIP, ACCESSIBLE_TEXT}:
            head = self.headerData(column, HORIZONTAL, ACCESSIBLE_TEXT)
            return f"{head}: {self._text(index.row(), column, long=True) or tr('none')}"
        return None

    def _text(self, row: int, column: int, *, long: bool = False) -> str:
        found = self.found
        if found is None:
            return ""
        turn = found.turns[row]
        if column == 0:
            return turn_words(turn.turn)
        if column == 1:
            return f"{turn.overlap:.0%}"
        place, alone = divmod(column - _FIRST, 2)
        if alone:
            return ", ".join(names_of(found, turn.alone[place]))
        share = turn.shares[place]
        if long:
            entries = count(len(share.notes), "entry", "entries")
            return f"{entries}, {count(share.tokens, 'token', 'tokens')}: {', '.join(names_of(found, share.notes))}"
        return f"{len(share.notes)} · {number(share.tokens)}"


class TotalsTable(QAbstractTableModel):
    """A row for every run over the whole chat, with how far it agrees with each other one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[list[str]] = []

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self.beginResetModel()
        self._rows = total_rows(found) if found is not None else []
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: the runs."""
        return 0 if parent.isValid() else max(0, len(self._rows) - 1)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        """Qt: what is said of a run."""
        return len(self._rows[0]) if self._rows and not parent.isValid() else 0

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> object:
        """Qt: what the columns are."""
        if orientation != HORIZONTAL or not 0 <= section < self.columnCount():
            return None
        return tr(self._rows[0][section]) if role in {DISPLAY, ACCESSIBLE_TEXT, TOOLTIP} else None

    def data(self, index: Index, role: int = DISPLAY) -> object:
        """Qt: the texts."""
        if not 0 <= index.row() < self.rowCount():
            return None
        text = self._rows[index.row() + 1][index.column()]
        if role == DISPLAY:
            return text
        if role == _ALIGN:
            return _RIGHT if index.column() else _LEFT
        if role in {TOOLTIP, ACCESSIBLE_TEXT}:
            return f"{tr(self._rows[0][index.column()])}: {text}"
        return None
