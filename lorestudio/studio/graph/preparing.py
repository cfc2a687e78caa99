"""From a project to a graph with places for its nodes, in steps that can be reported and stopped.

Where the nodes stood the last time is kept in the studio's data folder, one file for each vault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.digests import text_digest
from lorestudio.domain.json_text import parse_json
from lorestudio.domain.lifecycle import CancelToken, Progress
from lorestudio.domain.records import replace
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import write_atomically
from lorestudio.studio.graph.analysis import GraphStudy, study
from lorestudio.studio.graph.graph import NoteGraph, Point, build_graph
from lorestudio.studio.graph.layout import Forces, Start, lay_out
from lorestudio.studio.project.project import Project
from lorestudio.trace.storage.serialize import record_from_json


class SavedLayout(Struct, frozen=True):
    """Positions and pinned nodes by a node's key. `problem` says what was wrong with the file, "" where nothing was."""

    positions: Mapping[str, Point] = {}
    pinned: frozenset[str] = frozenset()
    problem: str = ""


class LayoutStore:
    """The saved layouts in a folder; without a folder they are kept in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._memory: dict[Path, SavedLayout] = {}

    def load(self, places: Sequence[str]) -> SavedLayout:
        """What was saved for the vaults at these places; an empty layout where nothing was or can be read."""
        path = self._path(places)
        if self._folder is None:
            return self._memory.get(path, SavedLayout())
        try:
            return _read(path.read_bytes())
        except FileNotFoundError:
            return SavedLayout()
        except (OSError, ValueError) as error:
            advice = "The graph is laid out anew; delete the file if this message comes again."
            return SavedLayout(problem=f"{path}: the saved positions of the graph cannot be read ({error}). {advice}")

    def save(self, places: Sequence[str], layout: SavedLayout) -> None:
        """Keep a layout. Raises OSError where it cannot be written; the file is whole or as it was before."""
        path = self._path(places)
        if self._folder is None:
            self._memory[path] = layout
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        values = {
            "version": 1,
            "positions": {key: [round(x, 1), round(y, 1)] for key, (x, y) in layout.positions.items()},
            "pinned": sorted(layout.pinned),
        }
        write_atomically(path, json.dumps(values, ensure_ascii=True).encode())

    def _path(self, places: Sequence[str]) -> Path:
        digest = text_digest(*places)[:32]
        return (self._folder or Path()) / f"{digest}.json"


def _read(data: bytes) -> SavedLayout:
    """The layout in a file. Raises ValueError."""
    match parse_json(data.decode()):
        case {"version": 1, "positions": positions, "pinned": pinned}:
            layout = record_from_json(SavedLayout, {"positions": positions, "pinned": pinned}, "layout")
            return replace(layout, pinned=layout.pinned & layout.positions.keys())
        case _:
            raise ValueError("it is not of version 1, or “positions” or “pinned” is missing")


LARGE: Final = 3_000
"""A graph of more nodes is only laid out as a whole where somebody asks for that."""

_USUAL: Final = DeepLoreSettings()


class GraphWish(Struct, frozen=True):
    """How a graph is wanted: with the entries that say `graph: false`, although it is large, laid out from nothing."""

    everything: bool = False
    large: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class PreparedGraph:
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
    report: Callable[[PreparedGraph | Progress], None],
    cancel: CancelToken,
) -> PreparedGraph:
    """Build, study and lay out the graph of a project; reports what was found out before the layout begins.

    Nodes whose place is known keep it, unless `wish.fresh`; only the pinned ones do then. Raises Cancelled.
    """
    index, settings = project.index, project.settings
    graph = build_graph(index, everything=wish.everything, cancel=cancel)
    found = study(graph, index.entries, alpha=settings.graph_edge_filter_alpha, cancel=cancel)
    saved = store.load(project.places)
    known = {entry: saved.positions[node.key] for entry, node in graph.nodes.items() if node.key in saved.positions}
    pinned = frozenset(entry for entry, node in graph.nodes.items() if node.key in saved.pinned)
    first = PreparedGraph(found, None, pinned, saved.problem)
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
