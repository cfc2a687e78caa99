"""Where the nodes of the relationship graph stand: forces for the whole vault, rings for the surroundings of one entry.

networkx's own force layouts hold several n x n x 2 arrays of 8 byte numbers (2 GB for 5,000 nodes), cannot be stopped
and need SciPy from 500 nodes on; the forces here are the same kind, in blocks of rows and 4 byte numbers. Where groups
stand at first is networkx's work. Distances are in scene units: at full size one unit is one pixel.

A project becomes a graph with places in steps that can be reported and stopped. Where the nodes stood the last time is
kept in the studio's data folder, one file for each vault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from lorestudio.domain.json_text import parse_json
from lorestudio.domain.lifecycle import CancelToken, OnProgress, Progress, heed, stoppable
from lorestudio.domain.records import replace
from lorestudio.domain.texts import text_digest
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import read_whole, write_atomically
from lorestudio.studio.graph.analysis import SEED, GraphStudy, study
from lorestudio.studio.graph.graph import NoteGraph, Point, build_graph, undirected
from lorestudio.studio.project.project import Project
from lorestudio.systems.base import Deciding
from lorestudio.trace.storage.serialize import record_from_json

Floats: TypeAlias = NDArray[np.float32]

SPACING: Final = 58.0
"""How far connected nodes want to be from each other."""

AREA: Final = 74.0
"""The side of the square that each node has for itself, on average."""

ORPHAN_SPACING: Final = 35.0
"""The grid of entries without an edge (rules: deeplore-tools 3.8)."""

RING: Final = 130.0
"""How far the rings of a local graph are apart."""

SMALLEST, LARGEST = 7.0, 22.0
"""Radius of a node by its connections (rules: deeplore-tools 3.8)."""

KNOWN_ENOUGH: Final = 0.8
"""From this part of known positions on, a layout goes on from them."""

_ARC: Final = 46.0
_PADDING: Final = 9.0
_CACHED: Final = 64_000
_TURN: Final = math.pi * (3 - math.sqrt(5))
_FEWEST, _MOST, _WORK = 70, 320, 4e8
_GROUPS_BY_FORCE: Final = 300


class Start(Struct, frozen=True):
    """What is known before: positions by entry id, and the entries that stay where they are."""

    positions: Mapping[int, Point]
    pinned: Collection[int] = ()


class Forces(Struct, frozen=True):
    """How strongly nodes push each other apart and are drawn to the middle, as parts of what is usual."""

    repulsion: float = 1.0
    gravity: float = 1.0


def radii(connections: Sequence[int]) -> list[float]:
    """The radius of each node by how many others it is connected with."""
    most = max(connections, default=0) or 1
    return [SMALLEST + (LARGEST - SMALLEST) * math.sqrt(count / most) for count in connections]


def lay_out(
    found: GraphStudy,
    start: Start | None = None,
    forces: Forces | None = None,
    report: OnProgress = None,
    cancel: CancelToken | None = None,
) -> Mapping[int, Point]:
    """Positions of all nodes by entry id, the middle at (0, 0). The same input gives the same output.

    Where most positions are known, new nodes find a place beside their neighbours and the others hardly move.
    Entries without an edge stand in a grid below. Raises Cancelled.
    """
    graph, known = found.graph, start or Start({})
    parts = _components(graph)
    work = _LayoutProgress(sum(len(part) ** 2 for part in parts), report, cancel)
    wide = dict(zip(graph.nodes, radii([len(others) for others in graph.neighbours.values()]), strict=True))
    where: dict[int, Point] = {}
    loose = []
    for part in parts:
        body = _GraphBody(found, part, wide, known, forces or Forces())
        body.settle(work)
        if not body.anchored:
            body.lie_down()
        placed = {entry: (float(x), float(y)) for entry, (x, y) in zip(part, body.at, strict=True)}
        if body.anchored:
            where |= placed
        else:
            loose.append(placed)
    _pack(loose, where)
    orphans = [entry for entry in graph.nodes if not graph.neighbours[entry]]
    going_on = len(known.positions.keys() & graph.nodes) >= KNOWN_ENOUGH * len(graph.nodes)
    kept = set(known.positions) if going_on else set(known.pinned) & known.positions.keys()
    where |= {entry: known.positions[entry] for entry in orphans if entry in kept}
    return {**where, **_grid([entry for entry in orphans if entry not in kept], where)}


def rings(
    neighbours: Mapping[int, Sequence[int]], hops: Mapping[int, int], community_of: Mapping[int, int]
) -> Mapping[int, Point]:
    """A local graph as a tree in rings: the first of `hops` in the middle, each node beyond the one that leads to it.

    `hops` holds the nodes, nearest first, with their distance from the middle.
    """
    centre = next(iter(hops))
    children: dict[int, list[int]] = {entry: [] for entry in hops}
    for entry, distance in hops.items():
        if distance:
            parent = min(other for other in neighbours[entry] if hops.get(other, distance) == distance - 1)
            children[parent].append(entry)
    leaves: dict[int, int] = {}
    for entry in reversed(hops):
        leaves[entry] = sum(leaves[child] for child in children[entry]) or 1
    where: dict[int, Point] = {centre: (0.0, 0.0)}
    sectors = {centre: (-math.pi / 2, 2 * math.pi)}
    radius, ring = 0.0, [centre]
    while ring:
        following = []
        for entry in ring:
            begin, width = sectors[entry]
            for child in sorted(children[entry], key=lambda other: (community_of.get(other, -1), other)):
                share = width * leaves[child] / leaves[entry]
                sectors[child] = (begin, share)
                begin += share
                following.append(child)
        narrowest = min((sectors[entry][1] for entry in following), default=math.pi)
        radius = max(radius + RING, min(_ARC / narrowest, radius + 4 * RING))
        for entry in following:
            begin, width = sectors[entry]
            angle = begin + width / 2
            where[entry] = (radius * math.cos(angle), radius * math.sin(angle))
        ring = following
    return where


class _LayoutProgress:
    """How far a layout is, over several bodies of different size."""

    def __init__(self, total: int, report: OnProgress, cancel: CancelToken | None) -> None:
        self._report, self._cancel = report, cancel
        self._done, self._total, self._told = 0.0, max(total, 1), -1

    def step(self, work: float) -> None:
        """So much more is done. Raises Cancelled."""
        heed(self._cancel)
        self._done += work
        told = int(100 * min(self._done / self._total, 1))
        if self._report is not None and told != self._told:
            self._told = told
            self._report(Progress(told, 100))


def _components(graph: NoteGraph) -> list[list[int]]:
    """Entries that hang together, largest part first; those without an edge are in none."""
    import networkx as nx

    parts = (sorted(part) for part in nx.connected_components(undirected(graph)) if len(part) > 1)
    return sorted(parts, key=lambda part: (-len(part), part))


class _GraphBody:
    """Nodes that hang together, under their forces; `at` is n x 2. `anchored` means that they have their place."""

    def __init__(
        self, found: GraphStudy, ids: Sequence[int], wide: Mapping[int, float], known: Start, forces: Forces
    ) -> None:
        graph = found.graph
        place = {entry: row for row, entry in enumerate(ids)}
        pairs = {edge.pair: edge.weight for entry in ids for edge in graph.outgoing.get(entry, ())}
        self._first = np.array([place[first] for first, _ in pairs], dtype=np.int64)
        self._second = np.array([place[second] for _, second in pairs], dtype=np.int64)
        degrees = [len(graph.neighbours[entry]) for entry in ids]
        degree = np.array(degrees, dtype=np.float32)
        lesser = np.minimum(degree[self._first], degree[self._second])
        weight = np.array(list(pairs.values()), dtype=np.float32)
        # An edge pulls less where both ends have many, or hubs would be lumps (rules: deeplore-tools 3.8).
        self._pull = (1 + np.log(weight)) / np.sqrt(lesser)
        groups = np.array([found.community_of[entry] for entry in ids])
        self._pull *= np.where(groups[self._first] == groups[self._second], 1.6, 0.7)
        self._mass = np.sqrt(degree)
        self._radius = np.array([wide[entry] for entry in ids], dtype=np.float32)
        rim = AREA * math.sqrt(len(ids) / math.pi)
        # At the rim of a disc as wide as wanted, the push of all others is about the pull of a few edges.
        self._push = np.float32(1.3 * forces.repulsion * SPACING * rim / (len(ids) * float(self._mass.mean())))
        self._gravity = np.float32(0.8 * forces.gravity * SPACING / rim)
        fixed = set(known.pinned) & known.positions.keys() & place.keys()
        self._free = np.array([entry not in fixed for entry in ids])
        held = [entry for entry in ids if entry in known.positions]
        self._warm = len(held) >= KNOWN_ENOUGH * len(ids)
        self.anchored = bool(self._warm or fixed)
        self._size = AREA * math.sqrt(len(ids) / (2 * math.pi))
        if self._warm:
            self.at = _beside_neighbours(found, ids, known.positions)
        else:
            self.at = _by_community(found, ids)
            if fixed:
                middle = np.array([known.positions[entry] for entry in fixed], dtype=np.float32).mean(axis=0)
                self.at += middle - self.at.mean(axis=0)
            for entry in fixed:
                self.at[place[entry]] = known.positions[entry]

    def settle(self, work: _LayoutProgress) -> None:
        """Let the forces work, then push apart what overlaps."""
        size = len(self.at)
        steps = int(min(max(_WORK / size**2, _FEWEST), _MOST))
        steps = steps // 3 if self._warm else steps
        apart = max(12, steps // 8)
        hottest = SPACING * (0.1 if self._warm else 2.0)
        for step in range(steps + apart):
            work.step(size**2 / (steps + apart))
            if step < steps:
                cold = 1 - step / steps
                move = self._force()
                length = np.sqrt((move**2).sum(axis=1, keepdims=True)) + 1e-6
                move *= np.minimum(1, hottest * cold**1.5 / length)
            else:
                move = self._collisions()
            self.at += move * self._free[:, None]
            if step < steps:
                self._keep_size()

    def lie_down(self) -> None:
        """Turn the body so that it is wider than tall, as windows are."""
        self.at -= self.at.mean(axis=0)
        _values, axes = np.linalg.eigh(np.cov(self.at.T.astype(np.float64)))
        long, short = axes[:, 1], axes[:, 0]
        turn = np.stack([long * (1 if long[0] >= 0 else -1), short * (1 if short[1] >= 0 else -1)], axis=1)
        self.at = (self.at @ turn).astype(np.float32)

    def _keep_size(self) -> None:
        """Push harder while the body is smaller than its nodes need, and less while it is larger."""
        away = self.at - self.at.mean(axis=0)
        wide = math.sqrt(float((away**2).sum(axis=1).mean())) or 1.0
        self._push *= np.float32(min(max(self._size / wide, 0.9), 1.1) ** 0.5)

    def _force(self) -> Floats:
        """The sum of all forces on each node, as a step at full speed."""
        at, mass = self.at, self._mass
        total = np.empty_like(at)
        for rows, dx, dy, share in self._blocks():
            np.maximum(share, 36.0, out=share)
            np.divide(mass[None, :], share, out=share)
            total[rows, 0] = np.einsum("ij,ij->i", dx, share)
            total[rows, 1] = np.einsum("ij,ij->i", dy, share)
        total *= self._push * mass[:, None]
        way = at[self._second] - at[self._first]
        length = np.sqrt((way**2).sum(axis=1)) + 1e-3
        pull = way * (self._pull * np.sqrt(length / SPACING) * SPACING / length)[:, None]
        np.add.at(total, self._first, pull)
        np.subtract.at(total, self._second, pull)
        middle = at.mean(axis=0)
        total -= (at - middle) * (self._gravity * mass[:, None])
        return total

    def _collisions(self) -> Floats:
        """How far each node moves away from those that it overlaps."""
        radius = self._radius
        total = np.empty_like(self.at)
        for rows, dx, dy, share in self._blocks():
            distance = np.sqrt(np.maximum(share, 0.25))
            overlap = radius[rows, None] + radius[None, :] + _PADDING - distance
            np.maximum(overlap, 0, out=overlap)
            overlap *= 0.45 / distance
            total[rows, 0] = np.einsum("ij,ij->i", dx, overlap)
            total[rows, 1] = np.einsum("ij,ij->i", dy, overlap)
        return total

    def _blocks(self) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Some rows at a time: how far each of their nodes lies from all, in x and y and squared.

        Blocks that fit into the processor's cache are three times as fast as one for all.
        """
        x, y = np.ascontiguousarray(self.at.T)
        size = max(8, _CACHED // len(x))
        for begin in range(0, len(x), size):
            rows = slice(begin, begin + size)
            dx, dy = x[rows, None] - x[None, :], y[rows, None] - y[None, :]
            square = dx * dx
            square += dy * dy
            yield rows, dx, dy, square


def _by_community(found: GraphStudy, ids: Sequence[int]) -> Floats:
    """Communities where networkx puts their graph, and in each the members as a sunflower has its seeds."""
    import networkx as nx

    groups = sorted({found.community_of[entry] for entry in ids})
    between = nx.Graph()
    between.add_nodes_from(groups)
    for entry in ids:
        for edge in found.graph.outgoing.get(entry, ()):
            first, second = found.community_of[edge.source], found.community_of[edge.target]
            if first != second:
                between.add_edge(first, second)
    wide = AREA * 0.4 * math.sqrt(len(ids))
    if 1 < len(groups) <= _GROUPS_BY_FORCE:
        centres = nx.spring_layout(between, weight=None, seed=SEED, scale=wide)
    else:
        centres = {group: _seed_of(place, wide / math.sqrt(len(groups))) for place, group in enumerate(groups)}
    order = {entry: place for group in groups for place, entry in enumerate(found.communities[group].members)}
    made = []
    for entry in ids:
        x, y = centres[found.community_of[entry]]
        dx, dy = _seed_of(order[entry], SPACING * 0.5)
        made.append((x + dx, y + dy))
    return np.array(made, dtype=np.float32)


def _pack(loose: Sequence[Mapping[int, Point]], where: dict[int, Point]) -> None:
    """Put parts into rows, the largest first, below what has its place."""
    boxes = [_box(part) for part in loose]
    space = sum((right - left + SPACING) * (low - high + SPACING) for left, high, right, low in boxes)
    widest = max([right - left for left, _high, right, _low in boxes] + [1.5 * math.sqrt(space)], default=0.0)
    left_edge, _top, _right, bottom = _box(where) if where else (-widest / 2, 0.0, 0.0, -SPACING)
    x, y, tallest = 0.0, bottom + SPACING, 0.0
    rows: list[list[tuple[Mapping[int, Point], float, float, float]]] = [[]]
    for part, (left, high, right, low) in zip(loose, boxes, strict=True):
        if rows[-1] and (x + right - left > widest or low - high < tallest / 3):
            rows.append([])
            x, y, tallest = 0.0, y + tallest + SPACING, 0.0
        rows[-1].append((part, x - left, y - high, x + right - left))
        x, tallest = x + right - left + SPACING, max(tallest, low - high)
    for row in rows:
        for part, dx, dy, _end in row:
            shift = left_edge + dx + (widest - row[-1][3]) / 2
            where.update({entry: (px + shift, py + dy) for entry, (px, py) in part.items()})


def _box(where: Mapping[int, Point]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _y in where.values()], [y for _x, y in where.values()]
    return min(xs), min(ys), max(xs), max(ys)


def _seed_of(place: int, spacing: float) -> Point:
    distance = spacing * math.sqrt(place)
    return distance * math.cos(place * _TURN), distance * math.sin(place * _TURN)


def _beside_neighbours(found: GraphStudy, ids: Sequence[int], known: Mapping[int, Point]) -> Floats:
    """Known positions, and beside its known neighbours a place for each new node."""
    where = {entry: known[entry] for entry in ids if entry in known}
    for number, entry in enumerate(ids):
        if entry not in known:
            near = [known[other] for other in found.graph.neighbours[entry] if other in known]
            x = sum(point[0] for point in near) / len(near) if near else 0.0
            y = sum(point[1] for point in near) / len(near) if near else 0.0
            dx, dy = _seed_of(1 + number % 7, SPACING * 0.4)
            where[entry] = (x + dx, y + dy)
    return np.array([where[entry] for entry in ids], dtype=np.float32)


def _grid(orphans: Sequence[int], where: Mapping[int, Point]) -> Mapping[int, Point]:
    """Entries without an edge in rows below everything else."""
    if not orphans:
        return {}
    left = min((x for x, _y in where.values()), default=0.0)
    right = max((x for x, _y in where.values()), default=0.0)
    low = max((y for _x, y in where.values()), default=-2 * SPACING)
    columns = max(math.ceil(math.sqrt(len(orphans) * 3)), int((right - left) * 0.8 / ORPHAN_SPACING))
    columns = min(columns, len(orphans))
    begin = (left + right) / 2 - (columns - 1) * ORPHAN_SPACING / 2
    return {
        entry: (begin + place % columns * ORPHAN_SPACING, low + 2 * SPACING + place // columns * ORPHAN_SPACING)
        for place, entry in enumerate(orphans)
    }


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
            return _read(read_whole(path))
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
    """How a graph is wanted: with the entries that say `graph: false`, although it is large, laid out from nothing.

    `by` has the graph tell, too, what wakes what as that system decides.
    """

    everything: bool = False
    large: bool = False
    fresh: bool = False
    by: Deciding | None = None


class PreparedGraph(Struct, frozen=True):
    """A graph that was looked at. `positions` are by entry id, None while or because there are none.

    `problem` says what was wrong with the saved positions, `silence` why no entry wakes another one, where that is
    asked.
    """

    found: GraphStudy = field(default_factory=lambda: GraphStudy(NoteGraph()))
    positions: dict[int, Point] | None = None
    pinned: frozenset[int] = frozenset()
    problem: str = ""
    silence: str = ""

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


def drawn_places(project: Project) -> tuple[str, ...]:
    """By what the layout of its graph is kept: where the vaults are, or the lorebooks that stand in their place."""
    return project.places or tuple(book.place for book in project.books)


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
    with stoppable(cancel):
        finder = wish.by.wakes(project.scene()) if wish.by is not None else None
        graph = build_graph(index, finder, everything=wish.everything)
        found = study(graph, index.entries, alpha=settings.graph_edge_filter_alpha)
    saved = store.load(drawn_places(project))
    known = {entry: saved.positions[node.key] for entry, node in graph.nodes.items() if node.key in saved.positions}
    pinned = frozenset(entry for entry, node in graph.nodes.items() if node.key in saved.pinned)
    silence = wish.by.silence(finder) if wish.by is not None and finder is not None else ""
    first = PreparedGraph(found, None, pinned, saved.problem, silence)
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
