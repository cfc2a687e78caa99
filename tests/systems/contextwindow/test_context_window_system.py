"""The context window on a vault and a chat: what becomes of each note, and why."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Message
from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.domain.tokens import CHARS_4, CharacterEstimate
from lorestudio.settings.contextwindow import ContextWindowSettings
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.contextwindow.mapping import mapped_pages
from lorestudio.systems.contextwindow.system import ContextWindowSystem
from lorestudio.systems.contextwindow.words import VOCABULARY
from lorestudio.systems.known import Known
from lorestudio.trace.budget import budget_view
from lorestudio.trace.explain import explain
from lorestudio.trace.journey import FateState, Journeys
from lorestudio.trace.model import Outcome, RunOutcome, Turn
from lorestudio.trace.summary import summary
from lorestudio.trace.vocabulary import COMMON
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index

WORLD = (
    Entry(0, "Skarn.md", "v", "Skarn", "A dragon of the north.", ("dragon",), priority=10,
          cascade_links=("Dawnkeep",)),
    Entry(1, "Dawnkeep.md", "v", "Dawnkeep", "A fortress.", ("fortress",), priority=20),
    Entry(2, "Crown.md", "v", "Crown", "It is lost.", ("crown",), priority=30, requires=("Dawnkeep",)),
    Entry(3, "Rules.md", "v", "Rules", "Be kind to each other.", constant=True),
    Entry(4, "Guide.md", "v", "Guide", "Write well.", guide=True),
    Entry(5, "Oath.md", "v", "Oath", "They swore it.", ("oath",), requires=("Nobody",)),
    Entry(6, "Bell.md", "v", "Bell", "It rings at four.", ("bell",), priority=5),
)  # fmt: skip


def decide(texts, settings=None, controls=None, entries=WORLD):
    chat = tuple(Message("Wren", text, is_user=place % 2 == 0) for place, text in enumerate(texts))
    moment = Moment(VaultIndex(entries), chat, Turn(len(chat), 0, 0), controls or ChatControls(), timer=lambda: 0.0)
    return asyncio.run(ContextWindowSystem(settings or ContextWindowSettings()).decide(moment)).trace


def reason(trace, entry):
    return Journeys(trace).fate(entry).reason


def test_a_turn_with_all_ways_in_and_out():
    trace = decide(["hello", "The dragon swore an oath."], controls=ChatControls(blocks=(EntryRule("Bell"),)))
    assert trace.outcome is RunOutcome.INJECTED
    assert [injection.title for injection in trace.injections] == ["Skarn", "Dawnkeep", "Crown", "Rules"]
    came = {verdict.entry: verdict.reason for record in trace.stages for verdict in record.with_outcome(Outcome.ADDED)}
    assert came == {0: "cw_match", 1: "cw_link", 2: "cw_dependant", 3: "cw_element", 5: "cw_match"}
    assert reason(trace, 5) == "cw_unsatisfied"
    assert reason(trace, 6) == "cw_not_mentioned"
    assert reason(trace, 4) == "guide_hidden"


def test_names_that_no_title_answers_to_count_as_they_are_written():
    """DeepLore takes them out of the lists of a vault's notes; here aliases and keys of one's own answer, too."""
    notes = {
        "Oath.md": "keys: [oath]\nrequires: [Nobody]",
        "Crown.md": "keys: [crown]\nrequires: [keep]\ncascade_links: [Bell (b/Bell.md)]",
        "Dawnkeep.md": "keys: [keep]",
        "a/Bell.md": "keys: [bell]",
        "b/Bell.md": "keys: [gong]",
    }
    files = (NoteFile(path, f"---\ntags: [lorebook]\n{front}\n---\nText.") for path, front in notes.items())
    settings = DeepLoreSettings(lorebook_tag="lorebook")
    entries = build_index([VaultFiles("v", tuple(files))], settings, CHARS_4).entries
    trace = decide(["The oath on the crown in the keep."], entries=entries)
    ids = {entry.filename: entry.id for entry in entries}
    assert reason(trace, ids["Oath.md"]) == "cw_unsatisfied"
    assert {injection.entry for injection in trace.injections} == {
        ids[name] for name in ("Crown.md", "Dawnkeep.md", "b/Bell.md")
    }


def test_where_nothing_is_mentioned_that_is_why_nothing_came_in():
    told = summary(decide(["A quiet day.", "Nothing."], entries=WORLD[:3]))
    assert told == "Nothing matched: none of the keys of 3 entries is in the last message (8 characters)."


def test_a_blocked_note_is_locked():
    """A constant one too, though it is no entry of the lorebook and has no key that could be locked."""
    blocks = (EntryRule("bell"), EntryRule("Rules"))
    trace = decide(["The bell, the dragon."], controls=ChatControls(blocks=blocks))
    assert {"Bell", "Rules"}.isdisjoint(injection.title for injection in trace.injections)
    assert {reason(trace, 6), reason(trace, 3)} == {"cw_locked"}


def test_the_match_names_its_trigger_and_message():
    trace = decide(["a dragon", "nothing"], ContextWindowSettings(scanned_messages=2))
    verdict = trace.stage("text match").verdicts[0]
    assert (verdict.details["trigger"], verdict.details["message"], verdict.details["occurrences"]) == ("dragon", 0, 1)
    assert "“dragon” occurs in the text once, first in message #0" in explain(verdict, trace).sentence
    assert decide(["a dragon", "nothing"]).stage("text match").verdicts == ()


def test_the_conversation_uses_the_budget_too_and_what_is_said_of_it_agrees():
    trace = decide(["A dragon of old.", "It sleeps in the fortress."])
    limit, lore = trace.limits[0], trace.total_tokens
    assert (limit.besides, limit.besides_what) == (4 + 7, "conversation")  # by chars/4
    assert limit.used == lore + limit.besides
    assert (budget_view(trace).used, budget_view(trace).free) == (limit.used, limit.maximum - limit.used)
    assert f"({lore} tokens, with the conversation {lore + 11} of 8,000)" in summary(trace)
    alone = decide(["A dragon of old."], ContextWindowSettings(with_conversation=False))
    assert (alone.limits[0].used, alone.limits[0].besides) == (alone.total_tokens, 0)


def test_what_does_not_fit_is_passed_over_and_told():
    settings = ContextWindowSettings(total_token_budget=8, with_conversation=False)
    trace = decide(["the dragon and the bell"], settings, entries=(WORLD[0], WORLD[6]))
    # The bell (weight -5, 5 tokens by chars/4) goes before the dragon (weight -10, 6 tokens).
    assert [injection.title for injection in trace.injections] == ["Bell"]
    fate = Journeys(trace).fate(0)
    assert (fate.state, fate.reason, fate.details["needs"]) == (FateState.REMOVED, "cw_no_room", 3)


def test_filling_takes_what_the_text_does_not_mention():
    settings = ContextWindowSettings(fill_mode=True)
    trace = decide(["a dragon"], settings)
    assert reason(trace, 6) != "cw_not_mentioned"
    assert trace.stage("lore filling").added == 1  # the bell; the oath lacks a requirement
    assert reason(trace, 5) == "cw_fill_requirement"
    assert trace.mode == "fill"


def test_elements_are_cut_and_the_conversation_is_told():
    settings = ContextWindowSettings(total_token_budget=9)
    trace = decide(["one two three four five six seven eight nine ten"], settings)
    told = Journeys(trace).fate(3).explain(trace).sentence
    assert told == "The elements have 3 tokens; it takes 6: with it they no longer fit, and the cut begins."
    assert trace.stage("conversation").note == "cw_turns"
    assert trace.stage("conversation").details["kept"] == 0


def mapped(entries):
    return mapped_pages(Moment(VaultIndex(entries), (), Turn(0, 0, 0)), ContextWindowSettings(), "", Known())[0]


def test_own_properties_of_notes_win():
    own = {"cw_weight": "7.9", "cw_links": "X, Y", "cw_requires": (), "cw_aliases": ("z",), "cw_element": False}
    entry = Entry(0, "A.md", "v", "A", "Text.", ("a",), priority=3, constant=True, cascade_links=("B",),
                  requires=("C",), system_fields=own)  # fmt: skip
    made = mapped((entry,)).window.lore["A"]
    assert (made.weight, made.linked_keys, made.required_keys, made.alias_keys) == (
        7, ("X", "Y"), (), ("a", "z", "A", "a"),
    )  # fmt: skip


def test_notes_of_one_title_are_both_there():
    entries = (Entry(0, "a/X.md", "v", "X", "1"), Entry(1, "b/X.md", "v", "X", "2"))
    assert list(mapped(entries).entries) == ["X", "X (b/X.md)"]


def test_every_reason_has_a_sentence_for_its_details():
    trace = decide(["a dragon"])
    for each in VOCABULARY.reasons.values():
        assert each.sentence.endswith((".", "}.")) or each.code in COMMON
        assert each.code.startswith("cw_") or each.code in COMMON
    for record in trace.stages:
        for verdict in record.verdicts:
            assert explain(verdict, trace).sentence.endswith(".")
    assert "injected" in summary(trace)


@given(
    st.lists(st.sampled_from(["dragon", "crown", "oath", "bell", "fortress", "nothing"]), max_size=6),
    st.builds(
        lambda budget, fill, split, preserve, conversation: ContextWindowSettings(
            total_token_budget=budget,
            fill_mode=fill,
            fill_and_split_mode=split,
            preserve_text_matches=preserve,
            with_conversation=conversation,
        ),
        st.integers(0, 60),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
)
def test_stages_add_up(texts, settings):
    trace = decide(texts, settings)
    assert trace.outcome is not RunOutcome.FAILED
    candidates: tuple[int, ...] = ()
    for record in trace.stages:
        assert set(record.entered) == set(candidates)
        assert len(record.entered) + record.added == len(record.left) + record.removed
        candidates = record.left
    assert {injection.entry for injection in trace.injections} == set(candidates)
    assert trace == decide(texts, settings)


@pytest.mark.parametrize("field", ["total_token_budget", "truncate_method", "non_word_split_count"])
def test_settings_are_declared_once(field):
    info = ContextWindowSettings.model_fields[field]
    assert info.title
    assert info.description


class Noting:
    """Counts as CHARS_4 does and says what it was asked."""

    name, exact, identity = "noting", False, "noting"

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return CHARS_4.count(text)


def replayed(settings, replies=12):
    """What was asked while a chat went on, and the traces."""
    index, counter, system = VaultIndex(WORLD), Noting(), ContextWindowSystem(settings)
    chat = tuple(Message("Wren", f"{'word ' * (place % 5)}{place}") for place in range(replies))
    moments = [Moment(index, chat[:length], Turn(length, 0, 0), counter=counter) for length in range(1, replies)]
    return counter.asked, [asyncio.run(system.decide(moment)).trace for moment in moments]


def test_the_turns_of_a_chat_that_goes_on_are_counted_once():
    settings = ContextWindowSettings(truncate_method="TruncateMiddle", with_conversation=True, total_token_budget=40)
    asked, traces = replayed(settings)
    said = [text for text in asked if text.startswith("word ")]
    assert len(said) == len({*said}) > 4
    assert traces[-1].stage("conversation").details["kept"] < 11, "not all of it fits"


def test_pages_without_the_conversation_are_measured_once():
    settings = ContextWindowSettings(pages_by="vaults", with_conversation=True, total_token_budget=4000)
    asked, _ = replayed(settings)
    measured = [text for text in asked if text.startswith("{") and '"Skarn"' in text]
    assert len(measured) == len({*measured}) > 0


def test_turns_are_counted_anew_by_another_counter():
    settings = ContextWindowSettings(truncate_method="TruncateMiddle", with_conversation=True, total_token_budget=40)
    chat = tuple(Message("Wren", f"{'word ' * (place % 5)}{place}") for place in range(12))

    index, counters, one = VaultIndex(WORLD), (CHARS_4, CharacterEstimate("chars/1", 1)), ContextWindowSystem(settings)

    def kept(system, counter):
        moment = Moment(index, chat, Turn(12, 0, 0), counter=counter)
        return asyncio.run(system.decide(moment)).trace.stage("conversation").details["kept"]

    found = [kept(one, counter) for counter in counters]
    assert found == [kept(ContextWindowSystem(settings), counter) for counter in counters]
    assert found[0] > found[1]
