from __future__ import annotations

import math
import tracemalloc

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, stoppable
from lorestudio.domain.records import grouped
from lorestudio.studio.graph.analysis import (
    COMMON_FROM,
    MISSING_LIMIT,
    MissingConnection,
    backbone,
    centrality,
    communities,
    community_name,
    graph_json,
    local_graph,
    shortest_path,
    study,
)
from lorestudio.studio.graph.graph import EdgeKind, NodeKind, build_graph, mentions, undirected
from lorestudio.systems.base import Wake, WakeFinder
from tests.conftest import LaterStop
from tests.studio.graphs import clusters, edges, index_of, linked


def found_in(index):
    return study(build_graph(index), index.entries)


# ---- model ----------------------------------------------------------------------------------------------------------


def test_edges_are_typed_and_keep_their_direction() -> None:
    index = index_of(
        {"title": "A", "resolved_links": ("B", "B"), "requires": ("b",), "excludes": ("C",)},
        {"title": "B", "requires": ("A",), "cascade_links": ("C",)},
        {"title": "C"},
    )
    graph = build_graph(index)
    assert edges(graph) == {
        ("A", "link", "B"),
        ("A", "requires", "B"),
        ("B", "requires", "A"),
        ("A", "excludes", "C"),
        ("B", "cascade", "C"),
    }
    assert len(graph.edges) == 5  # the second link to B is none of its own
    assert graph.neighbours == {0: (1, 2), 1: (0, 2), 2: (0, 1)}
    assert [edge.target for edge in graph.outgoing[0]] == [1, 1, 2]
    assert {edge.source for edge in graph.edges_of(2)} == {0, 1}


def test_entries_that_say_graph_false_are_left_out_unless_all_are_wanted() -> None:
    index = index_of({"title": "A", "resolved_links": ("B",)}, {"title": "B", "graph": False})
    graph = build_graph(index)
    assert (set(graph.nodes), graph.edges, graph.hidden) == ({0}, (), 1)
    every = build_graph(index, everything=True)
    assert (edges(every), every.hidden) == ({("A", "link", "B")}, 0)


class Told(WakeFinder):
    """Who wakes whom, as the test says."""

    def __init__(self, index, *wakes: Wake) -> None:
        super().__init__(index)
        self.found = grouped((wake.source, wake) for wake in wakes)

    def wakes(self, entry):
        return tuple(self.found.get(entry.id, ()))


def test_what_wakes_what_stands_beside_references_where_nothing_is_in_the_way() -> None:
    index = index_of(
        {"title": "A", "resolved_links": ("B",), "content": "A bell."}, {"title": "B"}, {"title": "C", "graph": False}
    )
    finder = Told(index, Wake(0, 1, "bell"), Wake(0, 2, "bell"), Wake(1, 0, "fog", obstacle="same_group"))
    graph = build_graph(index, finder)
    assert edges(graph) == {("A", "link", "B"), ("A", "wakes", "B")}
    assert [edge.key for edge in graph.edges] == ["", "bell"]
    assert edges(build_graph(index, finder, everything=True)) - edges(graph) == {("A", "wakes", "C")}
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), stoppable(token):
        build_graph(index, finder)


def test_of_several_kinds_the_first_counts() -> None:
    index = index_of(
        {"title": "A", "constant": True, "seed": True},
        {"title": "B", "seed": True, "bootstrap": True},
        {"title": "C", "bootstrap": True},
        {"title": "D"},
        {"title": "E", "guide": True, "constant": True},
    )
    kinds = [node.kind for node in build_graph(index).nodes.values()]
    assert kinds == [NodeKind.CONSTANT, NodeKind.SEED, NodeKind.BOOTSTRAP, NodeKind.REGULAR, NodeKind.GUIDE]


def test_a_title_that_two_vaults_have_leads_to_both_and_nobody_to_itself() -> None:
    index = index_of(
        {"title": "A", "resolved_links": ("Twin",), "requires": ("A",)},
        {"title": "Twin"},
        {"title": "twin", "vault": "w", "filename": "Twin.md"},
    )
    graph = build_graph(index)
    assert [(edge.source, edge.target) for edge in graph.edges] == [(0, 1), (0, 2)]
    assert [node.key for node in graph.nodes.values()] == ["v:A.md", "v:Twin.md", "w:Twin.md"]


@pytest.mark.parametrize(
    ("first", "second", "weight"),
    [
        ("Nothing here.", "Nor here.", 1),
        ("The Crown, the crown and Skarn.", "The dragon sleeps.", 3),  # its own name in a text is no mention
        ("", "A dragonfly, dragonflies: long names count inside words.", 2),
        ("The ox and the oxen; OX! foxes", "", 2),  # short ones do not
        ("x x x", "", 1),  # one letter is no name
    ],
)
def test_a_weight_is_how_often_both_mention_each_other(first: str, second: str, weight: int) -> None:
    index = index_of(
        {"title": "Skarn", "keys": ("dragon",), "content": first, "resolved_links": ("Crown",)},
        {"title": "Crown", "keys": ("ox", "x"), "content": second},
    )
    (edge,) = build_graph(index).edges
    assert edge.weight == weight


def test_overlapping_names_of_one_entry_count_once() -> None:
    index = index_of(
        {"title": "A", "content": "Skarn the Grey flew. Skarn fell.", "resolved_links": ("Skarn the Grey",)},
        {"title": "Skarn the Grey", "keys": ("Skarn", "Grey")},
    )
    assert build_graph(index).edges[0].weight == 2


def test_building_can_be_stopped() -> None:
    token, titles = LaterStop(), [f"title {number}" for number in range(20)]
    with stoppable(token):
        build_graph(index_of(*({"title": title} for title in titles)))
    assert token.looks > 2 * len(titles), "at references and at nodes"
    token.cancel()
    with pytest.raises(Cancelled), stoppable(token):
        build_graph(linked({"a": "b"}))


def test_what_is_found_out_about_a_graph_can_be_stopped_at_every_node_of_every_search() -> None:
    size = 40
    index = clusters(5, size // 5)
    graph = build_graph(index)
    flat = undirected(graph)
    whole, level = LaterStop(), LaterStop()
    with stoppable(whole):
        assert len(centrality(flat)) == size
    assert whole.looks >= size * (size // 5), "at each node that is reached from each"
    with stoppable(level):
        assert communities(graph, flat, index.entries)
    assert level.looks >= 2 * size, "at each node, and whenever one joins another"
    for work in (centrality, lambda flat: communities(graph, flat, index.entries)):
        impatient = LaterStop(size)
        with stoppable(impatient), pytest.raises(Cancelled):
            work(flat)
        assert impatient.looks == size + 1


# ---- communities, centrality, backbone ------------------------------------------------------------------------------


def test_dense_groups_are_communities_and_the_only_link_between_them_a_bridge() -> None:
    index = clusters(3, 5, (0, 5), (5, 10), (6, 11))
    found = found_in(index)
    parts = {frozenset(group.members) for group in found.communities}
    assert parts == {frozenset(range(5)), frozenset(range(5, 10)), frozenset(range(10, 15))}
    assert found.gaps.bridges == ((0, 5),)  # the other two groups are joined twice
    assert found.community_of[7] == found.community_of[5] != found.community_of[0]
    assert found.gaps.orphans == ()


def test_a_community_is_named_after_a_tag_of_its_own_or_its_best_connected_member() -> None:
    index = index_of(
        {"title": "Hub", "resolved_links": ("B", "C"), "tags": ("lore", "harbour")},
        {"title": "B", "tags": ("lore", "harbour")},
        {"title": "C", "tags": ("lore", "harbour")},
        {"title": "X", "tags": ("lore",)},
        {"title": "Y", "resolved_links": ("X", "Z"), "tags": ("lore",)},
        {"title": "Z", "tags": ("lore",)},
        {"title": "O", "tags": ("lore",)},
    )
    found = found_in(index)
    assert [community_name(group, found.graph) for group in found.communities] == ["harbour", "Y"]
    assert 6 not in found.community_of
    assert found.gaps.orphans == (6,)


def test_the_same_vault_gives_the_same_answers() -> None:
    index = clusters(6, 6, (0, 6), (7, 13), (14, 20), (21, 27), (28, 34), (35, 1))
    assert found_in(index) == found_in(index)


def test_whoever_lies_between_the_others_is_central() -> None:
    found = found_in(linked({"a": "b", "b": "c"}))
    assert found.centrality == {0: 0.0, 1: 1.0, 2: 0.0}


def test_the_backbone_keeps_what_is_remarkable_for_an_end() -> None:
    # A star whose middle has four edges of weight 1 and one of weight 96: p = (1 - 96/100)^4 < 0.05, but
    # (1 - 1/100)^4 > 0.05. Its leaves have two edges each, so that no end has only one.
    graph = build_graph(linked({"m": "abcde", "a": "b", "b": "c", "c": "d", "d": "e"}))
    flat = undirected(graph)
    middle = next(entry for entry, node in graph.nodes.items() if node.title == "m")
    for other in flat[middle]:
        flat[middle][other]["weight"] = 96 if other == 0 else 1
    for first, second in [(0, 1), (1, 2), (2, 3), (3, 4)]:
        flat[first][second]["weight"] = 1
    # For a: s = 97, k = 2, p(96) = 1/97 < 0.05, p(1) = 96/97. For the others s = 3 (k = 3) or 2 (k = 2): p >= 4/9.
    assert backbone(flat, 0.05) == {(0, middle)}
    assert len(backbone(flat, 1.1)) == flat.number_of_edges()


def test_an_end_with_one_edge_keeps_it() -> None:
    assert backbone(undirected(build_graph(linked({"a": "bcd"}))), 0.0001) == {(0, 1), (0, 2), (0, 3)}


# ---- surroundings and ways ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("depth", "wanted"), [(1, {"c": 0, "b": 1, "d": 1}), (2, {"c": 0, "b": 1, "d": 1, "a": 2, "e": 2})]
)
def test_a_local_graph_reaches_so_many_edges_in_both_directions(depth: int, wanted: dict[str, int]) -> None:
    graph = build_graph(linked({"a": "b", "b": "c", "c": "d", "d": "e", "e": "f"}))
    hops = local_graph(graph.neighbours, 2, depth)
    assert {graph.nodes[entry].title: away for entry, away in hops.items()} == wanted
    assert list(hops.values()) == sorted(hops.values())  # nearest first


def test_the_shortest_way_goes_against_the_direction_of_edges_too() -> None:
    graph = build_graph(linked({"a": "be", "c": "b", "d": "c", "e": "b", "x": "y"}))
    titles = {node.title: entry for entry, node in graph.nodes.items()}
    way = shortest_path(graph, titles["e"], titles["d"])
    assert [graph.nodes[entry].title for entry in way] == ["e", "b", "c", "d"]
    assert shortest_path(graph, titles["a"], titles["a"]) == (titles["a"],)
    assert shortest_path(graph, titles["a"], titles["x"]) == ()


def test_only_the_kinds_that_are_asked_for_connect() -> None:
    index = index_of({"title": "A", "resolved_links": ("B",), "requires": ("C",)}, {"title": "B"}, {"title": "C"})
    graph = build_graph(index).only({EdgeKind.REQUIRES})
    assert edges(graph) == {("A", "requires", "C")}
    assert graph.neighbours[1] == ()


# ---- gaps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requires", "wanted"),
    [
        ({"a": "b", "b": "a"}, [("a", "b")]),
        ({"a": "b", "b": "c", "c": "d", "d": "b"}, [("b", "c", "d")]),
        ({"a": "b", "b": "c"}, []),
        ({"a": "b", "b": "a", "x": "y", "y": "x"}, [("a", "b"), ("x", "y")]),
    ],
)
def test_circles_of_requires_are_found_at_any_length(requires: dict[str, str], wanted: list[tuple[str, ...]]) -> None:
    titles = sorted({*requires, *"".join(requires.values())})
    index = index_of(*({"title": title, "requires": tuple(requires.get(title, ""))} for title in titles))
    graph = build_graph(index)
    assert [tuple(graph.nodes[entry].title for entry in circle) for circle in found_in(index).gaps.circles] == wanted


def test_links_in_a_circle_are_no_circle_of_requires() -> None:
    assert found_in(linked({"a": "b", "b": "c", "c": "a"})).gaps.circles == ()


def test_unconnected_entries_that_share_a_value_may_miss_a_connection() -> None:
    index = index_of(
        {"title": "A", "custom_fields": {"era": "Flood", "location": ["Port", "Isle"], "secret": True}},
        {"title": "B", "custom_fields": {"era": "flood ", "location": "isle", "secret": True}},
        {"title": "C", "custom_fields": {"era": "flood"}, "resolved_links": ("A",)},
        {"title": "D", "custom_fields": {"era": ""}},
    )
    # The isle has two entries, the flood three: a rarer value says more. A and C are connected.
    assert found_in(index).gaps.missing == (
        MissingConnection(0, 1, ("location: isle", "era: flood")),
        MissingConnection(1, 2, ("era: flood",)),
    )


def test_missing_connections_are_bounded_and_what_is_left_out_is_said() -> None:
    few = index_of(*({"title": f"n{place}", "custom_fields": {"era": "dawn"}} for place in range(12)))
    gaps = found_in(few).gaps
    assert (len(gaps.missing), gaps.more_missing) == (MISSING_LIMIT, 12 * 11 // 2 - MISSING_LIMIT)
    many = index_of(*({"title": f"n{place}", "custom_fields": {"era": "dawn"}} for place in range(COMMON_FROM + 1)))
    gaps = found_in(many).gaps
    assert (gaps.missing, gaps.too_common) == ((), ("era: dawn",))


# ---- for others -----------------------------------------------------------------------------------------------------


def test_json_has_every_node_and_edge_with_what_is_known() -> None:
    index = index_of({"title": "A", "requires": ("B",), "constant": True, "priority": 20}, {"title": "B"})
    data = graph_json(found_in(index), {0: 3}, {0: (1.04, 2.0), 1: (0.0, math.pi)})
    assert data["edges"] == [{"source": 0, "target": 1, "kind": "requires", "weight": 1}]
    assert data["nodes"][0] == {
        "id": 0, "title": "A", "file": "v:A.md", "kind": "constant", "priority": 20, "connections": 1,
        "community": 0, "centrality": 0.0, "fired": 3, "x": 1.0, "y": 2.0,
    }  # fmt: skip
    assert data["communities"] == [{"name": "A", "members": [0, 1]}]


def test_an_empty_vault_has_an_empty_graph() -> None:
    found = found_in(index_of())
    assert (dict(found.graph.nodes), found.communities, found.gaps.count) == ({}, (), 0)


def test_names_of_one_entry_alone_share_what_says_so() -> None:
    index = index_of(*({"title": f"Title {n}", "keys": tuple(f"key {n} {k}" for k in range(9))} for n in range(500)))
    tracemalloc.start()
    found = mentions(index.entries, {entry.id: frozenset() for entry in index.entries})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == {}
    assert peak < 3_000 * len(index.entries)  # two sets for each name take that alone


def test_a_name_of_several_entries_mentions_all_of_them() -> None:
    index = index_of({"title": "A", "content": "The gate."}, *({"title": each, "keys": ("gate",)} for each in "BCD"))
    assert mentions(index.entries, {0: {1, 2, 3}, 1: {0}, 2: {0}, 3: {0}}) == {(0, 1): 1, (0, 2): 1, (0, 3): 1}
