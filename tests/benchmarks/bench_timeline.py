"""How long the timeline takes on a chat of 5,000 messages and 500 entries.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_timeline`. Prints milliseconds: summarising one
turn off the GUI thread, and on it taking in a turn, sorting the rows, and drawing one frame at each zoom and while
scrolling.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from types import MappingProxyType
from typing import Final

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.studio.replay.timeline import TimelineTurn
from lorestudio.studio.replay.timeline_grid import RowOrder, TimelineGrid
from lorestudio.trace.diff import InjectionChanges
from lorestudio.trace.journey import FateState
from lorestudio.trace.model import Phase
from lorestudio.trace.timeline import Ending, TurnSummary
from lorestudio.ui.features.timeline.map_content import MapContent, Shown, make_content
from lorestudio.ui.features.timeline.pane import ZOOMS, HeatMap
from lorestudio.ui.shell.app import application
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.widgets.chart import BarChart, Bars, Layer

ENTRIES: Final = 500
ENDINGS: Final = (
    Ending(FateState.INJECTED, Phase.BUDGET, "fits"),
    Ending(FateState.TRUNCATED, Phase.BUDGET, "truncated"),
    Ending(FateState.REMOVED, Phase.BUDGET, "behind_cut"),
    Ending(FateState.REMOVED, Phase.GATE, "gated_field"),
    Ending(FateState.REFUSED, Phase.MATCH, "cooling_down"),
)


def timed(work: Callable[[], object], times: int = 20) -> float:
    """The median of so many runs in milliseconds of this thread, which is the same on a busy machine."""
    found = []
    for _ in range(times):
        begun = time.thread_time()
        work()
        found.append(1000 * (time.thread_time() - begun))
    return sorted(found)[len(found) // 2]


def say(what: str, milliseconds: float) -> None:
    sys.stdout.write(f"{what:<46} {milliseconds:8.2f} ms\n")


def turns(messages: int) -> list[TimelineTurn]:
    """A reply for every message, each with sixty candidates."""
    draw = random.Random(5)
    made = []
    for message in range(messages):
        endings = {entry: draw.choice(ENDINGS) for entry in draw.sample(range(ENTRIES), 60)}
        summary = TurnSummary(draw.randrange(1500), draw.randrange(1300), 1300, MappingProxyType(endings), {})
        made.append(TimelineTurn(Generation(message), summary, None, InjectionChanges()))
    return made


def main(messages: int = 5000) -> None:
    """Measure and print."""
    app = application(offscreen=True)
    theme = Theme("light")
    theme.apply()
    made = turns(messages)
    grid = TimelineGrid(messages)
    columns = {turn.generation: place for place, turn in enumerate(made)}
    begun = time.thread_time()
    for place, turn in enumerate(made):
        grid.put(place, turn.summary)
    say("taking in a turn", 1000 * (time.thread_time() - begun) / messages)
    known = {turn.generation: turn for turn in made}
    index = VaultIndex(tuple(Entry(place, f"{place}.md", "v", f"Entry {place}") for place in range(ENTRIES)))
    generations = tuple(columns)

    def content(order: RowOrder = RowOrder.FIRST) -> MapContent:
        return make_content(grid, columns, known, generations, index, Shown(order), frozenset(), messages)

    for order in RowOrder:
        say(f"rows by {order.value}", timed(lambda order=order: content(order), 5))  # type: ignore[misc]
    view = HeatMap(theme)
    view.resize(1200, 700)
    view.show()
    app.processEvents()
    view.set_content(content(), fresh=True)
    tokens = np.array([float(turn.summary.tokens) for turn in made])
    bars = Bars((Layer("green", tokens), Layer("purple", tokens / 4, beyond=True)), np.full(messages, 1300.0))
    chart = BarChart(theme, "tokens", brush=True)
    chart.resize(1200, 90)
    frame = QImage(1200, 700, QImage.Format.Format_RGB32)

    def draw() -> None:
        painter = QPainter(frame)
        view.viewport().render(painter, QPoint())
        painter.end()

    for zoom in ZOOMS:
        view.set_cell(zoom)
        say(f"a frame with columns of {zoom:g}", timed(draw))
    bar = view.horizontalScrollBar()

    def scroll() -> None:
        bar.setValue((bar.value() + 97) % max(1, bar.maximum()))
        draw()

    view.set_cell(14.0)
    say("scrolling by a step", timed(scroll, 50))
    say("the chart of the whole chat", timed(lambda: (chart.set_bars(bars), chart.grab()), 5))
    view.close()


if __name__ == "__main__":
    main()
