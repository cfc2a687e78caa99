"""What may be turned, as a person says it, and what may not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import declared
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.files import SettingsError
from lorestudio.studio.project.project import Project
from lorestudio.studio.scripting import find_entry
from lorestudio.studio.tuning.space import NumberSpan, Space, examples, point_words, space_of, whole_range
from lorestudio.systems.registry import BUILT_IN, MAIN, kind_of
from tests.studio.tuning.searches import make_world, text_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_world(tmp_path_factory.mktemp("space") / "vault")


def space(world: Project, *over: str, system: str = MAIN.name) -> Space:
    kind = kind_of(system)
    return space_of(over, world, kind, world.settings if kind is MAIN else kind.settings())


@pytest.mark.parametrize(
    ("said", "label", "values"),
    [
        ("scanDepth=1..4", "scanDepth", (1, 2, 3, 4)),
        ("scan_depth=2,8", "scanDepth", (2, 8)),
        ("maxTokensBudget=500..2000/500", "maxTokensBudget", (500, 1000, 1500, 2000)),
        ("recursiveScan", "recursiveScan", (False, True)),
        ("recursiveScan=on", "recursiveScan", (True,)),
        ("Lamp.md:priority=10..30/10", "Lamp.md: priority", (10, 20, 30)),
        ("lamp:probability=0.2..0.8/0.3", "Lamp.md: probability", (0.2, 0.5, 0.8)),
        ("Lamp: cooldown = 1,3", "Lamp.md: cooldown", (1, 3)),
    ],
)
def test_what_is_said(world: Project, said: str, label: str, values: tuple[object, ...]) -> None:
    (axis,) = space(world, said).axes
    assert (axis.label, axis.values) == (label, values)


def test_a_setting_may_be_turned_through_all_that_is_declared(world: Project) -> None:
    (depth,) = space(world, "scanDepth").axes
    assert depth.range == NumberSpan(0, 100, 1, whole=True)
    assert depth.now == world.settings.scan_depth
    (mode,) = space(world, "injectionMode").axes
    assert mode.range == ("extension", "prompt_list")


def test_each_key_of_a_note_is_there_or_not(world: Project) -> None:
    there = space(world, "Lamp:keys")
    assert [axis.label for axis in there.axes] == ["Lamp.md: key lamp", "Lamp.md: key lantern"]
    assert there.size == 4
    (note,) = there.notes_at({"Lamp.md: key lamp": False, "Lamp.md: key lantern": True})
    assert note.text == text_of("keys: [lantern]\npriority: 10")
    assert there.notes_at({"Lamp.md: key lamp": True, "Lamp.md: key lantern": True}) == ()


def test_points_of_several_axes(world: Project) -> None:
    there = space(world, "scanDepth=1,2", "recursiveScan")
    assert list(there.points()) == [
        {"scanDepth": depth, "recursiveScan": on} for depth in (1, 2) for on in (False, True)
    ]
    settings = there.settings_at(world.settings, {"scanDepth": 2, "recursiveScan": True})
    assert settings == world.settings.model_copy(update={"scan_depth": 2, "recursive_scan": True})
    assert there.settings_at(world.settings, {}) is world.settings
    assert point_words({"scanDepth": 2, "recursiveScan": True, "b": 0.5}) == "scanDepth 2, recursiveScan on, b 0.5"
    assert point_words({"budget": 1200.5, "ratio": 1e3}) == "budget 1,200.5, ratio 1,000"
    assert point_words({}) == "as it is now"


@pytest.mark.parametrize("name", ["caf\u00e9", "Caf\u00e9.md"])
def test_a_note_is_turned_however_its_accents_are_encoded(tmp_path: Path, name: str) -> None:
    there = make_world(tmp_path / "vault")
    (there.roots[0] / "Cafe\u0301.md").write_text(text_of("keys: [tea]"), encoding="utf-8")
    read = there.reloaded()
    (axis,) = space(read, f"{name}:priority=1..9").axes
    assert axis.note == (read.index.vaults[0], "Cafe\u0301.md")
    assert find_entry(read, name).filename == "Cafe\u0301.md"


def test_numbers_without_steps_are_endless(world: Project) -> None:
    there = space(world, "Lamp:probability=0.2..0.8")
    assert there.size == math.inf
    with pytest.raises(InputError, match=r"a grid needs steps"):
        there.points()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([], "say what may be turned"),
        (["scanDept=1..8"], "has no setting “scanDept”. Did you mean “scanDepth”?"),
        (["scanDepth=8..1"], "goes nowhere"),
        (["scanDepth=1..8/0"], "goes nowhere"),
        (["scanDepth=1...8"], "holds what is no number|write LOW..HIGH"),
        (["scanDepth=1..800"], "is not in the range 0 to 100"),
        (["scanDepth=1,1"], "different values"),
        (["scanDepth="], "write LOW..HIGH"),
        (["scanDepth=1..8/0.5"], "steps of whole numbers are whole"),
        (["scanDepth=few"], "No number|no number|is neither"),
        (["lorebookTag=a,b"], "says how notes are read"),
        (["analyticsData"], "has no setting"),
        (["cacheTTL=1..9"], "changes nothing in a run"),
        (["scanDepth=1..8", "scan_depth=3,4"], "is turned twice"),
        (["Lam:priority=1..9"], "no entry is called “Lam”. Did you mean “Lamp”?"),
        (["Lamp:priority"], "say between what, as in Lamp:priority=10..100"),
    ],
)
def test_what_cannot_be_turned_is_told(world: Project, said: list[str], told: str) -> None:
    with pytest.raises((InputError, SettingsError), match=told):
        space(world, *said)


def test_a_note_whose_front_matter_cannot_be_edited_is_told(tmp_path: Path) -> None:
    there = make_world(tmp_path / "vault")
    (there.roots[0] / "Lamp.md").write_text(text_of("keys: [lamp]\npriority: {a: 1}"), encoding="utf-8")
    with pytest.raises(InputError, match=r"Lamp\.md: priority"):
        space(there.reloaded(), "Lamp:priority=1..9")
    with pytest.raises(InputError, match="not at hand"):
        space(replace(there, vault_state=None), "Lamp:priority=1..9")


@pytest.mark.parametrize(
    ("setting", "now", "said"),
    [
        ("max_tokens_budget", 3072, "maxTokensBudget=768..12288"),
        ("max_tokens_budget", 90_000, "maxTokensBudget=22500..100000"), ("scan_depth", 0, "scanDepth=0..100"),
        ("strip_duplicate_injections", True, "stripDuplicateInjections"),
    ],
)  # fmt: skip
def test_a_setting_is_turned_about_what_it_is_now(setting: str, now: float, said: str) -> None:
    (known,) = (each for each in declared(DeepLoreSettings) if each.name == setting)
    assert whole_range(known, now) == said


@pytest.mark.parametrize("system", BUILT_IN)
def test_examples_and_whole_ranges_can_be_said(world: Project, system: str) -> None:
    kind = kind_of(system)
    assert [axis.now for axis in space(world, *examples(kind), system=system).axes]
    for known in declared(kind.settings):
        if known.affects and None not in {known.low, known.high} and kind.reading(kind.settings()) is None:
            (axis,) = space(world, whole_range(known), system=system).axes
            assert (axis.range.low, axis.range.high) == (known.low, known.high)
