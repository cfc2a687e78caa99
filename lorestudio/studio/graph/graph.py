"""How the entries of a vault refer to each other: a graph with typed, directed, weighted edges.

The facts are DeepLore's (rules: deeplore-tools 3.8). Where its graph loses something, this one does not: edges
keep their direction, so that circles can be found, and entries are told apart by file, not by title. The weight of an
edge is how often the texts of both mention each other. What recursion wakes, which is no reference, a system tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from msgspec import Struct

from lorestudio.domain.automaton import WordFinder, automaton_of
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.javascript import fold
from lorestudio.domain.lifecycle import heed, heeding
from lorestudio.domain.records import grouped
from lorestudio.studio.notes.book_entries import ranked_by_order
from lorestudio.systems.base import WakeFinder

if TYPE_CHECKING:
    import networkx as nx

_Key = TypeVar("_Key")
_Item = TypeVar("_Item")

LEAST_NAME: Final = 2
"""Shorter names are found everywhere and say nothing."""

WHOLE_WORD_UP_TO: Final = 3
"""Names of up to so many characters count only where they stand as a word."""


def mentions(entries: Sequence[Entry], partners: Mapping[int, AbstractSet[int]]) -> Mapping[tuple[int, int], int]:
    """How often the content of an entry holds the title or a key of another, by (entry, other); only for `partners`.

    All names of all entries are looked for in one pass over each text, in any case. Where names of one entry overlap
    (a title and a key that is a part of it), the first and longest counts. Raises Cancelled.
    """
    automaton = _automaton(entry for entry in entries if entry.id in partners)
    if automaton is None:
        return {}
    counts: dict[tuple[int, int], int] = {}
    for entry in entries:
        heed()
        wanted = partners.get(entry.id)
        if wanted:
            for other, spans in _hits(automaton, fold(entry.content), wanted).items():
                counts[entry.id, other] = _apart(spans)
    return counts


def _automaton(entries: Iterable[Entry]) -> WordFinder | None:
    owners: dict[str, AbstractSet[int]] = {}
    for entry in heeding(entries):
        alone = frozenset((entry.id,))  # one for all names of the entry: most have no other owner, and sets are large
        for name in (entry.title, *entry.keys):
            folded = fold(name.strip())
            if len(folded) >= LEAST_NAME:
                known = owners.setdefault(folded, alone)
                if isinstance(known, set):
                    known.add(entry.id)
                elif known is not alone:
                    owners[folded] = {*known, entry.id}
    return automaton_of({name: (len(name), frozenset(ids)) for name, ids in owners.items()})


def _hits(automaton: WordFinder, text: str, wanted: AbstractSet[int]) -> Mapping[int, list[tuple[int, int]]]:
    """Where names of the wanted entries stand in the text, as (start, end)."""
    found: dict[int, list[tuple[int, int]]] = {}
    for last, (size, owners) in automaton.iter(text):
        here = owners & wanted
        if here:
            span = (last + 1 - size, last + 1)
            if size > WHOLE_WORD_UP_TO or _is_word(text, *span):
                for owner in here:
                    found.setdefault(owner, []).append(span)
    return found


def _is_word(text: str, start: int, end: int) -> bool:
    return not (start and _in_word(text[start - 1])) and not (end < len(text) and _in_word(text[end]))


def _in_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def _apart(spans: list[tuple[int, int]]) -> int:
    """How many spans are left when of overlapping ones the first and longest counts."""
    count, reached = 0, 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= reached:
            count, reached = count + 1, end
    return count


class NodeKind(StrEnum):
    """What sort of entry a node is; of several that hold, the first."""

    GUIDE = "guide"
    CONSTANT = "constant"
    SEED = "seed"
    BOOTSTRAP = "bootstrap"
    REGULAR = "regular"


class EdgeKind(StrEnum):
    """What an edge says of its source: it links to, requires, excludes, brings along or wakes its target."""

    LINK = "link"
    REQUIRES = "requires"
    EXCLUDES = "excludes"
    CASCADE = "cascade"
    WAKES = "wakes"


ALL_KINDS: Final = frozenset(EdgeKind)
PLENTIFUL: Final = frozenset({EdgeKind.LINK, EdgeKind.WAKES})
"""Kinds of which there may be so many that they hide the others."""


class GraphNode(Struct, frozen=True):
    """An entry. `entry` is its id in the index, `key` what it is known by from one index to the next.

    `by_order`: the priority is a lorebook's order, the highest first.
    """

    entry: int
    key: str
    title: str
    kind: NodeKind
    priority: float
    by_order: bool = False


class Edge(Struct, frozen=True):
    """One typed relation between two entries, given by their ids.

    `weight` is at least 1: how often the texts of the two mention each other, both ways together. `key` is the one by
    which the source wakes the target.
    """

    source: int
    target: int
    kind: EdgeKind
    weight: int = 1
    key: str = ""

    @property
    def pair(self) -> tuple[int, int]:
        """Both ends, the lower id first."""
        return pair(self.source, self.target)


def pair(first: int, second: int) -> tuple[int, int]:
    """Two ids as the key of what connects them in either direction."""
    return (first, second) if first < second else (second, first)


class NoteGraph(Struct, frozen=True, dict=True):
    """Nodes by entry id in index order, and edges by source, target and kind; `hidden` counts entries left out."""

    nodes: Mapping[int, GraphNode] = {}
    edges: tuple[Edge, ...] = ()
    hidden: int = 0

    @cached_property
    def outgoing(self) -> Mapping[int, Sequence[Edge]]:
        """The edges that begin at each node."""
        return grouped((edge.source, edge) for edge in self.edges)

    @cached_property
    def incoming(self) -> Mapping[int, Sequence[Edge]]:
        """The edges that end at each node."""
        return grouped((edge.target, edge) for edge in self.edges)

    @cached_property
    def neighbours(self) -> Mapping[int, tuple[int, ...]]:
        """The nodes that each node is connected with by any edge, in index order."""
        return neighbours(self.nodes, self.edges)

    def edges_of(self, entry: int) -> tuple[Edge, ...]:
        """All edges of a node: those that begin there first."""
        return (*self.outgoing.get(entry, ()), *self.incoming.get(entry, ()))

    def only(self, kinds: Collection[EdgeKind]) -> NoteGraph:
        """The same nodes with the edges of these kinds."""
        if set(kinds) >= ALL_KINDS:
            return self
        return NoteGraph(self.nodes, tuple(edge for edge in self.edges if edge.kind in kinds), self.hidden)


def build_graph(index: VaultIndex, finder: WakeFinder | None = None, *, everything: bool = False) -> NoteGraph:
    """The graph of an index, without the entries that say `graph: false` unless `everything` is asked for.

    A reference names a title, so it leads to every entry that has it, whatever its case (rules: deeplore 1.13);
    an entry has no edge to itself. With a finder there is also what wakes what, where nothing stands in its way.
    Raises Cancelled.
    """
    shown = [entry for entry in index.entries if entry.graph or everything]
    by_title = grouped((entry.title.lower(), entry.id) for entry in shown)
    relations = {
        (entry.id, target, kind): ""
        for entry in heeding(shown)
        for kind, titles in _references(entry)
        for title in titles
        for target in by_title.get(title.lower(), ())
        if target != entry.id
    }
    ids = {entry.id for entry in shown}
    for wake in chain.from_iterable(map(finder.wakes, heeding(shown))) if finder is not None else ():
        if wake.target in ids and not wake.obstacle:
            relations[wake.source, wake.target, EdgeKind.WAKES] = wake.key
    partners: dict[int, set[int]] = {}
    for source, target, _kind in heeding(relations):
        partners.setdefault(source, set()).add(target)
        partners.setdefault(target, set()).add(source)
    heed()
    found = mentions(shown, partners)
    edges = sorted(relations.items(), key=lambda each: (each[0][0], each[0][1], _ORDER[each[0][2]]))
    return NoteGraph(
        {entry.id: _node(entry) for entry in heeding(shown)},
        tuple(
            Edge(source, target, kind, max(1, found.get((source, target), 0) + found.get((target, source), 0)), key)
            for (source, target, kind), key in heeding(edges)
        ),
        len(index.entries) - len(shown),
    )


def neighbours(nodes: Iterable[int], edges: Iterable[Edge]) -> Mapping[int, tuple[int, ...]]:
    """What each node is connected with by these edges, in index order."""
    found: dict[int, set[int]] = {entry: set() for entry in nodes}
    for edge in edges:
        found[edge.source].add(edge.target)
        found[edge.target].add(edge.source)
    return {entry: tuple(sorted(others)) for entry, others in found.items()}


class _Heeding(dict[_Key, _Item]):
    """Whoever looks something up in it heeds who waits (`stoppable`)."""

    def __getitem__(self, key: _Key) -> _Item:
        heed()
        return super().__getitem__(key)


@cache
def stoppable_graph() -> type[nx.Graph]:
    """The kind of graph whose algorithms raise Cancelled: those of networkx take half a minute for large vaults."""
    import networkx as nx

    class StoppableGraph(nx.Graph):  # type: ignore[misc]  # networkx tells no types
        node_dict_factory = adjlist_outer_dict_factory = _Heeding

    return StoppableGraph


def undirected(graph: NoteGraph) -> nx.Graph:
    """All nodes, and one weighted edge for each connected pair: what networkx's algorithms work on."""
    made = stoppable_graph()()
    made.add_nodes_from(graph.nodes)
    made.add_weighted_edges_from((edge.source, edge.target, edge.weight) for edge in graph.edges)
    return made


_ORDER: Final = {kind: place for place, kind in enumerate(EdgeKind)}


def _references(entry: Entry) -> tuple[tuple[EdgeKind, Sequence[str]], ...]:
    return (
        (EdgeKind.LINK, entry.resolved_links),
        (EdgeKind.REQUIRES, entry.requires),
        (EdgeKind.EXCLUDES, entry.excludes),
        (EdgeKind.CASCADE, entry.cascade_links),
    )


def _node(entry: Entry) -> GraphNode:
    flags = (
        (entry.guide, NodeKind.GUIDE),
        (entry.constant, NodeKind.CONSTANT),
        (entry.seed, NodeKind.SEED),
        (entry.bootstrap, NodeKind.BOOTSTRAP),
    )
    kind = next((kind for flag, kind in flags if flag), NodeKind.REGULAR)
    return GraphNode(
        entry.id, f"{entry.vault}:{entry.filename}", entry.title, kind, entry.priority, ranked_by_order(entry)
    )


Point: TypeAlias = tuple[float, float]
