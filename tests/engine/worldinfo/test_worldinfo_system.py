"""World Info on a vault and a chat: what becomes of each note, and why."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, Position, VaultIndex
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.engine.systems import Moment
from lorestudio.engine.worldinfo.book import Logic, Place
from lorestudio.engine.worldinfo.lorebook import read_lorebook
from lorestudio.engine.worldinfo.mapping import as_book_entry
from lorestudio.engine.worldinfo.system import WorldInfoSystem
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import RunOutcome, Turn
from lorestudio.trace.reasons import explain

WORLD = (
    Entry(0, "Skarn.md", "v", "Skarn", "A dragon of the fortress.", ("dragon",), priority=10),
    Entry(1, "Dawnkeep.md", "v", "Dawnkeep", "High walls.", ("fortress",), priority=20),
    Entry(2, "Crown.md", "v", "Crown", "Lost.", ("crown",), ("king",), priority=30),
    Entry(3, "Rules.md", "v", "Rules", "Be kind.", constant=True, position=Position.IN_CHAT, depth=2, role=1),
    Entry(4, "Guide.md", "v", "Guide", "Write well.", guide=True),
    Entry(5, "Bell.md", "v", "Bell", "It rings.", ("bell",), system_fields={"wi_sticky": 3}),
)


def decide(texts, settings=None, state=None, controls=None, book=None, entries=WORLD):
    chat = tuple(Message("Wren", text, is_user=True) for text in texts)
    moment = Moment(
        VaultIndex(entries), chat, Turn(len(chat), 0, 0), controls or ChatControls(), timer=lambda: 0.0,
        character="Skarn",
    )  # fmt: skip
    return asyncio.run(WorldInfoSystem(settings or WorldInfoSettings(), book).decide(moment, state))


def titles(trace):
    return [injection.title for injection in trace.injections]


def reason(trace, entry):
    return Journeys(trace).fate(entry).reason


def test_keys_recursion_and_the_order_in_the_prompt():
    trace = decide(["the dragon and the crown"]).trace
    assert trace.outcome is RunOutcome.INJECTED
    assert set(titles(trace)) == {"Skarn", "Dawnkeep", "Rules"}
    before = next(block for block in trace.prompt if block.tag == "worldInfo_before")
    assert before.text == "High walls.\nA dragon of the fortress."  # a higher order stands later
    assert (reason(trace, 2), reason(trace, 4), reason(trace, 5)) == ("wi_secondary", "guide_hidden", "wi_no_key")
    came = next(v for record in trace.stages for v in record.verdicts if v.entry == 1 and v.reason == "wi_key")
    assert explain(came, trace).sentence == "The key “fortress” was found in the text of “Skarn”."
    rules = next(block for block in trace.prompt if block.tag == "customDepthWI-2-1")
    assert (rules.position, rules.depth, rules.role) == (1, 2, 1)


def test_timed_effects_go_from_turn_to_turn():
    first = decide(["a bell"])
    assert "Bell" in titles(first.trace)
    second = decide(["a bell", "nothing", "nothing"], state=first.state)
    assert "Bell" in titles(second.trace)
    assert "wi_sticky" in [v.reason for record in second.trace.stages for v in record.verdicts if v.entry == 5]
    third = decide(["a bell", "x", "x", "x", "x"], state=second.state)
    assert "Bell" not in titles(third.trace)


def test_a_blocked_note_is_switched_off():
    trace = decide(["the dragon"], controls=ChatControls(blocks=(EntryRule("Skarn"),))).trace
    assert reason(trace, 0) == "wi_disabled"


def test_a_small_context_ends_the_scan_and_says_so():
    trace = decide(["the dragon"], WorldInfoSettings(context=40, budget=10)).trace
    assert trace.warnings
    assert reason(trace, 0) in {"wi_over_budget", "wi_behind_budget"}
    assert trace.limits[0].maximum == 4


def test_a_lorebook_takes_the_place_of_the_vault():
    document = {"entries": {"7": {"uid": 7, "key": ["dragon"], "content": "Of {{char}}.", "comment": "Wyrm"}}}
    trace = decide(["the dragon"], book=(read_lorebook(document, "Eldoria"),)).trace
    assert titles(trace) == ["Wyrm"]
    assert trace.prompt[0].text == "Of Skarn."
    assert (trace.entries[0].vault, trace.entries[0].filename) == ("Eldoria", "uid 7")


def test_a_note_as_an_entry_of_a_lorebook():
    entry = Entry(0, "A.md", "v", "A", "Text.", ("a",), ("b",), priority=40, probability=0.5, cooldown=3,
                  position=Position.BEFORE, scan_depth=7,
                  system_fields={"wi_group": "g", "wi_logic": 3, "wi_order": 5})  # fmt: skip
    made = as_book_entry(entry)
    assert (made.probability, made.cooldown, made.place, made.scan_depth) == (50, 6, Place.BEFORE, 7)
    assert (made.groups, made.logic, made.order, made.secondary) == (("g",), Logic.AND_ALL, 5, ("b",))
    assert as_book_entry(Entry(0, "A.md", "v", "A", priority=40)).order == 960


@given(
    st.lists(st.sampled_from(["dragon", "crown king", "bell", "fortress", "nothing"]), max_size=4),
    st.builds(
        lambda recursive, depth, budget, fewest: WorldInfoSettings(
            recursive=recursive, depth=depth, context=budget, budget=50, min_activations=fewest
        ),
        st.booleans(),
        st.integers(0, 4),
        st.integers(1, 60),
        st.integers(0, 3),
    ),
)
def test_stages_add_up(texts, settings):
    trace = decide(texts, settings).trace
    candidates = ()
    for record in trace.stages:
        assert set(record.entered) == set(candidates)
        assert len(record.entered) + record.added == len(record.left) + record.removed
        candidates = record.left
        assert all(explain(verdict, trace).sentence.endswith(".") for verdict in record.verdicts)
    assert {injection.entry for injection in trace.injections} == set(candidates)
    assert trace == decide(texts, settings).trace
