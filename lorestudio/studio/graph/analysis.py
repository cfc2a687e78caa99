"""What can be read from the relationship graph: groups, centrality, paths, and what seems to be missing; also as JSON.

Rules: deeplore-tools 3.8. Every answer is the same for the same graph; chance has a fixed seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import heed
from lorestudio.domain.records import picked
from lorestudio.studio.graph.graph import EdgeKind, NoteGraph, Point, pair, stoppable_graph, undirected

if TYPE_CHECKING:
    import networkx as nx

SEED: Final = 20_240_531
MISSING_LIMIT: Final = 50
"""So many missing connections are named (as in the original)."""

COMMON_FROM: Final = 60
"""A value that more entries share says nothing about two of them."""

_PIVOT_STEPS: Final = 600_000
_LEAST_PIVOTS: Final = 24


class Community(Struct, frozen=True):
    """Entries that are connected with each other more than with the rest; `members` begins with the best connected.

    `tag` is what most of them and few others are tagged with, "" where there is no such tag.
    """

    members: tuple[int, ...]
    tag: str = ""


class MissingConnection(Struct, frozen=True):
    """Two entries that share values of custom fields and no edge; `shared` holds `field: value`."""

    first: int
    second: int
    shared: tuple[str, ...]


class Gaps(Struct, frozen=True):
    """What seems to be missing.

    `orphans` have no edge; a bridge is the only connected pair between two communities; `circles` are chains of
    `requires` that come back to their beginning, so that none of their entries ever goes in alone. `missing` holds the
    rarest shared values first, at most `MISSING_LIMIT`; `more_missing` counts the others. `too_common` names values
    (`field: value`) that more than `COMMON_FROM` entries share, which are not looked at.
    """

    orphans: tuple[int, ...] = ()
    bridges: tuple[tuple[int, int], ...] = ()
    circles: tuple[tuple[int, ...], ...] = ()
    missing: tuple[MissingConnection, ...] = ()
    more_missing: int = 0
    too_common: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are of all kinds."""
        return len(self.orphans) + len(self.bridges) + len(self.circles) + len(self.missing)


class GraphStudy(Struct, frozen=True):
    """A graph with everything that was found out about it. `community_of` lacks entries without an edge.

    `centrality` is betweenness, 0 to 1, relative to the highest. `backbone` are the pairs that the disparity filter
    keeps.
    """

    graph: NoteGraph
    communities: tuple[Community, ...] = ()
    community_of: Mapping[int, int] = {}
    centrality: Mapping[int, float] = {}
    backbone: frozenset[tuple[int, int]] = frozenset()
    gaps: Gaps = field(default_factory=Gaps)


def study(graph: NoteGraph, entries: Sequence[Entry], *, alpha: float = 0.05) -> GraphStudy:
    """Everything about a graph of these entries. `alpha` is the disparity filter's (setting `graphEdgeFilterAlpha`).

    It heeds who waits for it (`stoppable`). Raises Cancelled.
    """
    flat = undirected(graph)
    central = centrality(flat)
    kept, connected = backbone(flat, alpha), _connected(flat)
    del flat  # the search for communities makes a copy, too, and each has a table for every node and edge
    groups = communities(graph, connected, entries)
    member_of = {entry: place for place, group in enumerate(groups) for entry in group.members}
    heed()
    return GraphStudy(graph, groups, member_of, central, kept, gaps(graph, entries, member_of))


def _connected(flat: nx.Graph) -> nx.Graph:
    """The entries that have an edge, in order: a subgraph view gives its nodes in the order of a set."""
    view = flat.subgraph([entry for entry in flat if flat.degree(entry)])
    ordered = stoppable_graph()()
    ordered.add_nodes_from(sorted(view))
    ordered.add_weighted_edges_from(sorted(view.edges(data="weight")))
    return ordered


def communities(graph: NoteGraph, connected: nx.Graph, entries: Sequence[Entry]) -> tuple[Community, ...]:
    """Louvain communities of the `connected` entries, largest first."""
    import networkx as nx

    parts: list[set[int]] = []
    if len(connected):
        for level in nx.community.louvain_partitions(connected, weight="weight", seed=SEED):
            parts = level
    rank = {entry: (-len(graph.neighbours[entry]), entry) for entry in graph.nodes}
    members = sorted((tuple(sorted(part, key=rank.__getitem__)) for part in parts), key=lambda part: (-len(part), part))
    tags = _tags(members, entries)
    return tuple(Community(part, tag) for part, tag in zip(members, tags, strict=True))


def _tags(parts: Sequence[tuple[int, ...]], entries: Sequence[Entry]) -> list[str]:
    """For each part a tag that two thirds of it, three at least, have and less than half of all; no tag twice."""
    everywhere = Counter(tag for entry in entries for tag in set(entry.tags))
    taken: set[str] = set()
    found = []
    for part in parts:
        own = Counter(tag for entry in part for tag in set(entries[entry].tags))
        fit = [
            tag
            for tag, count in own.items()
            if count >= max(3, 2 * len(part) / 3) and 2 * everywhere[tag] < len(entries)
        ]
        fit = [tag for tag in fit if tag not in taken]
        best = min(fit, key=lambda tag: (-own[tag], everywhere[tag], tag), default="")
        taken.add(best)
        found.append(best)
    return found


def centrality(flat: nx.Graph) -> Mapping[int, float]:
    """How often a node lies on shortest paths between others, 0 to 1; in large graphs estimated from some nodes."""
    import networkx as nx

    size = len(flat)
    if not flat.number_of_edges():
        return dict.fromkeys(flat, 0.0)
    pivots = max(_LEAST_PIVOTS, _PIVOT_STEPS // (size + flat.number_of_edges()))
    found = nx.betweenness_centrality(flat, k=None if pivots >= size else pivots, normalized=True, seed=SEED)
    most = max(found.values()) or 1.0
    return {entry: value / most for entry, value in found.items()}


def backbone(flat: nx.Graph, alpha: float) -> frozenset[tuple[int, int]]:
    """The connected pairs whose weight is remarkable for either end (disparity filter of Serrano et al.).

    For a node of degree k and strength s, an edge of weight w has p = (1 - w / s) ** (k - 1); it is kept where
    p < alpha at either end, or where an end has no other edge.
    """
    strength = dict(flat.degree(weight="weight"))
    degree = dict(flat.degree())
    kept = set()
    for first, second, weight in flat.edges(data="weight"):
        ends = ((degree[end], strength[end]) for end in (first, second))
        if any(k == 1 or (1 - weight / s) ** (k - 1) < alpha for k, s in ends):
            kept.add(pair(first, second))
    return frozenset(kept)


def local_graph(neighbours: Mapping[int, Sequence[int]], centre: int, depth: int) -> Mapping[int, int]:
    """The nodes within `depth` edges of a node in either direction, nearest first, with their distance."""
    found = {centre: 0}
    ring = [centre]
    for hops in range(1, depth + 1):
        ring = sorted({other for entry in ring for other in neighbours.get(entry, ())} - found.keys())
        found |= dict.fromkeys(ring, hops)
    return found


def shortest_path(graph: NoteGraph, start: int, end: int) -> tuple[int, ...]:
    """The fewest steps from one node to another along edges of any kind and direction, () where there is no way."""
    import networkx as nx

    try:
        return tuple(nx.shortest_path(undirected(graph), start, end))
    except nx.NetworkXNoPath:
        return ()


def gaps(graph: NoteGraph, entries: Sequence[Entry], community_of: Mapping[int, int]) -> Gaps:
    """What seems to be missing in a graph of these entries."""
    missing, common = _missing(graph, entries)
    orphans = tuple(entry for entry, others in graph.neighbours.items() if not others)
    shown, more = tuple(missing[:MISSING_LIMIT]), max(0, len(missing) - MISSING_LIMIT)
    return Gaps(orphans, _bridges(graph, community_of), circles(graph), shown, more, common)


def circles(graph: NoteGraph) -> tuple[tuple[int, ...], ...]:
    """One circle of `requires` for each knot of entries that require each other, beginning with the lowest id."""
    import networkx as nx

    directed = nx.DiGraph()
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges if edge.kind is EdgeKind.REQUIRES)
    found = []
    for knot in nx.strongly_connected_components(directed):
        if len(knot) > 1:
            first = min(knot)
            inside = directed.subgraph(knot)
            ways = [nx.shortest_path(inside, other, first) for other in sorted(inside.successors(first))]
            found.append((first, *min(ways, key=len)[:-1]))
    return tuple(sorted(found))


def _bridges(graph: NoteGraph, community_of: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    between: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for edge in graph.edges:
        first, second = community_of[edge.source], community_of[edge.target]
        if first != second:
            between.setdefault(pair(first, second), set()).add(edge.pair)
    return tuple(sorted(next(iter(pairs)) for pairs in between.values() if len(pairs) == 1))


def _missing(graph: NoteGraph, entries: Sequence[Entry]) -> tuple[list[MissingConnection], tuple[str, ...]]:
    """Unconnected pairs that share a value, those with the rarest values first; and the values left out."""
    holders: dict[tuple[str, str], list[int]] = {}
    for entry in graph.nodes:
        for name, value in entries[entry].custom_fields.items():
            for item in dict.fromkeys(_values(value)):
                holders.setdefault((name, item), []).append(entry)
    shared: dict[tuple[int, int], list[tuple[float, str]]] = {}
    common = []
    for (name, item), group in sorted(holders.items()):
        if len(group) > COMMON_FROM:
            common.append(f"{name}: {item}")
            continue
        for first, second in combinations(group, 2):
            if second not in graph.neighbours[first]:
                shared.setdefault((first, second), []).append((1 / (len(group) - 1), f"{name}: {item}"))
    ranked = sorted(shared.items(), key=lambda found: (-sum(rarity for rarity, _ in found[1]), found[0]))
    made = [
        MissingConnection(first, second, tuple(text for _rarity, text in sorted(values, key=lambda value: -value[0])))
        for (first, second), values in ranked
    ]
    return made, tuple(common)


def _values(value: Json) -> list[str]:
    """The texts of a custom field's value, in lower case; empty ones and switches say nothing."""
    if isinstance(value, str):
        return [value.strip().lower()] if value.strip() else []
    if isinstance(value, Sequence):
        return [text for item in value for text in _values(item)]
    return [] if value is None or isinstance(value, bool | Mapping) else [str(value)]


def graph_json(
    found: GraphStudy, fired: Mapping[int, int] | None = None, positions: Mapping[int, Point] | None = None
) -> dict[str, Json]:
    """Nodes, edges, communities and gaps; `id` is the entry's place in the index.

    `fired` is in how many generations each entry was injected. `x` and `y` are given where `positions` are, and `key`
    where an entry wakes another by it.
    """
    graph = found.graph
    nodes: list[Json] = []
    for entry, node in graph.nodes.items():
        values: dict[str, Json] = {
            "id": entry,
            "title": node.title,
            "file": node.key,
            "kind": node.kind.value,
            "priority": node.priority,
            "connections": len(graph.neighbours[entry]),
            "community": found.community_of.get(entry),
            "centrality": round(found.centrality.get(entry, 0.0), 4),
        }
        if fired is not None:
            values["fired"] = fired.get(entry, 0)
        if positions is not None and entry in positions:
            values["x"], values["y"] = (round(value, 1) for value in positions[entry])
        nodes.append(values)
    return {
        "nodes": nodes,
        "edges": [
            {"source": edge.source, "target": edge.target, "kind": edge.kind.value, "weight": edge.weight}
            | ({"key": edge.key} if edge.key else {})
            for edge in graph.edges
        ],
        "communities": [
            {"name": community_name(group, graph), "members": list(group.members)} for group in found.communities
        ],
        "gaps": gaps_json(found.gaps),
    }


def gaps_json(gaps: Gaps) -> dict[str, Json]:
    """What seems to be missing."""
    return {
        "orphans": list(gaps.orphans),
        "bridges": [list(ends) for ends in gaps.bridges],
        "circles": [list(circle) for circle in gaps.circles],
        "missing": [picked(found, "first", "second") | {"shared": list(found.shared)} for found in gaps.missing],
        "more_missing": gaps.more_missing,
        "too_common": list(gaps.too_common),
    }


def community_name(community: Community, graph: NoteGraph) -> str:
    """What a community is called: its tag, or the title of its best connected member."""
    return community.tag or graph.nodes[community.members[0]].title
