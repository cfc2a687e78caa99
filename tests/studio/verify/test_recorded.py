"""How far a record can be trusted (rules: recorded-sources 2, 3)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.recorded import TAG
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.verify.causes import following
from lorestudio.studio.verify.recorded import Trust, recorded_replies
from lorestudio.systems.registry import MAIN, kind_of
from lorestudio.trace.summary import seen_brief, seen_lines
from tests.studio.verify.worlds import RECORDS, SLOTS, chat, project, source


def trust(of: Any) -> dict[int, Trust]:
    found = recorded_replies(project(None, of), MAIN)
    return {generation.message: each.trust for generation, each in found.items()}


def test_a_record_that_repeats_the_one_before_it_needs_a_witness() -> None:
    assert trust(chat()) == {2: Trust.SURE, 4: Trust.SURE, 6: Trust.SURE}
    without = {key: value for key, value in SLOTS.items() if key != "3|0"}
    assert trust(chat(slots=without)) == {2: Trust.SURE, 4: Trust.CARRIED, 6: Trust.SURE}
    assert trust(chat(slots={})) == {2: Trust.SURE, 4: Trust.UNSURE, 6: Trust.SURE}


def test_a_chat_that_keeps_no_slots_witnesses_nothing() -> None:
    """Where a reply saw no message, none was taken for the slot of that turn."""
    hidden = chat(slots={}, **{f"m{place}": {"is_system": True} for place in range(4)})
    found = recorded_replies(replace(project(None, hidden), basis=KeptBasis(ChatBasis(history="now"))), MAIN)
    assert {generation.message: each.trust for generation, each in found.items()}[4] is Trust.UNSURE


def test_what_is_repeated_may_stand_in_a_message_that_is_no_reply() -> None:
    """The greeting, or a message that was continued and then hidden."""
    greeted = {0: RECORDS[2], **RECORDS}
    assert trust(chat(greeted, slots={})) == {2: Trust.UNSURE, 4: Trust.UNSURE, 6: Trust.SURE}


def test_slots_that_are_older_than_ten_messages_are_no_witness() -> None:
    assert trust(chat(slots={"13|0": []}))[4] is Trust.UNSURE
    assert trust(chat(slots={"12|0": []}))[4] is Trust.CARRIED
    assert trust(chat(slots={f"{'9' * 5_000}|0": []}))[4] is Trust.UNSURE


def test_a_message_without_the_time_of_its_generation_was_written_by_no_model() -> None:
    assert trust(chat(m4={"gen_started": ""}))[4] is Trust.UNWRITTEN
    timeless = {f"m{place}": {"gen_started": ""} for place in range(7)}
    assert trust(chat(**timeless))[4] is Trust.SURE


def test_the_newer_version_attaches_nothing_that_does_not_belong() -> None:
    extra = {"deeplore_sources": RECORDS[4], TAG: "g:1"}
    assert trust(chat(slots={"1|0": [], "5|0": []}, m4={"extra": extra}))[4] is Trust.SURE


def test_another_kind_of_system_has_other_records() -> None:
    assert recorded_replies(project(), kind_of("recap")) == {}
    extra = {"activeLorebookEntries": [{"comment": "Lamp", "world": "Marsh"}]}
    found = recorded_replies(project(None, chat({}, m4={"extra": extra})), kind_of("world-info"))
    assert [each.entries[0].title for each in found.values()] == ["Lamp"]


COOLING = {"Lamp.md": "---\ntags: [lorebook]\nkeys: [lamp]\ncooldown: 1\n---\nA brass lamp.\n"}


@pytest.mark.parametrize(("records", "lamp_again"), [({2: [source("Lamp")]}, False), ({2: [source("Bell")]}, True)])
def test_a_replay_that_follows_records_begins_from_what_went_in_there(records: Any, *, lamp_again: bool) -> None:
    # The lamp went in for #2 in the run; where the record says otherwise, its cooldown has not begun for #4.
    made = following(project(COOLING, chat(records, {})))
    simulator = Simulator(made)
    asyncio.run(simulator.replay())
    assert [each.title for each in simulator.traces[Generation(2)].injections] == ["Lamp"]
    assert any(each.title == "Lamp" for each in simulator.traces[Generation(4)].injections) is lamp_again
    assert seen_brief(simulator.traces[Generation(4)]) == "begun from what was recorded"
    assert "It began from what the chat recorded" in seen_lines(simulator.traces[Generation(4)])[-1]
    assert simulator.inputs != Simulator(project(COOLING, chat(records, {}))).inputs


def test_a_models_choice_and_lots_are_taken_from_the_record() -> None:
    chance = {"Reed.md": "---\ntags: [lorebook]\nkeys: [lamp]\nprobability: 0.5\n---\nReeds in the wind.\n"}
    there = [source("Reed", "lamp → AI: it fits (high)")]
    for records, expected in (({2: there}, ["Reed"]), ({2: [source("Lamp", "lamp → AI: it fits (low)")]}, ["Lamp"])):
        made = following(project(chance, chat(records), ai_search_enabled=True, ai_search_mode="two-stage"))
        trace = asyncio.run(Simulator(made).generate(Generation(2)))
        assert [each.title for each in trace.injections] == expected
        assert {call.source for call in trace.ai_calls} == {"what the chat recorded"}
