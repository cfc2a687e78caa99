"""From a project to a graph with places for its nodes, in steps that can be reported and stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.graph_analysis import GraphStudy, study
from lorestudio.studio.graph_layout import Forces, Point, Start, lay_out
from lorestudio.studio.graph_positions import LayoutStore, SavedLayout
from lorestudio.studio.jobs import CancelToken, Progress
from lorestudio.studio.note_graph import NoteGraph, build_graph
from lorestudio.studio.project import Project

LARGE: Final = 3_000
"""A graph of more nodes is only laid out as a whole where somebody asks for that."""

_USUAL: Final = DeepLoreSettings()


@dataclass(frozen=True, slots=True)
class GraphWish:
    """How a graph is wanted: with the entries that say `graph: false`, although it is large, laid out from nothing."""

    everything: bool = False
    large: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class Prepared:
    """A graph that was looked at. `positions` are by entry id, None while or because there are none.

    `problem` says what was wrong with the saved positions.
    """

    found: GraphStudy = field(default_factory=lambda: GraphStudy(NoteGraph()))
    positions: dict[int, Point] | None = None
    pinned: frozenset[int] = frozenset()
    problem: str = ""

    @property
    def too_large(self) -> bool:
        """Whether the whole graph is not laid out unasked."""
        return len(self.found.graph.nodes) > LARGE

    def layout(self) -> SavedLayout:
        """What is to be kept of it."""
        nodes = self.found.graph.nodes
        return SavedLayout(
            {nodes[entry].key: point for entry, point in (self.positions or {}).items()},
            frozenset(nodes[entry].key for entry in self.pinned),
        )


def prepare(
    project: Project,
    store: LayoutStore,
    wish: GraphWish,
    report: Callable[[Prepared | Progress], None],
    cancel: CancelToken,
) -> Prepared:
    """Build, study and lay out the graph of a project; reports what was found out before the layout begins.

    Nodes whose place is known keep it, unless `wish.fresh`; only the pinned ones do then. Raises Cancelled.
    """
    index, settings = project.index, project.settings
    graph = build_graph(index, everything=wish.everything, cancel=cancel)
    found = study(graph, index.entries, alpha=settings.graph_edge_filter_alpha, cancel=cancel)
    saved = store.load(project.places)
    known = {entry: saved.positions[node.key] for entry, node in graph.nodes.items() if node.key in saved.positions}
    pinned = frozenset(entry for entry, node in graph.nodes.items() if node.key in saved.pinned)
    first = Prepared(found, None, pinned, saved.problem)
    report(first)
    if known.keys() == graph.nodes.keys() and not wish.fresh:
        return replace(first, positions=known)
    if first.too_large and not wish.large:
        return first
    if wish.fresh:
        known = {entry: point for entry, point in known.items() if entry in pinned}
    forces = Forces(settings.graph_repulsion / _USUAL.graph_repulsion, settings.graph_gravity / _USUAL.graph_gravity)
    positions = dict(lay_out(found, Start(known, pinned), forces, report, cancel))
    return replace(first, positions=positions)
