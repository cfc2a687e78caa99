"""Which changes are tried: such as can concern the stage that stopped the entry, and no others."""

import asyncio

import pytest

from lorestudio.domain.entry import FieldDefinition, LeftOutNote, NoteProblem
from lorestudio.domain.records import replace
from lorestudio.systems.deeplore.ideas import DeepLoreSituation, options, setting
from lorestudio.systems.deeplore.run import run
from lorestudio.systems.ideas import RunPart, Steps, left_out_options
from lorestudio.trace.journey import Journeys
from tests.systems.worlds import entry, rules, world

CHAT = ["U: The lamp burns by the gate.", "Ann: Yes, it burns."]


def situation(there, title="Crown", **changes):
    number = there[title].id
    trace = asyncio.run(run(there.context)).trace
    made = DeepLoreSituation(
        ctx=there.context,
        settings=there.context.settings,
        trace=trace,
        fate=Journeys(trace).fate(number),
        note=there[title],
        controls=there.context.moment.controls,
    )
    return replace(made, **changes)


def codes(found):
    return {option.steps[0].code for option in found}


SURE = {"pin", "constant"}
CUT = {"priority", "token_budget", "entry_cap", "pin"}


@pytest.mark.parametrize(
    ("note", "settings", "expected"),
    [
        ({}, {}, {"scan_depth", "own_scan_depth", "recursion", "fuzzy", *SURE}),
        ({"refine_keys": ("storm",), "keys": ("lamp",)}, {}, {"drop_refine_keys", "recursion", "fuzzy", *SURE}),
        ({"warmup": 4, "keys": ("lamp",)}, {}, {"warmup", *SURE}),
        ({"probability": 0, "keys": ("lamp",)}, {}, {"probability", *SURE}),
        ({"keys": ("lamp",), "custom_fields": {"era": ("old",)}}, {"context": {"era": "new"}},
         {"context", "no_context", "field", "no_field", "tolerance", *SURE}),
        ({"keys": ("lamp",), "folder": "x"}, {"folders": ("y",)}, {"add_folder", "no_folders", *SURE}),
        ({"keys": ("lamp",)}, {"blocks": rules("Crown")}, {"unblock"}),
        ({"keys": ("lamp",), "requires": ("Gate",)}, {}, {"requires", "pin_missing", *SURE}),
        ({"keys": ("lamp",), "excludes": ("Lamp",)}, {}, {"excludes", "block_other", "priority", *SURE}),
        ({"keys": ("lamp",), "tokens": 500}, {"max_tokens_budget": 110}, CUT),
        ({"keys": ("lamp",)}, {"max_entries": 1}, CUT),
        ({"guide": True, "keys": ("lamp",)}, {}, {"guide"}),
    ],
)  # fmt: skip
def test_only_what_can_concern_the_stage_that_stopped_it(note, settings, expected):
    there = world(
        entry("Crown", **{"keys": ("crown",), "tokens": 30, **note}),
        entry("Gate", "nothing"), entry("Lamp", "lamp", priority=1, tokens=100), chat=CHAT, **settings,
    )  # fmt: skip

    found = codes(options(situation(there)))

    optional = {"add_key", "add_refine_key", "active_character", "scan_depth", "own_scan_depth", "any_case", "mode"}
    assert expected - {"scan_depth", "own_scan_depth"} <= found
    assert found <= expected | optional


def test_an_entry_that_went_in_needs_nothing():
    assert options(situation(world(entry("Crown", "lamp"), chat=CHAT))) == ()


def test_a_note_that_cannot_be_edited_is_left_alone():
    there = world(entry("Crown", "crown", content="gate"), chat=CHAT)
    found = options(situation(there, editable=False))
    assert found
    assert {step.part for option in found for step in option.steps} == {RunPart.SETTINGS, RunPart.CHAT}


def test_modes_that_ask_a_model_only_where_somebody_answers_at_once():
    there = world(entry("Crown", "crown"), chat=CHAT)
    assert "mode" not in codes(options(situation(there)))
    assert "mode" in codes(options(situation(there, stand_in=True)))


@pytest.mark.parametrize(("operator", "value"), [("lt", 10), ("gt", 8)])
def test_a_limit_is_moved_to_just_beside_the_note_s_number(operator, value):
    field = FieldDefinition("danger", "Danger", type="number", operator=operator)
    there = world(
        entry("Crown", "lamp", custom_fields={"danger": 9}), chat=CHAT, fields=(field,), context={"danger": 9}
    )
    (limit,) = [each.steps[0] for each in options(situation(there)) if each.steps[0].code == "context"]
    assert limit.controls.context == {"danger": value}


def test_amounts_begin_with_the_least_and_stay_within_the_setting_s_range():
    there = world(
        entry("Crown", "lamp", tokens=90, priority=60), entry("A", "lamp", tokens=90), max_entries=1, chat=CHAT
    )
    found = {option.steps[0].code: option for option in options(situation(there, "A"))}
    budget, entries = found["token_budget"].steps, found["entry_cap"].steps
    now = there.context.settings.max_tokens_budget
    assert budget[0].settings == {"max_tokens_budget": now + 1}
    assert budget[len(budget) - 1].settings == {"max_tokens_budget": 100_000}
    assert [entries[0].settings["max_entries"], entries[len(entries) - 1].settings["max_entries"]] == [2, 100]
    priorities = [step.note.value for step in found["priority"].steps]
    assert priorities == sorted(priorities, reverse=True)
    assert (priorities[0], priorities[-1]) == (99, 1)


def test_a_priority_of_0_counts_as_50_so_49_comes_next():
    there = world(entry("Crown", "lamp", priority=1), entry("A", "lamp", priority=0), max_entries=1, chat=CHAT)
    (steps,) = [each.steps for each in options(situation(there, "A")) if each.steps[0].code == "priority"]
    assert steps[0].note.value == 49


def test_a_change_is_made_in_one_place_and_leaves_the_rest():
    change = setting("scan_depth", "scan_depth", 7, 4)
    there = world(entry("Crown", "crown"), chat=CHAT, pins=rules("Lamp"))
    assert change.title == "Raise “Scan depth” from 4 to 7"
    assert change.set_in(there.context.settings).scan_depth == 7
    assert change.chosen_in(there.context.moment.controls) is there.context.moment.controls
    pin = next(each.steps[0] for each in options(situation(there)) if each.steps[0].code == "pin")
    assert pin.set_in(there.context.settings) is there.context.settings
    assert [rule.title for rule in pin.chosen_in(there.context.moment.controls).pins] == ["Lamp", "Crown"]


def test_steps_are_made_when_they_are_asked_for():
    made = []
    steps = Steps(range(10), lambda number: made.append(number) or setting("a", "scan_depth", number, 4))
    assert len(steps[2:]) == 8
    assert steps[2:][0].settings == {"scan_depth": 2}
    assert made == [2]


@pytest.mark.parametrize(
    ("problem", "name", "drop", "add"),
    [
        (NoteProblem.NEVER_INSERT, "tags", ("never",), ()), (NoteProblem.NO_LOREBOOK_TAG, "tags", (), ("lore",)),
        (NoteProblem.DISABLED, "enabled", (), ()),
    ],
)  # fmt: skip
def test_a_note_that_is_no_entry_is_made_one(problem, name, drop, add):
    (option,) = left_out_options(LeftOutNote("a.md", "v", problem, "why"), "lore", "never")
    edit = option.steps[0].note
    assert (edit.vault, edit.filename, edit.name, edit.drop, edit.add) == ("v", "a.md", name, drop, add)
    assert edit.removed is (problem is NoteProblem.DISABLED)


def test_a_broken_file_is_nothing_that_a_property_mends():
    assert left_out_options(LeftOutNote("a.md", "v", NoteProblem.BAD_ENCODING, "why"), "lore", "never") == ()
