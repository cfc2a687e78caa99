"""Systems side by side: what each would put into the prompt turn by turn, as a chart and as tables.

The chart has the tokens of every turn as one line for each run; the table of turns says the same in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QIcon, QImage, QPainter, QPen, QPolygonF, QRegion
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from lorestudio.domain.chat import Generation
from lorestudio.domain.lifecycle import Cancelled
from lorestudio.settings.store import SettingsProfile
from lorestudio.studio.compare.comparison import FEWEST, Comparison, compared_last, total_rows
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.systems.registry import COMPARED_AT_FIRST, KINDS
from lorestudio.trace.text import turn_words
from lorestudio.ui.features.compare.systems import (
    ComparedSystems,
    Offer,
    compare_offers,
    comparison_table,
    offers,
    total_columns,
    turn_columns,
)
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.qt import V_LEFT
from lorestudio.ui.shell.theme import Theme, drawn, scaled
from lorestudio.ui.shell.words import Notice, count, sentence_of, tr
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.selection import Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.chart import MARGIN, Frame, PlaceChart, Shape, Sign, shared
from lorestudio.ui.widgets.layouts import able, button, holding, label, menu_of, named, row, show_words, split, tabbed
from lorestudio.ui.widgets.paint import png_bytes, set_inks
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.record_table import RecordView

FILLS: Final = ("blue", "vermilion", "green", "purple", "orange", "sky", "yellow", "grey")
"""Fills of the lines in order; each line has its own shape of points besides."""

_STYLES: Final = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
_SHAPES: Final[Sequence[Shape]] = ("circle", "square", "triangle", "diamond")
_LEFT: Final = 12.0
_LEAST: Final = 2.0
"""So wide at least is the room of a drawn turn (pixels)."""

_POINTS_FROM: Final = 9.0
"""From this width of a turn on its points are drawn."""


class TokenChart(PlaceChart):
    """A line for each run, with what they stand for above them."""

    lined = True

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Tokens of every turn, a line for each run"), parent)
        self._found: Comparison | None = None
        self.setMinimumHeight(96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_comparison(self, found: Comparison | None) -> None:
        """Show another comparison."""
        self._found, self.amount = found, 0
        if found is not None:
            self.amount = len(found.turns)
            self.label = lambda row: f"#{found.turns[row].turn.message}"
            self.words = partial(_in_words, found)
            self._ends = 0.0, max((share.tokens for turn in found.turns for share in turn.shares), default=0) or 1.0
        self.update()
        self.choose(self.chosen)

    def picture(self, size: QSize) -> bytes:
        """The chart with its legend as PNG; nobody looks at a turn of it."""
        made = TokenChart(self._theme)
        made.resize(size)
        made.set_comparison(self._found)
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(self._theme.color("panel"))
        made.render(image, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
        return png_bytes(image)

    # ---- drawing ----------------------------------------------------------------------------------------------------

    def _legend(self) -> list[tuple[str, QPointF]]:
        """Where each run's name stands, in as many lines as it takes."""
        metrics = QFontMetricsF(scaled(self.font(), 0.9))
        places, x, y = [], _LEFT, MARGIN
        for name in self._found.labels if self._found is not None else ():
            wide = 30 + metrics.horizontalAdvance(name) + 16
            if x > _LEFT and x + wide > self.width():
                x, y = _LEFT, y + metrics.height() + 4
            places.append((name, QPointF(x, y)))
            x += wide
        return places

    def _head(self) -> float:
        return max((at.y() for _name, at in self._legend()), default=0.0) + QFontMetricsF(self.font()).height() + 8

    def _draw_places(self, painter: QPainter, frame: Frame) -> None:
        theme, found, cell = self._theme, self._found, frame.room.width() / self.amount
        if found is None:
            return
        painter.setFont(scaled(self.font(), 0.9))
        line = max(16.0, QFontMetricsF(painter.font()).height())
        painter.setPen(theme.color("text"))
        for place, (name, at) in enumerate(self._legend()):
            painter.drawPixmap(at + QPointF(0, (line - 16) / 2), swatch(theme, place).pixmap(24, 16))
            painter.drawText(QRectF(at.x() + 30, at.y(), self.width() - at.x() - 34, line), V_LEFT, name)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        runs = shared(self.amount, cell, _LEAST)  # of turns that share a few pixels the largest is drawn
        for place in range(len(found.labels)):
            tokens = [turn.shares[place].tokens for turn in found.turns]
            points = [frame.point((run.start + run.stop - 1) / 2, max(tokens[run.start : run.stop])) for run in runs]
            draw_line(painter, theme, place, points, dots=cell >= _POINTS_FROM)

    def sizeHint(self) -> QSize:
        """Qt: room for a few lines."""
        return QSize(300, 160)


def _in_words(found: Comparison, row: int) -> str:
    turn = found.turns[row]
    tokens = [count(share.tokens, "token", "tokens") for share in turn.shares]
    parts = [f"{label}: {each}" for label, each in zip(found.labels, tokens, strict=True)]
    return "\n".join([turn_words(turn.turn), *parts])


def draw_line(painter: QPainter, theme: Theme, place: int, points: Sequence[QPointF], *, dots: bool) -> None:
    """One run's line: a colour, a dash pattern and a shape of points of its own."""
    color = theme.fill(FILLS[place % len(FILLS)])[0]
    pen = QPen(color, 2, _STYLES[place % len(_STYLES)])
    pen.setCosmetic(True)
    set_inks(painter, pen, Qt.BrushStyle.NoBrush)
    if len(points) > 1:
        painter.drawPolyline(QPolygonF(list(points)))
    if dots or len(points) == 1:
        sign = Sign(_SHAPES[place % len(_SHAPES)], color.name(), theme.palette.text_muted)
        for point in points:
            sign.draw(point, painter)


def swatch(theme: Theme, place: int) -> QIcon:
    """A run's line as a small picture, for legends."""

    def draw(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_line(painter, theme, place, [QPointF(1, 8), QPointF(23, 8)], dots=False)
        draw_line(painter, theme, place, [QPointF(12, 8)], dots=True)

    return QIcon(drawn(24, 16, draw))


BUTTONS: Final = ("systems.copy", "systems.csv", "systems.picture")
"""Actions of the pane's buttons."""


class SystemsPane(Pane):
    """`jump` carries the generation to look at; `file_wanted` the system to add a file for.

    `changed` follows another comparison.
    """

    changed = Signal()
    jump = Signal(object)
    file_wanted = Signal(str)

    def __init__(self, theme: Theme, session: Session, selection: Selection) -> None:
        super().__init__("systems", tr("Whole chat"), theme)
        self._session, self._selection = session, selection
        self.found: Comparison | None = None
        self._chosen: list[str] | None = None
        self.profiles: tuple[SettingsProfile, ...] = ()
        self.files: list[tuple[str, Path]] = []
        self.added: dict[str, Offer] = {}
        """By key what other panes want compared."""
        self._job: Job | None = None
        """The comparison under way."""
        self._only_kept = False
        self._outdated = False
        self._was_seen = False
        self._waiting: list[Callable[[], object]] = []
        """What is done when the systems are loaded."""
        self.turns = comparison_table(self, lambda turn: turn.turn.generation)
        self.totals = comparison_table(self)
        self.chart = TokenChart(theme, self)
        self._build()
        self._connect()
        self._project_changed()

    def _build(self) -> None:
        self.turns_view = RecordView(self.theme, self.turns, tr("Turn by turn"), self)
        self.totals_view = RecordView(self.theme, self.totals, tr("Over the whole chat"), self)
        turns = split(self.chart, self.turns_view, sizes=(110, 150), stretch=1)
        pages = (turns, tr("Turns")), (self.totals_view, tr("Totals"))
        self.tabs = tabbed(self, tr("Views of the comparison"), *pages)
        self.state = named(label(self, kind="small", margins=(12, 0, 12, 4)), tr("State of the comparison"))
        self.column.addWidget(self._head())
        self.column.addWidget(self.state)
        self.column.addWidget(self.or_empty("columns", self.tabs), 1)

    def _head(self) -> QWidget:
        self.choose_button = named(QToolButton(self), "", kind="text")
        self.choose_button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.menu = menu_of(self.choose_button, tips=True)
        self.menu.aboutToShow.connect(self.fill_menu)
        self.run_button = button(self, tr("Compare"), self.run, kind="primary")
        self.stop_button = button(self, tr("Stop"), self.stop)
        self.stop_button.hide()
        self.buttons = {name: QToolButton(self) for name in BUTTONS}
        for each in self.buttons.values():
            each.setIconSize(QSize(15, 15))
        line = row(
            self.choose_button, self.run_button, self.stop_button, 1, *self.buttons.values(), spacing=6,
            margins=(8, 6, 8, 4),
        )  # fmt: skip
        return holding(line, self)

    def _connect(self) -> None:
        self.turns_view.picked.connect(lambda turn: self._go_to(turn.turn.generation))
        self.chart.picked.connect(lambda place: self._go_to(self.turns.row(place).turn.generation))
        self.looked_at.connect(partial(self._when_loaded, self._seen))
        self._session.project_changed.connect(self._project_changed)
        self._session.choice_changed.connect(self._choice_changed)
        self._session.state_changed.connect(self.look_for_kept)
        self._selection.generation_changed.connect(self._follow)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def focus_target(self) -> QWidget:
        """The turns, or the choice of what is compared."""
        if self.pages.currentWidget() is self.tabs:
            return self.turns_view if self.tabs.currentIndex() == 0 else self.totals_view
        return self.choose_button

    @property
    def running(self) -> bool:
        """Whether a comparison is under way."""
        return self._job is not None

    @property
    def chosen(self) -> list[str]:
        """Keys of what is compared: until somebody chooses, the system that the chat runs is among it."""
        at_first = dict.fromkeys((*COMPARED_AT_FIRST, self._session.choice.system))
        return [*at_first] if self._chosen is None else self._chosen

    @chosen.setter
    def chosen(self, keys: list[str]) -> None:
        self._chosen = keys

    def offers(self) -> tuple[Offer, ...]:
        """All that can be compared now."""
        return offers(self._session, self.profiles, self.files, tuple(self.added.values()))

    def set_profiles(self, profiles: tuple[SettingsProfile, ...]) -> None:
        """DeepLore can be compared with the settings of these."""
        self.profiles = profiles
        self._show_choice()
        if self.found is None:
            self._looked_for = ""
            self.look_for_kept()

    def add_file(self, system: str, path: Path) -> None:
        """A system with the settings of a file is compared, too."""
        if (system, path) not in self.files:
            self.files.append((system, path))
        self.choose(f"file:{system}:{path}", on=True)

    def compare_with_now(self, offer: Offer) -> None:
        """Compare this, which nobody knows yet, with the system that is chosen as it is set now."""
        self.added[offer.key] = offer
        self.chosen = [self._session.choice.system, offer.key]
        self.run()

    def choose(self, key: str, *, on: bool) -> None:
        """Compare this, or don't."""
        others = [each for each in self.chosen if each != key]
        self.chosen = [*others, key] if on else others
        self._show_choice()

    def run(self) -> None:
        """Compare what is chosen."""
        self._when_loaded(self._run)

    def _run(self) -> None:
        wanted, project = self._wanted(), self._session.project
        if project is None or project.chat is None or self.running or len(wanted) < FEWEST:
            self._show_choice()
            return
        if self._session.runs.replaying:
            self.state.setText(tr("The chat is being replayed; compare when that is done."))
            return
        self._compare(project, wanted)

    def _compare(self, project: Project, offers: Sequence[Offer], *, only_kept: bool = False) -> None:
        session = self._session
        work = partial(compare_offers, project, offers, session.choice.source.kind, session.keep_in, only_kept)
        self._job = job = session.jobs.start(
            tr("Comparing systems"),
            work,
            done=lambda found: self._done(found, now=self._job is job),
            failed=lambda error: self._failed(error) if self._job is job else None,
            reported=lambda text: show_words(self.state, text) if self._job is job else None,
        )
        self._only_kept = only_kept
        show_words(self.state, tr("Looking for the last comparison…") if only_kept else tr("Comparing…"))
        self._show_buttons()

    def look_for_kept(self) -> None:
        """Show the comparison that an earlier start ended with, once for each chat; nothing is run for it."""
        session, project = self._session, self._session.project
        if project is None or project.chat is None or session.keep_in is None or session.busy:
            return
        chat = chat_id(project)
        if (
            not self._was_seen
            or not self.isVisible()
            or self.running
            or self.found is not None
            or chat == self._looked_for
        ):
            return
        self._looked_for = chat
        keys = compared_last(session.keep_in, project)
        if not keys:
            return
        for key in keys:
            kind, _, file = key.partition(":")
            system, _, path = file.partition(":")
            if kind == "file" and system in KINDS and (system, Path(path)) not in self.files:
                self.files.append((system, Path(path)))
        there = [offer for offer in self.offers() if offer.key in keys]
        if len(there) != len(keys):
            return
        self.chosen = list(keys)
        self._compare(project, there, only_kept=True)

    def _seen(self) -> None:
        if not self._was_seen:
            self._was_seen = True
            self._show_choice()
        self.look_for_kept()

    def _when_loaded(self, then: Callable[[], object]) -> None:
        """Do this once all systems are there: what can be compared is known by then. A worker loads them."""
        if KINDS.loaded and not self._waiting:
            then()
            return
        self._waiting.append(then)
        if len(self._waiting) > 1:
            return
        self.choose_button.hide()
        self.say_empty(tr("Loading the systems…"), "")
        title = tr("Loading the systems")
        self._session.jobs.start(title, lambda _job: tuple(KINDS.values()), done=self._loaded, failed=self._not_loaded)

    def _loaded(self, _kinds: object) -> None:
        self.choose_button.show()
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def _not_loaded(self, error: Exception) -> None:
        self._waiting.clear()
        self.empty.say(tr("The systems cannot be loaded"), sentence_of(error))

    def run_or_find(self) -> None:
        """Compare, unless what was kept answers the question."""
        self._when_loaded(self._run_or_find)

    def _run_or_find(self) -> None:
        if self.running and self._only_kept:
            self._run_then = True
        elif self.found is None:
            self.run()

    def stop(self) -> None:
        """Compare no more; what was compared before stays."""
        if self._job is not None:
            self._job.cancel()
            show_words(self.state, tr("Stopping…"))

    def fill_menu(self) -> None:
        """Offer what can be compared, with a tick at what is."""
        menu = self.menu
        menu.clear()
        for offer in self.offers():
            action = menu.addAction(offer.label)
            action.setCheckable(True)
            action.setChecked(offer.key in self.chosen)
            action.setToolTip(offer.help)
            action.toggled.connect(lambda on, key=offer.key: self.choose(key, on=on))
        menu.addSeparator()
        files = menu.addMenu(tr("With the settings of a file"))
        for name in KINDS:
            files.addAction(tr("{system}…", system=system_title(name))).triggered.connect(
                partial(self.file_wanted.emit, name)
            )

    def _wanted(self) -> list[Offer]:
        return [offer for offer in self.offers() if offer.key in self.chosen]

    def _done(self, found: ComparedSystems, *, now: bool) -> None:
        for problem in found.problems:
            self._session.notice.emit(Notice(problem, "warning", key="systems"))
        if not now:
            return
        if self._job is not None and self._job.cancelled:  # it came to its end before it could stop
            self._failed(Cancelled())
            return
        self._job, self._outdated = None, found.stale
        self._show(found.comparison)
        if self._run_then and found.comparison is None:
            self.run()
        self._run_then = False

    def _failed(self, error: Exception) -> None:
        self._job = None
        self._show_choice()
        show_words(self.state, tr("Stopped.") if isinstance(error, Cancelled) else sentence_of(error))

    def _project_changed(self) -> None:
        """Another chat has other turns; of the same one changed the comparison stays, and says what it is of."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        if self._session.renewed and self.found is not None:
            self._outdated = True
            self._show_choice()
        else:
            self._looked_for, self._run_then = "", False
            for key in self.added:
                self.choose(key, on=False)
            self.added.clear()
            self._show(None)

    def _choice_changed(self) -> None:
        self._outdated |= self.found is not None
        self._show_choice()

    def _show(self, found: Comparison | None) -> None:
        self.found = found
        if found is not None:
            heads, *rows = total_rows(found)
            self.turns.set_rows(found.turns, turn_columns(found, self.turns_view.fontMetrics()))
            self.totals.set_rows(rows, total_columns(heads))
        else:
            for table in (self.turns, self.totals):
                table.set_rows(())
        self.chart.set_comparison(found)
        self._show_choice()
        self._follow()
        self.changed.emit()

    def _show_choice(self) -> None:
        if not self._was_seen:
            return  # whatever can be compared would be loaded for it
        wanted, project = self._wanted(), self._session.project
        amount = len(wanted)
        self.choose_button.setText(tr("Runs: {amount}", amount=amount))
        names = ", ".join(offer.label for offer in wanted)
        self.choose_button.setToolTip(tr("What is compared: {names}", names=names or tr("nothing")))
        self.choose_button.setAccessibleName(self.choose_button.toolTip())
        self._show_buttons()
        if not self.running:  # else how far it is stays
            show_words(self.state, self._standing())
        if self.found is not None:
            self.pages.setCurrentWidget(self.tabs)
            turns = count(len(self.found.turns), "turn", "turns")
            runs = count(len(self.found.labels), "run", "runs")
            self.note_changed.emit(f"{runs} · {turns}")
            return
        self.note_changed.emit("")
        if project is None or project.chat is None:
            text = tr("Systems are compared on a chat: each runs it, and you see what each would put in.")
            self.say_empty(tr("No chat to compare on"), text, (("chat.open", tr("Open chat…")),) if project else ())
        elif amount < FEWEST:
            self.say_empty(tr("Choose two or more runs"), tr("“Runs” above has the systems and your profiles."))
        else:
            text = tr(
                "{names}: each runs the whole chat, and you see turn by turn what each would put in. No model answers "
                "anew: recorded answers are used, or the offline stand-in's. Vectors come from whom a system's "
                "settings name.",
                names=names,
            )
            self.say_empty(tr("Which system would serve this chat best?"), text)

    def _standing(self) -> str:
        """What the shown comparison is of, where that is not what is chosen now."""
        found = self.found
        if found is None:
            return ""
        if self._outdated:
            return tr("Compared before the last change of settings, notes or chat. “Compare” runs it again.")
        if tuple(offer.label for offer in self._wanted()) != found.labels:
            return tr("Shown is the comparison of {names}.", names=", ".join(found.labels))
        if found.why or found.reasons:
            did = [f"{tr(rule)}: {count(turns, 'turn', 'turns')}" for rule, turns in found.reasons]
            return tr("What made the difference:  {rules}", rules="  ·  ".join(did) or tr("no single rule"))
        return ""

    def _show_buttons(self) -> None:
        can = self._session.chat is not None and len(self._wanted()) >= FEWEST
        able(self.run_button, can and not self.running, tr("Open a chat, and choose two systems or more."))
        self.run_button.setVisible(not self.running)
        self.stop_button.setVisible(self.running)

    def _follow(self) -> None:
        """Show the turn that is looked at."""
        self.chart.choose(self.turns.place_of(self._selection.generation))
        self.turns_view.choose(self._selection.generation)

    def _go_to(self, generation: Generation | None) -> None:
        if generation is not None and generation != self._selection.generation:
            self.jump.emit(generation)
