"""Small indexes for the tests of the graph: entries by title, connected as the test says."""

from __future__ import annotations

from typing import Any

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.studio.graph.graph import EdgeKind, NoteGraph, build_graph


def index_of(*entries: dict[str, Any]) -> VaultIndex:
    """Entries in order; each is given as what differs from a plain note of vault `v` named like its title."""
    made = []
    for place, values in enumerate(entries):
        title = values["title"]
        made.append(Entry(place, **{"filename": f"{title}.md", "vault": "v", "content": "", **values}))
    return VaultIndex(tuple(made), vaults=("v",))


def linked(links: dict[str, str]) -> VaultIndex:
    """Notes whose titles are single letters; `{"a": "bc"}`: a links to b and c."""
    titles = sorted({*links, *"".join(links.values())})
    return index_of(*({"title": title, "resolved_links": tuple(links.get(title, ""))} for title in titles))


def clusters(groups: int, size: int, *joins: tuple[int, int]) -> VaultIndex:
    """Groups in which every entry links to every other; `joins` are links between entries of different groups."""
    entries = []
    for place in range(groups * size):
        group = place // size
        links = [f"n{other:03}" for other in range(group * size, (group + 1) * size) if other != place]
        links += [f"n{second:03}" for first, second in joins if first == place]
        entries.append({"title": f"n{place:03}", "resolved_links": tuple(links)})
    return index_of(*entries)


def edges(graph: NoteGraph) -> set[tuple[str, str, str]]:
    """The edges as source, kind and target."""
    nodes = graph.nodes
    return {(nodes[edge.source].title, edge.kind.value, nodes[edge.target].title) for edge in graph.edges}


__all__ = ["EdgeKind", "build_graph", "clusters", "edges", "index_of", "linked"]
