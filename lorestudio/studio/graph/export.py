"""The relationship graph as data for other programs."""

from __future__ import annotations

from collections.abc import Mapping

from lorestudio.domain.javascript import Json
from lorestudio.studio.graph.analysis import Community, Gaps, GraphStudy
from lorestudio.studio.graph.graph import NoteGraph
from lorestudio.studio.graph.layout import Point


def graph_json(
    found: GraphStudy, fired: Mapping[int, int] | None = None, positions: Mapping[int, Point] | None = None
) -> dict[str, Json]:
    """Nodes, edges, communities and gaps; `id` is the entry's place in the index.

    `fired` is in how many generations each entry was injected. `x` and `y` are given where `positions` are.
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
        "missing": [
            {"first": found.first, "second": found.second, "shared": list(found.shared)} for found in gaps.missing
        ],
        "more_missing": gaps.more_missing,
        "too_common": list(gaps.too_common),
    }


def community_name(community: Community, graph: NoteGraph) -> str:
    """What a community is called: its tag, or the title of its best connected member."""
    return community.tag or graph.nodes[community.hub].title
