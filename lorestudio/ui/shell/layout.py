"""Where panes stand: the workspaces, arranging the docks of a window as one of them says, and remembering it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct
from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtWidgets import QMainWindow, QTabWidget

from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.layouts import letters
from lorestudio.ui.widgets.pane import Pane, PaneDock, PlannedPane

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLayout

LAYOUT_VERSION: Final = 7
"""Goes up when a saved layout would not fit any more; an older one is then left alone."""

NARROW: Final = 1150
"""A window less wide than this (device-independent pixels) stacks its panes into tabs."""

CROWDED: Final = 800
"""A window less wide than this has two columns; three would lie over each other, as many panes can be no narrower."""

LOW: Final = 900
"""A window less high than this has the budget as a tab behind the trace, so that that shows rows."""

_LEFT: Final = Qt.DockWidgetArea.LeftDockWidgetArea
_H: Final = Qt.Orientation.Horizontal
_V: Final = Qt.Orientation.Vertical


SMALL: Final = (1360, 860)
"""A screen less wide or high than this has the first window maximised; on others it takes nine tenths."""


class PaneLayout:
    """The docks of a window. Each workspace stands as it was left; the one that the window was closed in comes back.

    While nothing was `moved` by hand, the panes stand as the workspace has them in a window of its present size.
    """

    def __init__(self, window: QMainWindow, settings: QSettings) -> None:
        self._window, self._settings = window, settings
        self.docks: dict[str, PaneDock] = {}
        self.current = BY_NAME.get(str(settings.value("window/workspace", "")), DEBUG)
        self._widths_before: dict[PaneDock, int] = {}
        self.moved = self._arranging = False
        self._kind = ("", False)
        self._soon = later(window, self._fit)
        self._focus_soon = later(window, self.focus_first)
        self._behind = False
        window.setDockNestingEnabled(True)
        window.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        for area in (_LEFT, Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea):
            window.setTabPosition(area, QTabWidget.TabPosition.North)

    def take(self, panes: Sequence[PlannedPane], made: Iterable[Pane], theme: Theme) -> None:
        """These are the panes of the window, and those of them that are made already."""
        self.docks = {planned.name: PaneDock(planned, theme, self._window) for planned in panes}
        for pane in made:
            self.docks[pane.name].take(pane)
        for dock in self.docks.values():
            dock.topLevelChanged.connect(self._was_moved)
            dock.dockLocationChanged.connect(self._was_moved)
            dock.left.connect(self.focus_first)

    def take_place(self) -> None:
        """Give the window the size and place that it had, or those that suit its screen where it had none."""
        geometry = self._settings.value("window/geometry")
        if isinstance(geometry, QByteArray) and self._window.restoreGeometry(geometry):
            return
        room = self._window.screen().availableGeometry()
        if room.width() < SMALL[0] or room.height() < SMALL[1]:
            self._window.setGeometry(room)  # where nobody manages windows, this is all that happens
            self._window.setWindowState(Qt.WindowState.WindowMaximized)
        else:
            self._window.resize(room.size() * 0.9)
            self._window.move(room.center() - self._window.rect().center())

    # ---- workspaces -------------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        """Put the panes where the workspace has them in a window of this size; none of them has the keyboard then."""
        self._arranging, self.moved = True, False
        self._kind = self._kind_now
        self._window.setFocus()  # a pane that goes with the keyboard looks through the window for who is next
        layout = cast("QLayout", self._window.layout())
        layout.setEnabled(False)  # once at the end; each pane that is shown would have all others laid out
        self._put()
        layout.setEnabled(True)
        layout.activate()
        self._arranging = False

    def resized(self) -> None:
        """The window has another size: the panes follow; those that somebody moved only where it is too narrow now."""
        if self._kind[0] != self._kind_now[0] or (self._kind != self._kind_now and not self.moved):
            self._soon.start()

    @property
    def _kind_now(self) -> tuple[str, bool]:
        """How narrow the window is, "" for a wide one, and whether it is low, for letters of its size."""
        larger = letters(self._window)
        limits = ((CROWDED, "-crowded"), (NARROW, "-narrow"))
        narrow = next((kind for limit, kind in limits if self._window.width() < limit * larger), "")
        return narrow, self._window.height() < LOW * larger

    def _fit(self) -> None:
        """Arrange the panes anew, and as they were left in a window of such a width.

        Otherwise the same ones are open as before, or windows of their own. The keyboard stays where it is.
        """
        other = self._kind[0] != self._kind_now[0]
        if self.moved:
            self._keep()
        open_now = {name for name, dock in self.docks.items() if not dock.isHidden()}
        floating = {dock: dock.geometry() for dock in self.docks.values() if dock.isFloating()}
        in_front = [dock for dock in self.docks.values() if not dock.visibleRegion().isEmpty()]
        focus = self._window.focusWidget()
        self.arrange()
        if not (other and self._bring_back()):
            for dock, place in floating.items():
                dock.setFloating(True)
                dock.setGeometry(place)
            for name, dock in self.docks.items():
                dock.setVisible(name in open_now)
            for dock in in_front:
                dock.raise_()
        if focus is not None:
            focus.setFocus()

    def _was_moved(self) -> None:
        self.moved = self.moved or not self._arranging

    def _put(self) -> None:
        window, docks, workspace = self._window, self.docks, self.current
        width, height = window.width(), window.height()
        for dock in docks.values():
            if dock.isFloating():
                dock.setFloating(False)
            window.removeDockWidget(dock)
        kind, low = self._kind_now
        narrow = bool(kind)
        placed = workspace.two_columns if kind == "-crowded" else workspace.columns
        columns = [column.stacked(narrow=narrow, low=low) for column in placed]
        heads_of = [[docks[stack.panes[0]] for stack in stacks] for stacks in columns]
        tops = [heads[0] for heads in heads_of]
        window.addDockWidget(_LEFT, tops[0])
        for left, right in itertools.pairwise(tops):
            window.splitDockWidget(left, right, _H)
        for heads, stacks in zip(heads_of, columns, strict=True):
            for above, below in itertools.pairwise(heads):
                window.splitDockWidget(above, below, _V)
            for head, stack in zip(heads, stacks, strict=True):
                for name in stack.panes[1:]:
                    window.tabifyDockWidget(head, docks[name])
        shown = workspace.shown
        for name, dock in docks.items():
            dock.setVisible(name in shown)
        widths = [column.narrow if narrow else column.width for column in placed]
        window.resizeDocks(tops, [round(width * part) for part in widths], _H)
        for heads, stacks in zip(heads_of, columns, strict=True):
            for head in heads:
                head.raise_()
            if len(heads) > 1:
                window.resizeDocks(heads, [round(height * stack.share) for stack in stacks], _V)

    def enter(self, workspace: Workspace) -> None:
        """Put the panes as they were left in this workspace, or as it starts."""
        self._keep()
        self.current = workspace
        self.arrange()  # also where it comes back as it was left: Qt would leave tabs of the other one standing
        self._bring_back()
        self._focus_soon.start()  # the pane that it goes to may have to be made

    def reset(self) -> None:
        """Put all panes of this workspace back where they belong."""
        self.arrange()
        self._settings.remove(self._key)

    def focus_first(self) -> None:
        """The pane that the workspace is about has the keyboard, or the next one that is open."""
        middle = self.current.columns[1].stacks[0].panes[0]
        for name in (middle, *self.current.placed):
            if not self.docks[name].isHidden():
                self.docks[name].pane.focus_target().setFocus()
                return

    def hide_all(self) -> None:
        """Show no pane."""
        for dock in self.docks.values():
            dock.hide()

    # ---- remembering ------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Remember the window's size and layout, in the workspace that it is in."""
        self._settings.setValue("window/geometry", self._window.saveGeometry())
        self._settings.setValue("window/workspace", self.current.name)
        self._keep()
        self._settings.sync()

    def restore(self) -> None:
        """Put the panes back as they were; as the workspace starts where nothing usable was remembered."""
        self._kind = self._kind_now
        if not self._bring_back():
            self.arrange()
        self._focus_soon.start()

    @property
    def _key(self) -> str:
        """What was moved in a wide window would lie one pane over another in a narrow one."""
        return f"window/state-{self.current.name}{self._kind[0]}"

    def _keep(self) -> None:
        """What nobody has changed is not kept, so that it suits the size of the next window."""
        self._settings.setValue("window/version", LAYOUT_VERSION)
        opened = {name for name, dock in self.docks.items() if not dock.isHidden()}
        if self.moved or opened != set(self.current.shown):
            self._settings.setValue(self._key, self._window.saveState(LAYOUT_VERSION))
        else:
            self._settings.remove(self._key)

    def _bring_back(self) -> bool:
        state = self._settings.value(self._key)
        fits = str(self._settings.value("window/version", "")) == str(LAYOUT_VERSION)
        self._arranging = True
        found = fits and isinstance(state, QByteArray) and self._window.restoreState(state, LAYOUT_VERSION)
        self._arranging, self.moved = False, self.moved or found
        return found

    # ---- room for one pane ------------------------------------------------------------------------------------------

    def widen(self, name: str, share: float, *, behind: str) -> None:
        """Give a pane this part of the window's width where it has less; in a narrow window, another pane's place.

        What the person has given it by hand stays.
        """
        window, dock = self._window, self.docks[name]
        wide = round(window.width() * share)
        if window.isVisible() and not dock.isFloating() and dock.width() < wide:
            self._widths_before = {one: one.width() for one in self.docks.values() if self._in_sight(one)}
            if self._kind_now[0]:  # the other panes are as narrow as they can be
                self._behind = True
                window.tabifyDockWidget(self.docks[behind], dock)
                dock.raise_()
            else:
                window.resizeDocks([dock], [wide], _H)

    def narrow(self, name: str) -> None:
        """Take the room back that `widen` gave."""
        window, dock = self._window, self.docks[name]
        if not window.isVisible() or dock.isFloating():
            return
        if self._behind:
            self._behind, focus = False, window.focusWidget()
            closed = [one for one in self.docks.values() if one.isHidden()]
            self.arrange()
            for one in closed:
                one.hide()
            if focus is not None:
                focus.setFocus()
        elif self._widths_before:
            there = {one: width for one, width in self._widths_before.items() if self._in_sight(one)}
            window.resizeDocks(list(there), list(there.values()), _H)

    @staticmethod
    def _in_sight(dock: PaneDock) -> bool:
        return not dock.isFloating() and not dock.visibleRegion().isEmpty()


class DockStack(Struct, frozen=True):
    """Panes as tabs at one place, the first in front; `share` is the part of the column's height that they take."""

    panes: tuple[str, ...]
    share: float = 1.0


class DockColumn(Struct, frozen=True):
    """Stacks from top to bottom, and the part of the window's width that they take in a wide and in a narrow window.

    A narrow window has one stack in each column, of all its panes. `low` are the stacks in a window that is wide but
    low; () where they are the same.
    """

    width: float
    narrow: float
    stacks: tuple[DockStack, ...]
    low: tuple[DockStack, ...] = ()

    def stacked(self, *, narrow: bool, low: bool) -> tuple[DockStack, ...]:
        """The stacks for a window of this kind."""
        if not narrow:
            return self.low if low and self.low else self.stacks
        heads = [stack.panes[0] for stack in self.stacks]
        rest = [pane for stack in reversed(self.stacks) for pane in stack.panes[1:]]
        return (DockStack((*heads, *rest)),)


class Workspace(Struct, frozen=True):
    """One arrangement. Of the panes that stand in its columns, `hidden` ones wait until somebody wants them."""

    name: str
    title: str
    tip: str
    columns: tuple[DockColumn, ...]
    hidden: frozenset[str]

    @property
    def two_columns(self) -> tuple[DockColumn, ...]:
        """Its columns where only two have room: the first one's panes stand behind the second one's."""
        first, second, *others = self.columns
        stacks = (*second.stacks, *first.stacks)
        return DockColumn(first.width + second.width, first.narrow + second.narrow, stacks), *others

    @property
    def shown(self) -> frozenset[str]:
        """The panes that are in sight at first."""
        return frozenset(self.placed) - self.hidden

    @property
    def placed(self) -> tuple[str, ...]:
        """All panes that have a place, column by column."""
        return tuple(pane for column in self.columns for stack in column.stacks for pane in stack.panes)


_JUDGED: Final = ("expectations", "scores", "tuning")
_HIDDEN: Final = frozenset({*_JUDGED, "verify"})
_VAULT: Final = DockColumn(0.18, 0.21, (DockStack(("vault", "search")),))
_TRACES: Final = ("trace", "problems", "timeline", *_JUDGED, "compare", "verify", "graph", "recap", "memories")
_ANSWERS: Final = DockColumn(
    0.44, 0.43, (DockStack(_TRACES, 0.74), DockStack(("budget",), 0.26)), low=(DockStack((*_TRACES, "budget")),)
)
_RESULTS: Final = ("trace", "expectations", "scores", "timeline", "compare", "verify", "problems")
_BESIDE_NOTE: Final = ("trace", "chat", "problems", "timeline", *_JUDGED, "compare", "verify")

DEBUG: Final = Workspace(
    "debug", "Debug", "Every turn explained: the chat, the trace, and why",
    (
        _VAULT,
        DockColumn(0.38, 0.36, (DockStack(("chat",), 0.56), DockStack(("entry", "links", "bench", "settings"), 0.44))),
        _ANSWERS,
    ),
    frozenset({"search", "graph", "links", "bench", "settings", "recap", "memories", "compare"}) | _HIDDEN,
)  # fmt: skip
"""The one at the first start."""

WRITE: Final = Workspace(
    "write", "Write", "The note in the middle, and beside it what each keystroke does",
    (
        _VAULT,
        DockColumn(0.47, 0.46, (DockStack(("entry", "graph", "settings", "bench", "recap", "memories")),)),
        DockColumn(
            0.35, 0.33,
            (DockStack(_BESIDE_NOTE, 0.5), DockStack(("links", "budget"), 0.5)),
            low=(DockStack(_BESIDE_NOTE, 0.62), DockStack(("links", "budget"), 0.38)),
        ),
    ),
    frozenset({"search", "graph", "settings", "bench", "recap", "memories", "timeline", "compare"}) | _HIDDEN,
)  # fmt: skip

TEST: Final = Workspace(
    "test", "Test", "Any text, and at once what it would trigger",
    (
        _VAULT,
        DockColumn(0.38, 0.36, (DockStack(("bench", "entry", "chat", "links", "settings")),)),
        _ANSWERS,
    ),
    frozenset({"search", "graph", "links", "settings", "recap", "memories", "timeline", "compare"}) | _HIDDEN,
)  # fmt: skip

TUNE: Final = Workspace(
    "tune", "Tune", "Settings in the middle, and beside them what they change; from here they are exported",
    (
        DockColumn(0.28, 0.28, (DockStack(("chat", "vault", "search")),)),
        DockColumn(
            0.36, 0.35,
            (DockStack(("settings", "tuning", "entry", "graph", "links", "bench", "recap", "memories")),),
        ),
        DockColumn(
            0.36, 0.37,
            (DockStack(_RESULTS, 0.55), DockStack(("budget",), 0.45)), low=(DockStack((*_RESULTS, "budget")),),
        ),
    ),
    frozenset({"search", "entry", "graph", "links", "bench", "recap", "memories", "problems", "compare", "verify"}),
)  # fmt: skip

WORKSPACES: Final = (DEBUG, WRITE, TEST, TUNE)
BY_NAME: Final = {workspace.name: workspace for workspace in WORKSPACES}

PANE_ORDER: Final = (
    "vault", "chat", "entry", "trace", "budget", "problems", "graph", "search", "links", "bench", "settings",
    "timeline", "compare", "recap", "memories", *_JUDGED, "verify",
)  # fmt: skip
"""The panes as they are numbered in the View menu; those of nine digits have a shortcut. Others come after them."""
