"""How long the relationship graph of large vaults takes: the model, what is found out, the layout, and one frame.

Run with `QT_QPA_PLATFORM=offscreen python -m tests.benchmarks.bench_graph [NOTES...]`. The vaults are made here: notes
with five links each, mostly within groups of thirty, and a few requires, excludes and cascade links. Prints seconds
for the work off the GUI thread, milliseconds for what the GUI thread does.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.studio.graph.analysis import study
from lorestudio.studio.graph.graph import build_graph
from lorestudio.studio.graph.layout import Start, lay_out
from lorestudio.ui.features.graph.looks import ColourBy, graph_looks
from lorestudio.ui.features.graph.view import GraphView
from lorestudio.ui.shell.app import application
from lorestudio.ui.shell.theme import Theme

LINKS, GROUP, WORDS = 5, 30, 180


def vault(notes: int) -> VaultIndex:
    """So many notes, the same every time."""
    chance = random.Random(notes)
    titles = [f"Entry {place:05}" for place in range(notes)]
    words = [f"word{place}" for place in range(400)]

    def other(place: int) -> str:
        group = place // GROUP * GROUP
        near = chance.random() < 0.85
        return titles[min(notes - 1, group + chance.randrange(GROUP)) if near else chance.randrange(notes)]

    entries = []
    for place, title in enumerate(titles):
        links = tuple(other(place) for _ in range(LINKS))
        text = " ".join([*(chance.choice(words) for _ in range(WORDS)), *links])
        rules = {name: (other(place),) for name in ("requires", "excludes", "cascade_links") if chance.random() < 0.04}
        entries.append(Entry(place, f"{title}.md", "v", title, text, (f"key{place}",), resolved_links=links, **rules))
    return VaultIndex(tuple(entries), vaults=("v",))


def spent(work: Callable[[], object], times: int = 1) -> float:
    """Seconds by the clock, the shortest of several times."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def measure(notes: int) -> list[tuple[str, str]]:
    """All figures for a vault of so many notes."""
    index = vault(notes)
    graph = build_graph(index)
    found = study(graph, index.entries)
    positions = lay_out(found)
    theme = Theme("light")
    theme.apply()
    view = GraphView(theme)
    view.resize(1200, 760)
    view.show()
    QApplication.processEvents()
    looks = graph_looks(found, ColourBy.COMMUNITY, {}, theme.palette)
    view.show_looks(looks.of, {})

    def frame() -> None:
        view.redraw()
        QApplication.processEvents()

    def pan() -> None:
        view.pan(12, 8)
        QApplication.processEvents()

    figures = [
        ("edges", f"{len(graph.edges):,}"),
        ("model", f"{spent(lambda: build_graph(index)):.2f} s"),
        ("communities, gaps", f"{spent(lambda: study(graph, index.entries)):.2f} s"),
        ("layout", f"{spent(lambda: lay_out(found)):.2f} s"),
        ("layout from the one before", f"{spent(lambda: lay_out(found, Start(positions))):.2f} s"),
        ("show", f"{1000 * spent(lambda: view.show_graph(found, positions, fit=True)):.0f} ms"),
        ("frame, all in sight", f"{1000 * spent(frame, 5):.0f} ms"),
        ("pan, all in sight", f"{1000 * spent(pan, 5):.0f} ms"),
    ]
    view._hover(0)
    figures.append(("frame while hovering", f"{1000 * spent(frame, 5):.0f} ms"))
    view._hover(None)
    view.zoom(1 / view.transform().m11())
    figures += [
        ("frame at full size", f"{1000 * spent(frame, 5):.0f} ms"),
        ("pan at full size", f"{1000 * spent(pan, 5):.0f} ms"),
        ("node under the pointer", f"{1000 * spent(lambda: view._node_under(QPoint(300, 300)), 20):.2f} ms"),
    ]
    view.close()
    view.deleteLater()
    return figures


def main(sizes: list[int]) -> None:
    """Print a table for each size."""
    application(offscreen=True)
    for notes in sizes:
        lines = [f"{notes:,} notes", *(f"  {what:28} {figure:>10}" for what, figure in measure(notes))]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000, 5_000])
