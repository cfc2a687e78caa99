"""What a change does to a whole chat, reply by reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from lorestudio import open_project
from lorestudio.domain.chat import Generation
from lorestudio.domain.javascript import Json
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Value, declared
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import ControlsPart, toggled
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tuning.effects import Effects, TurnEffect, WholeChat, one_step, sensitivity
from lorestudio.studio.tuning.expectations import Expectation, ReplyMark, Should, answered, shown_swipes, turn_outcome
from lorestudio.systems.registry import KINDS, kind_of, system_of
from lorestudio.vault.edited_vaults import NoteText

SAID = ("A lamp.", "Yes.", "Oil?", "Here.", "Go on.")
"""After a greeting, the person and the character in turn; replies are #2, #4, and #6, which is to come."""

OIL_LATER = Expectation(Should.IN, ("Oil",), whenever="go on")
NO_LAMP = Expectation(Should.OUT, ("Lamp.md",), whenever="oil")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two notes, of which each is found in the newest message only."""
    folder = tmp_path_factory.mktemp("effects")
    (folder / "brume").mkdir()
    for name in ("Lamp", "Oil"):
        text = f"---\ntags: [lorebook]\nkeys: [{name.lower()}]\n---\n{name} in the fog.\n"
        (folder / f"brume/{name}.md").write_text(text, encoding="utf-8")
    records: list[dict[str, Json]] = [{"user_name": "Wren", "character_name": "Ottoline"}]
    records.append({"name": "Ottoline", "mes": "Hello."})
    records += [{"name": "Wren", "is_user": not place % 2, "mes": text} for place, text in enumerate(SAID)]
    (folder / "chat.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    (folder / "settings.json").write_text('{"enabled": true, "scanDepth": 1, "newChatThreshold": 1}', encoding="utf-8")
    return open_project(folder / "brume", folder / "chat.jsonl", folder / "settings.json")


def ran(project: Project, expectations: Sequence[Expectation] = (), system: str = "deeplore") -> WholeChat:
    kind = kind_of(system)
    settings = project.settings if isinstance(project.settings, kind.settings) else kind.settings()
    simulator = Simulator(project, system_of(project.scene(), kind, settings))
    asyncio.run(simulator.run_missing())
    return WholeChat(simulator, expectations)


def deeper(chat: WholeChat, depth: int = 3) -> DeepLoreSettings:
    settings: DeepLoreSettings = chat.settings.model_copy(update={"scan_depth": depth})  # type: ignore[assignment]  # these are DeepLore's
    return settings


def without_tokens(effects: Effects) -> list[TurnEffect]:
    return [
        TurnEffect(each.generation, each.entered, each.left, won=each.won, lost=each.lost) for each in effects.turns
    ]


def test_each_reply_tells_who_comes_who_goes_and_what_is_expected(project: Project) -> None:
    chat = ran(project, [OIL_LATER, NO_LAMP])
    found = chat.effects(deeper(chat))
    assert without_tokens(found) == [
        TurnEffect(Generation(2)),
        TurnEffect(Generation(4), entered=("Lamp",), lost=(replace(NO_LAMP, notes=("Lamp",)),)),
        TurnEffect(Generation(6), entered=("Oil",), won=(OIL_LATER,)),
    ]
    assert (found.won, found.lost, found.complete) == (1, 1, True)
    assert [turn.generation.message for turn in found.worth_a_look] == [4, 6]
    assert found.turns[1].tokens[1] > found.turns[1].tokens[0] > 0
    assert found.turns[2].tokens[0] == 0
    assert found.tokens == sum(turn.tokens[1] - turn.tokens[0] for turn in found.turns) / 3
    assert (found.before.value("recall"), found.after.value("recall")) == (0, 1)


def test_going_back_is_the_other_way_round(project: Project) -> None:
    settings = project.settings.model_copy(update={"scan_depth": 3})
    chat = ran(project.with_settings(settings), [OIL_LATER, NO_LAMP])
    back = chat.effects(deeper(chat, 1))
    assert [turn.left for turn in back.turns] == [(), ("Lamp",), ("Oil",)]
    assert (back.won, back.lost) == (1, 1)


def test_a_note_that_is_edited_made_or_gone_is_run_over_the_chat(project: Project) -> None:
    chat = ran(project, [OIL_LATER])
    lamp = "---\ntags: [lorebook]\nkeys: [go on]\n---\nLamp.\n"
    edited = chat.effects(notes=[NoteText("brume", "Lamp.md", lamp)])
    assert [(turn.entered, turn.left) for turn in edited.turns] == [((), ("Lamp",)), ((), ()), (("Lamp",), ())]
    # An entry before all others, so that every other one has another number.
    made = chat.effects(notes=[NoteText("brume", "A.md", "---\ntags: [lorebook]\nkeys: [lamp]\n---\nA.\n")])
    assert [(turn.entered, turn.left) for turn in made.turns] == [(("A",), ()), ((), ()), ((), ())]
    gone = chat.effects(notes=[NoteText("brume", "Oil.md", None)])
    assert [(turn.entered, turn.left) for turn in gone.turns] == [((), ()), ((), ("Oil",)), ((), ())]


def test_an_expectation_of_a_reply_that_moved_is_called_by_its_number_now(project: Project) -> None:
    assert project.chat is not None
    mark = ReplyMark("chat", 8, answered(project.chat, 4))
    chat = ran(project, [Expectation(Should.OUT, ("Lamp",), reply=mark)])
    (lost,) = chat.effects(deeper(chat)).turns[1].lost
    assert lost.sentence == "Lamp should not be in (reply #4 of chat)"


@pytest.mark.parametrize("system", KINDS)
def test_no_change_has_no_effect(system: str, demo: Project) -> None:
    chat = ran(demo, system=system)
    assert chat.effects().changed == ()


@pytest.mark.parametrize("change", [{"scan_depth": 8}, {"max_entries": 3}, {"fuzzy_search_enabled": True}])
def test_the_effect_is_that_of_a_replay_with_the_setting(change: dict[str, Value], demo: Project) -> None:
    chat = ran(demo)
    settings = demo.settings.model_copy(update=change)
    found = chat.effects(settings)
    single = asyncio.run(Simulator(demo.with_settings(settings)).replay())
    assert demo.chat is not None
    shown = shown_swipes(demo.chat, [turn_outcome(trace) for trace in single])
    assert [turn.tokens[1] for turn in found.turns] == [each.tokens for each in shown]
    assert found.changed


@pytest.mark.long
@pytest.mark.parametrize("system", KINDS)
def test_a_pin_and_a_block_do_what_a_replay_with_them_does(system: str, demo: Project) -> None:
    chat = ran(demo, system=system)
    entries = demo.index.entries[:2]
    for part in (ControlsPart.PINS, ControlsPart.BLOCKS):
        controls = toggled(demo.controls, part, entries, demo.index)
        found = chat.effects(controls=controls)
        single = ran(replace(demo, controls=controls), system=system)
        assert demo.chat is not None
        shown = shown_swipes(demo.chat, single.outcomes)
        assert [turn.tokens[1] for turn in found.turns] == [each.tokens for each in shown]


def test_a_pin_brings_its_entry_into_every_reply_and_each_is_tried_without(project: Project) -> None:
    (oil,) = (each for each in project.index.entries if each.title == "Oil")
    controls = toggled(project.controls, ControlsPart.PINS, [oil], project.index)
    chat = ran(project, [OIL_LATER])
    found = chat.effects(controls=controls)
    assert [turn.entered for turn in found.turns] == [("Oil",), (), ("Oil",)]
    assert found.won == 1
    *_, step = sensitivity(ran(replace(project, controls=controls), [OIL_LATER]))
    assert (step.name, step.words) == ("Pin of Oil", ("there", "gone"))
    assert [turn.left for turn in step.effects.turns] == [("Oil",), (), ("Oil",)]
    assert step.effects.lost == 1


def test_a_pin_that_counts_for_nothing_is_not_tried_without(project: Project) -> None:
    entries = project.index.entries[:1]
    for part, steps in ((ControlsPart.PINS, []), (ControlsPart.BLOCKS, [f"Block of {entries[0].title}"])):
        controls = toggled(project.controls, part, entries, project.index)
        rows = sensitivity(ran(replace(project, controls=controls), system="world-info"))
        assert [row.name for row in rows if " of " in row.name] == steps


def test_the_first_replies_are_told_while_the_others_run(project: Project) -> None:
    chat, heard = ran(project, [OIL_LATER]), list[Effects]()
    whole = chat.effects(deeper(chat), report=heard.append)
    assert [(len(each.turns), each.complete) for each in heard] == [(1, False), (2, False)]
    assert all(each.turns == whole.turns[: len(each.turns)] for each in heard)
    stop = CancelToken()
    with pytest.raises(Cancelled):
        chat.effects(deeper(chat), report=lambda _told: stop.cancel(), cancel=stop)


def test_each_setting_is_tried_one_step_to_both_sides(project: Project) -> None:
    chat = ran(project, [OIL_LATER, NO_LAMP])
    rows = {(row.name, row.after): row.effects for row in sensitivity(chat)}
    assert (rows["scanDepth", 2].won, rows["scanDepth", 2].lost) == (0, 0)
    assert rows["enabled", False].lost == 0  # nothing is in, and Oil was not in before
    assert rows["enabled", False].tokens < 0
    one = list(sensitivity(chat, ["scanDepth"]))
    assert {row.name for row in one} == {"scanDepth"}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("scan_depth", 4, (2, 6)),
        ("scan_depth", 1, (0, 2)),
        ("scan_depth", 100, (50,)),
        ("scan_depth", 0, (10,)),  # a tenth of its range
        ("recursive_scan", True, (False,)),
        ("ai_confidence_threshold", "low", ("medium", "high")),
        ("cache_ttl", 300, ()),  # changes nothing in a run
    ],
)
def test_the_steps_of_a_setting(name: str, value: Value, expected: tuple[Value, ...]) -> None:
    (known,) = (each for each in declared(DeepLoreSettings) if each.name == name)
    assert one_step(known, value) == expected
