"""The workspaces: which panes are in sight for a kind of work, and where they stand (spec: anchors-ux E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Stack:
    """Panes as tabs at one place, the first in front; `share` is the part of the column's height that they take."""

    panes: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Column:
    """Stacks from top to bottom, and the part of the window's width that they take in a wide and in a narrow window.

    A narrow window has one stack in each column, of all its panes. `low` are the stacks in a window that is wide but
    low; () where they are the same.
    """

    width: float
    narrow: float
    stacks: tuple[Stack, ...]
    low: tuple[Stack, ...] = ()

    def stacked(self, *, narrow: bool, low: bool) -> tuple[Stack, ...]:
        """The stacks for a window of this kind."""
        if not narrow:
            return self.low if low and self.low else self.stacks
        heads = [stack.panes[0] for stack in self.stacks]
        rest = [pane for stack in reversed(self.stacks) for pane in stack.panes[1:]]
        return (Stack((*heads, *rest)),)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One arrangement. Of the panes that stand in its columns, `hidden` ones wait until somebody wants them."""

    name: str
    title: str
    tip: str
    columns: tuple[Column, ...]
    hidden: frozenset[str]

    @property
    def shown(self) -> frozenset[str]:
        """The panes that are in sight at first."""
        return frozenset(self.placed) - self.hidden

    @property
    def placed(self) -> tuple[str, ...]:
        """All panes that have a place, column by column."""
        return tuple(pane for column in self.columns for stack in column.stacks for pane in stack.panes)


_VAULT: Final = Column(0.18, 0.21, (Stack(("vault", "search")),))
_TRACES: Final = ("trace", "problems", "timeline", "compare", "systems", "memories")
_TRACE_AND_WHY: Final = Column(
    0.44, 0.43,
    (Stack(_TRACES, 0.48), Stack(("why",), 0.26), Stack(("budget",), 0.26)),
    low=(Stack(_TRACES, 0.6), Stack(("why", "budget"), 0.4)),
)  # fmt: skip

DEBUG: Final = Workspace(
    "debug", "Debug", "Every turn explained: the chat, the trace, and why",
    (
        _VAULT,
        Column(
            0.38, 0.36,
            (Stack(("chat",), 0.56), Stack(("entry", "graph", "links", "bench", "settings", "recap"), 0.44)),
        ),
        _TRACE_AND_WHY,
    ),
    frozenset({"search", "graph", "links", "bench", "settings", "recap", "memories", "compare", "systems"}),
)  # fmt: skip
"""The one at the first start."""

WRITE: Final = Workspace(
    "write", "Write", "The note in the middle, and beside it what each keystroke does",
    (
        _VAULT,
        Column(0.48, 0.46, (Stack(("entry", "graph", "settings", "bench", "recap", "memories")),)),
        Column(
            0.34, 0.33,
            (
                Stack(("trace", "chat", "problems", "timeline", "compare", "systems"), 0.5),
                Stack(("links", "why", "budget"), 0.5),
            ),
        ),
    ),
    frozenset({"search", "graph", "settings", "bench", "recap", "memories", "timeline", "compare", "systems"}),
)  # fmt: skip

TEST: Final = Workspace(
    "test", "Test", "Any text, and at once what it would trigger",
    (
        _VAULT,
        Column(0.38, 0.36, (Stack(("bench", "entry", "chat", "graph", "links", "settings", "recap")),)),
        _TRACE_AND_WHY,
    ),
    frozenset({"search", "graph", "links", "settings", "recap", "memories", "timeline", "compare", "systems"}),
)  # fmt: skip

TUNE: Final = Workspace(
    "tune", "Tune", "Settings in the middle, and beside them what they change; from here they are exported",
    (
        Column(0.28, 0.28, (Stack(("chat", "vault", "search")),)),
        Column(0.36, 0.36, (Stack(("settings", "entry", "graph", "links", "bench", "recap", "memories")),)),
        Column(
            0.36, 0.36,
            (
                Stack(("trace", "timeline", "compare", "systems", "problems"), 0.55),
                Stack(("why", "budget"), 0.45),
            ),
        ),
    ),
    frozenset({"search", "entry", "graph", "links", "bench", "recap", "memories", "systems", "problems"}),
)  # fmt: skip

WORKSPACES: Final = (DEBUG, WRITE, TEST, TUNE)
BY_NAME: Final = {workspace.name: workspace for workspace in WORKSPACES}

PANE_ORDER: Final = (
    "vault", "chat", "entry", "trace", "why", "budget", "problems", "graph", "search", "links", "bench", "settings",
    "timeline", "compare", "systems", "recap", "memories",
)  # fmt: skip
"""The panes as they are numbered in the View menu; those of nine digits have a shortcut. Others come after them."""
