from __future__ import annotations

import json
import math
import os
from itertools import combinations
from pathlib import Path

import pytest

from lorestudio.domain.lifecycle import Cancelled, CancelToken, Progress
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.graph import layout as preparing
from lorestudio.studio.graph.analysis import GraphStudy, local_graph, study
from lorestudio.studio.graph.graph import build_graph
from lorestudio.studio.graph.layout import (
    LARGEST,
    SMALLEST,
    GraphWish,
    LayoutStore,
    PreparedGraph,
    SavedLayout,
    Start,
    lay_out,
    prepare,
    radii,
    rings,
)
from lorestudio.studio.project.project import Project
from tests.studio.graphs import clusters, index_of, linked


def studied(index) -> GraphStudy:
    return study(build_graph(index), index.entries)


def distance(where, first: int, second: int) -> float:
    return math.dist(where[first], where[second])


def test_the_same_graph_gets_the_same_places() -> None:
    found = studied(clusters(4, 8, (0, 8), (8, 16), (16, 24)))
    assert lay_out(found) == lay_out(found)


def test_members_of_a_group_stand_nearer_to_each_other_than_to_other_groups() -> None:
    where = lay_out(studied(clusters(3, 8, (0, 8), (9, 16), (17, 1))))
    pairs = list(combinations(range(24), 2))
    inside = [distance(where, *ends) for ends in pairs if ends[0] // 8 == ends[1] // 8]
    between = [distance(where, *ends) for ends in pairs if ends[0] // 8 != ends[1] // 8]
    assert sum(inside) / len(inside) < 0.6 * sum(between) / len(between)


def test_no_two_nodes_cover_each_other() -> None:
    index = clusters(5, 10, (0, 10), (11, 20), (21, 30), (31, 40), (41, 1))
    found = studied(index)
    where = lay_out(found)
    wide = radii([len(others) for others in found.graph.neighbours.values()])
    for first, second in combinations(range(50), 2):
        assert distance(where, first, second) > 0.95 * (wide[first] + wide[second])


def test_radii_grow_with_the_connections() -> None:
    assert radii([0, 1, 4]) == [SMALLEST, (SMALLEST + LARGEST) / 2, LARGEST]
    assert radii([0, 0]) == [SMALLEST, SMALLEST]


def test_entries_on_their_own_stand_in_rows_below_the_rest() -> None:
    found = studied(linked({"a": "b", "b": "c", "d": "", "e": "", "f": ""}))
    where = lay_out(found)
    lowest = max(where[entry][1] for entry in (0, 1, 2))
    assert all(where[entry][1] > lowest for entry in (3, 4, 5))
    assert len({where[entry] for entry in (3, 4, 5)}) == 3


def test_parts_that_do_not_hang_together_do_not_overlap() -> None:
    where = lay_out(studied(linked({"a": "bcd", "e": "fg", "h": "i"})))
    boxes = []
    for part in ((0, 1, 2, 3), (4, 5, 6), (7, 8)):
        xs, ys = [where[entry][0] for entry in part], [where[entry][1] for entry in part]
        boxes.append((min(xs), max(xs), min(ys), max(ys)))
    for first, second in combinations(boxes, 2):
        assert first[1] < second[0] or second[1] < first[0] or first[3] < second[2] or second[3] < first[2]


def test_after_a_small_change_the_places_hardly_move() -> None:
    before = lay_out(studied(clusters(4, 8, (0, 8), (8, 16), (16, 24))))
    more = clusters(4, 8, (0, 8), (8, 16), (16, 24), (9, 25))
    after = lay_out(studied(more), Start(before))
    moved = sorted(math.dist(before[entry], after[entry]) for entry in before)
    extent = max(distance(before, *ends) for ends in combinations(before, 2))
    assert moved[len(moved) // 2] < extent / 8


def test_a_new_node_comes_beside_its_neighbours() -> None:
    before = {0: (0.0, 0.0), 1: (80.0, 0.0), 2: (500.0, 0.0), 3: (580.0, 0.0), 4: (290.0, 0.0)}
    found = studied(linked({"a": "be", "c": "d", "e": "c", "f": "d"}))
    after = lay_out(found, Start(before))
    assert distance(after, 5, 3) < distance(after, 5, 0)


def test_pinned_nodes_stay_exactly_where_they_are() -> None:
    found = studied(linked({"a": "bcd", "e": "f", "g": ""}))
    pins = {0: (1000.0, -500.0), 4: (-300.0, 40.0), 6: (7.0, 7.0)}
    where = lay_out(found, Start(pins, frozenset(pins)))
    assert {entry: where[entry] for entry in pins} == pins
    assert distance(where, 1, 0) < 400  # what hangs on a pin comes along


def test_a_layout_reports_and_can_be_stopped() -> None:
    found, seen = studied(clusters(2, 6, (0, 6))), []
    lay_out(found, report=seen.append)
    assert seen[-1] == Progress(100, 100)
    assert [news.done for news in seen] == sorted({news.done for news in seen})
    token = CancelToken()

    def stop(news: Progress) -> None:
        if news.done >= 10:
            token.cancel()

    with pytest.raises(Cancelled):
        lay_out(found, report=stop, cancel=token)


def test_rings_lie_further_out_with_every_step() -> None:
    found = studied(linked({"a": "bcd", "b": "ef", "e": "g"}))
    hops = local_graph(found.graph.neighbours, 0, 3)
    where = rings(found.graph.neighbours, hops, found.community_of)
    assert where[0] == (0.0, 0.0)
    far = {entry: math.hypot(*point) for entry, point in where.items()}
    assert far[1] == pytest.approx(far[2]) == pytest.approx(far[3])
    assert 0 < far[1] < far[4] < far[6]
    assert len({(round(x, 3), round(y, 3)) for x, y in where.values()}) == 7
    assert rings({0: ()}, {0: 0}, {}) == {0: (0.0, 0.0)}


# ---- kept places ----------------------------------------------------------------------------------------------------


def test_places_and_pins_survive_in_a_file(tmp_path: Path) -> None:
    layout = SavedLayout({"v:A.md": (1.5, -2.0), "v:ż.md": (0.0, 0.0)}, frozenset({"v:A.md"}))
    LayoutStore(tmp_path / "graphs").save(["/vault"], layout)
    assert LayoutStore(tmp_path / "graphs").load(["/vault"]) == layout
    assert LayoutStore(tmp_path / "graphs").load(["/other"]) == SavedLayout()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2}', '{"version": 1, "positions": {"a": [1]}, "pinned": []}', '{"version": 1}']
)
def test_a_damaged_file_is_told_and_costs_only_the_places(tmp_path: Path, text: str) -> None:
    store = LayoutStore(tmp_path)
    store.save(["/vault"], SavedLayout({"v:A.md": (1.0, 1.0)}))
    (file,) = tmp_path.iterdir()
    file.write_text(text, encoding="utf-8")
    found = store.load(["/vault"])
    assert found.positions == {}
    assert str(file) in found.problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path)
    store.save(["/vault"], SavedLayout())
    (file,) = tmp_path.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert str(file) in store.load(["/vault"]).problem


def test_without_a_folder_places_are_remembered_and_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = LayoutStore()
    store.save(["/vault"], SavedLayout({"v:A.md": (1.0, 1.0)}))
    assert store.load(["/vault"]).positions == {"v:A.md": (1.0, 1.0)}
    assert list(tmp_path.iterdir()) == []


# ---- preparing ------------------------------------------------------------------------------------------------------


def project(index) -> Project:
    return Project((None,), index, DeepLoreSettings(), places=("/vault",))


def prepared(index, store: LayoutStore, **wish: bool) -> tuple[PreparedGraph, list]:
    news: list = []
    return prepare(project(index), store, GraphWish(**wish), news.append, CancelToken()), news


def test_what_is_known_is_told_before_the_layout_begins() -> None:
    made, news = prepared(linked({"a": "b", "b": "c"}), LayoutStore())
    assert isinstance(news[0], PreparedGraph)
    assert news[0].positions is None
    assert isinstance(news[1], Progress)
    assert made.positions is not None
    assert made.positions.keys() == {0, 1, 2}


def test_kept_places_are_taken_as_they_are() -> None:
    store = LayoutStore()
    kept = {f"v:{title}.md": (100.0 * place, 3.0) for place, title in enumerate("abc")}
    store.save(["/vault"], SavedLayout(kept, frozenset({"v:b.md"})))
    made, news = prepared(linked({"a": "b", "b": "c"}), store)
    assert made.positions == {0: (0.0, 3.0), 1: (100.0, 3.0), 2: (200.0, 3.0)}
    assert made.pinned == {1}
    assert made.layout() == SavedLayout(kept, frozenset({"v:b.md"}))
    assert len(news) == 1  # nothing was laid out
    anew, _ = prepared(linked({"a": "b", "b": "c"}), store, fresh=True)
    assert anew.positions is not None
    assert anew.positions[1] == (100.0, 3.0)
    assert anew.positions[0] != (0.0, 3.0)


def test_a_large_graph_is_laid_out_only_when_asked_for(monkeypatch) -> None:
    monkeypatch.setattr(preparing, "LARGE", 2)
    index = linked({"a": "b", "b": "c"})
    made, _ = prepared(index, LayoutStore())
    assert (made.too_large, made.positions) == (True, None)
    assert made.found.communities
    made, _ = prepared(index, LayoutStore(), large=True)
    assert made.positions is not None


def test_the_saved_file_is_json_that_names_no_title_twice(tmp_path: Path) -> None:
    index = index_of({"title": "A"}, {"title": "A", "vault": "w"})
    made, _ = prepared(index, LayoutStore())
    store = LayoutStore(tmp_path)
    store.save(["/vault"], made.layout())
    (file,) = tmp_path.iterdir()
    assert set(json.loads(file.read_text(encoding="utf-8"))["positions"]) == {"v:A.md", "w:A.md"}
