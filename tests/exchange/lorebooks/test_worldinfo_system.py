"""World Info on a vault and a chat: what becomes of each note, and why."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import AuthorsNote, Message
from lorestudio.domain.entry import Entry, Position, VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY, BookPlace, Logic
from lorestudio.exchange.lorebooks.notes import note_of
from lorestudio.exchange.lorebooks.reading import BookRole, read_lorebook
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.known import Known
from lorestudio.systems.worldinfo.decision import Surroundings, as_book_entry, world_of
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.budget import cut_verdicts
from lorestudio.trace.explain import explain, explain_stage
from lorestudio.trace.journey import FOREIGN_IDS, Journeys, renumbered
from lorestudio.trace.model import RunOutcome, Turn
from lorestudio.trace.scores import similarities
from lorestudio.trace.summary import summary
from lorestudio.trace.text import as_text, entry_as_text
from lorestudio.vault.entries import ParseRules, parse_note

WORLD = (
    Entry(0, "Skarn.md", "v", "Skarn", "A dragon of the fortress.", ("dragon",), priority=10),
    Entry(1, "Dawnkeep.md", "v", "Dawnkeep", "High walls.", ("fortress",), priority=20),
    Entry(2, "Crown.md", "v", "Crown", "Lost.", ("crown",), ("king",), priority=30),
    Entry(3, "Rules.md", "v", "Rules", "Be kind.", constant=True, position=Position.IN_CHAT, depth=2, role=1),
    Entry(4, "Guide.md", "v", "Guide", "Write well.", guide=True),
    Entry(5, "Bell.md", "v", "Bell", "It rings.", ("bell",), system_fields={"wi_sticky": 3}),
)


def decide(texts, settings=None, state=None, controls=None, book=None, entries=WORLD, **more):
    chat = tuple(Message("Wren", text, is_user=True) for text in texts)
    moment = Moment(
        VaultIndex(entries), chat, Turn(len(chat), 0, 0), controls or ChatControls(), timer=lambda: 0.0,
        character="Skarn", context_size=more.pop("context_size", 0),
    )  # fmt: skip
    return asyncio.run(WorldInfoSystem(settings or WorldInfoSettings(), book, **more).decide(moment, state))


def lorebook(*raws, name="Eldoria", role=BookRole.GLOBAL):
    """A lorebook whose entries are always active unless they say otherwise."""
    entries = {
        str(uid): {**NEW_ENTRY, "uid": uid, "constant": True, "comment": f"e{uid}", **raw}
        for uid, raw in enumerate(raws)
    }
    return (read_lorebook({"entries": entries}, name, role),)


PLAIN = {"constant": False}


def blocks(trace):
    return {block.tag: block.text for block in trace.prompt}


def noted(text, **more):
    return Surroundings(note=AuthorsNote(text, **more), messages=(Message("Wren", "x", is_user=True),) * 10)


def titles(trace):
    return [injection.title for injection in trace.injections]


def reason(trace, entry):
    return Journeys(trace).fate(entry).reason


@pytest.mark.parametrize(
    ("logic", "text", "said", "rule"),
    [
        ({}, "lamp", [], "at least one of them"),
        ({}, "lamp, tide", ["Wet."], "at least one of them"),
        ({"selectiveLogic": 9}, "lamp, tide", [], "one that SillyTavern does not know"),
    ],
)
def test_a_logic_that_a_book_does_not_name_or_nobody_knows_is_told(logic, text, said, rule):
    usual = {name: value for name, value in NEW_ENTRY.items() if name != "selectiveLogic"}
    raw = {**usual, "uid": 0, "content": "Wet.", "key": ["lamp"], "keysecondary": ["tide"], **logic}
    trace = decide([text], book=(read_lorebook({"entries": {"0": raw}}, "Eldoria"),), entries=()).trace
    assert [block.text for block in trace.prompt] == said
    assert {each.details.get("rule") for stage in trace.stages for each in stage.verdicts} >= {rule}


def test_fields_that_nobody_knows_are_told_but_the_studios_own():
    extensions = {"lorestudio": {"deeplore": {}}, "lorestudio_kept": {}, "other": {}}
    raw = {**NEW_ENTRY, "uid": 0, "content": "Wet.", "key": ["lamp"], "extensions": extensions}
    (told,) = read_lorebook({"entries": {"0": raw}}, "Eldoria").remarks
    assert told.startswith("1 entry has the field “extensions.other”")


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
    assert reason(trace, 0) == "wi_blocked"
    off = (replace(WORLD[0], system_fields={"wi_disable": True}),)
    both = decide(["the dragon"], controls=ChatControls(blocks=(EntryRule("Skarn"),)), entries=off).trace
    assert reason(both, 0) == "wi_disabled"  # taking the block away would not do


def test_a_small_context_ends_the_scan_and_says_so():
    trace = decide(["the dragon"], WorldInfoSettings(context=40, budget=10)).trace
    assert trace.warnings
    assert reason(trace, 0) in {"wi_over_budget", "wi_behind_budget"}
    assert trace.limits[0].maximum == 4


def test_a_lorebook_takes_the_place_of_the_vault():
    raw = {**NEW_ENTRY, "uid": 7, "key": ["dragon"], "content": "Of {{char}}.", "comment": "Wyrm"}
    document = {"entries": {"7": raw}}
    trace = decide(["the dragon"], book=(read_lorebook(document, "Eldoria"),)).trace
    assert titles(trace) == ["Wyrm"]
    assert trace.prompt[0].text == "Of Skarn."
    assert (trace.entries[0].vault, trace.entries[0].filename) == ("Eldoria", "uid 7")


def test_entries_of_one_order_stand_the_first_one_last():
    trace = decide(
        ["x"], book=lorebook({"content": "one"}, {"content": "two"}, {"content": "high", "order": 200})
    ).trace
    assert blocks(trace)["worldInfo_before"] == "two\none\nhigh"


def test_imported_notes_of_one_order_stand_as_in_their_books_and_others_behind_them():
    raws = [{"uid": uid, "comment": name, "constant": True} for uid, name in ((2, "Zoo"), (10, "Ash"), (3, "Yew"))]
    notes = [note_of({**NEW_ENTRY, **raw}, "Eldoria", ParseRules()) for raw in raws]
    notes.append(note_of({**NEW_ENTRY, "uid": "x", "comment": "Map", "constant": True}, "Eldoria", ParseRules()))
    notes.append(note_of({**NEW_ENTRY, "uid": 99, "comment": "Old", "constant": True}, "Cellar", ParseRules()))
    files = {note.title: note.text for note in notes} | {
        "Ale": "---\ntags: [lorebook]\nconstant: true\nwi_order: 100\n---\nBrown."
    }
    found = [parse_note(text, f"{name}.md", "v", ParseRules()) for name, text in sorted(files.items())]
    moment = Moment(VaultIndex(tuple(replace(each, id=place) for place, each in enumerate(found))), (), Turn(0, 0, 0))
    world = world_of(moment, WorldInfoSettings(), None, Known())
    assert [entry.comment for entry in world.book] == ["Old", "Zoo", "Yew", "Ash", "Map", "Ale"]


def test_what_has_no_text_or_no_place_is_active_and_stands_nowhere():
    book = lorebook({"content": ""}, {"content": "t", "position": 9}, {"content": "t", "position": 7},
                    {"content": "t", "position": 7, "outletName": "lore"})  # fmt: skip
    trace = decide(["x"], book=book).trace
    assert [reason(trace, entry) for entry in range(3)] == ["wi_empty", "wi_nowhere", "wi_nowhere"]
    assert [(block.tag, block.position) for block in trace.prompt] == [("customWIOutlet_lore", -1)]


def test_entries_around_the_authors_note():
    """Wrapped around the note, at its place, and only in the turns in which it is inserted (rules: sillytavern 5.6)."""
    book = lorebook({"content": "above", "position": 2}, {"content": "below", "position": 3})
    trace = decide(["x"], book=book, around=noted("{{char}} hums.", depth=6, role=1)).trace
    block = trace.prompt[0]
    assert block.text == "above\nSkarn hums.\nbelow"
    assert (block.position, block.depth, block.role) == (1, 6, 1)
    assert [block.text[part.start : part.end] for part in block.parts] == ["above", "Skarn hums.", "below"]
    assert blocks(decide(["x"], book=book[:1], around=noted("")).trace)["2_floating_prompt"].startswith("above")
    apart = lorebook({"content": "\n\nabove", "position": 2}, {"content": "below\n\n", "position": 3})
    text = blocks(decide(["x"], book=apart, around=noted("n")).trace)["2_floating_prompt"]
    assert text == "\nabove\nn\nbelow\n"  # one line break at each end goes
    every_third = noted("n", interval=3)
    assert [bool(decide(["x"] * count, book=book, around=every_third).trace.prompt) for count in (1, 2, 3, 4, 6)] == [
        False, False, True, False, True,
    ]  # fmt: skip
    assert reason(decide(["x"], book=book, around=every_third).trace, 0) == "wi_note_not_due"


def test_what_is_around_the_chat_is_told_apart() -> None:
    """Kept runs are found by that: what macros and a scan take from it may not differ unseen."""
    texts = [Surroundings(**{name: {"persona": "A rider."}}) for name in ("macros", "filled", "variables")]
    told = [each.told for each in (Surroundings(), *texts, replace(texts[1], filled={"persona": "A sailor."}))]
    assert all(each not in told[:place] for place, each in enumerate(told))


def test_the_note_is_searched_where_that_is_allowed_and_while_it_is_inserted():
    book = lorebook({"key": ["gale"], "constant": False, "content": "t"})
    allowed = WorldInfoSettings(scan_note=True)
    for settings, note, expected in (
        (allowed, noted("a gale"), ["e0"]),
        (WorldInfoSettings(), noted("a gale"), []),
        (allowed, noted("a gale", interval=2), []),
        (allowed, Surroundings(filled={"chardepthprompt": "a gale"}), ["e0"]),
    ):
        assert titles(decide(["calm"], settings, book=book, around=note).trace) == expected


def test_the_budget_is_a_share_of_the_context_without_the_reply():
    trace = decide(["x"], WorldInfoSettings(budget=50), context_size=1000, around=Surroundings(reply_tokens=400)).trace
    assert trace.limits[0].maximum == 300


def test_a_character_filter_knows_the_pictures_name():
    book = lorebook({"characterFilter": {"names": ["quay_v2"]}, "content": "t"})
    assert not titles(decide(["x"], book=book).trace)
    assert titles(decide(["x"], book=book, around=Surroundings(characters=frozenset({"quay_v2"}))).trace) == ["e0"]
    tagged = lorebook({"characterFilter": {"tags": ["t1"]}, "content": "t"})
    for tags, expected in ((None, ["e0"]), (frozenset(), []), (frozenset({"t1", "t2"}), ["e0"])):
        assert titles(decide(["x"], book=tagged, around=Surroundings(tags=tags)).trace) == expected
    named = WorldInfoSettings(avatar="other")
    assert not titles(decide(["x"], named, book=book, around=Surroundings(characters=frozenset({"quay_v2"}))).trace)


def test_a_lost_draw_is_no_cut_of_the_budget():
    trace = decide(["x"], book=lorebook({"content": "a"}, {"content": "b", "probability": 0})).trace
    assert "1 lost the draw" in summary(trace)
    assert "cut" not in summary(trace)
    assert (Journeys(trace).fate(1).stage, cut_verdicts(trace)) == ("probability", [])


def test_the_number_that_orders_entries_is_called_as_it_is_there():
    trace, of_vault = decide(["x"], book=lorebook({"content": "a", "order": 7})).trace, decide(["dragon"]).trace
    assert "order 7" in entry_as_text(trace, 0)
    assert "Order" in as_text(trace)
    assert "priority 10" in entry_as_text(of_vault, 0)
    assert "Priority" in as_text(of_vault)


def test_hidden_messages_do_not_age_timed_effects():
    """Effects count the messages that the scan is given; hidden ones are not among them (rules: sillytavern 5.6)."""
    book = lorebook({"key": ["x"], "constant": False, "content": "t", "delay": 3})
    chat = (Message("Wren", "x", is_user=True),) * 2
    moment = Moment(VaultIndex(()), chat, Turn(9, 0, 0), timer=lambda: 0.0, positions=(0, 8))
    assert reason(asyncio.run(WorldInfoSystem(books=book).decide(moment)).trace, 0) == "wi_delay"


# ---- several books, similarity --------------------------------------------------------------------------------------


def test_each_entry_is_named_after_its_book_and_the_stage_says_what_is_scanned():
    books = (*lorebook({"content": "g"}, name="World"), *lorebook({"content": "c"}, name="Skarn", role=BookRole.CHAT))
    trace = decide(["x"], book=books).trace
    assert {(ref.vault, ref.filename) for ref in trace.entries.values()} == {("World", "uid 0"), ("Skarn", "uid 0")}
    assert trace.index_size == 2
    assert explain_stage(trace.stages[0], trace) == "Scanned: World (global, 1) and Skarn (chat, 1)."


def test_a_turn_in_which_nothing_came_in_is_summed_up():
    book = lorebook({**PLAIN, "key": ["gale"]}, {**PLAIN, "key": ["calm"], "disable": True})
    told = "Nothing matched: none of the keys of 1 entry is in the last message. 1 more was not searched."
    assert summary(decide(["calm"], book=book[:1]).trace) == told
    lacking = lorebook({**PLAIN, "key": ["calm"], "keysecondary": ["sea"]}, {**PLAIN, "key": ["a"], "disable": True})
    assert summary(decide(["calm"], book=lacking).trace) == "Nothing came in: 2 of 2 entries were kept out."
    off = lorebook({**PLAIN, "key": ["calm"], "disable": True})
    assert summary(decide(["calm"], book=off).trace) == "Nothing came in: 1 of 1 entry was kept out."
    silent = lorebook({**PLAIN, "key": ["gale"]})
    assert "none of the keys of 1 entry is in the last message" in summary(decide(["calm"], book=silent).trace)
    assert "there is no lorebook to scan" in summary(decide(["calm"], book=()).trace)
    told = "Nothing matched: no lorebook that is scanned has an entry: Eldoria (global, 0)."
    assert summary(decide(["calm"], book=lorebook()).trace) == told


def test_a_note_of_the_vault_takes_no_part_where_lorebooks_are_scanned():
    over_books = renumbered(decide(["x"], book=lorebook({"content": "t"})).trace, FOREIGN_IDS.__add__)
    assert reason(over_books, 0) == "wi_not_in_book"
    assert reason(decide(["x"]).trace, 0) == "wi_no_key"


@pytest.mark.parametrize("more", [{"key": []}, {"key": [""]}, {"key": [], "excludeRecursion": True}])
def test_an_entry_without_keys_is_told_to_have_none(more: dict[str, object]) -> None:
    book = lorebook({**PLAIN, "key": ["calm"]}, {**PLAIN, **more}, {**PLAIN, "key": ["gale"]})
    trace = decide(["calm"], book=book).trace
    assert reason(trace, 1) == "wi_keyless"
    assert reason(trace, 2) == "wi_no_key"
    told = summary(decide(["mist"], book=book).trace)
    assert told == ("Nothing matched: none of the keys of 2 entries is in the last message. 1 more was not searched.")


def test_what_is_not_similar_enough_is_told_so_where_it_has_no_key() -> None:
    book = lorebook({**PLAIN, "key": [], "content": "ccc", "vectorized": True})
    assert reason(decide(["aaa"], SIMILAR, book=book, vectors=Letters()).trace, 0) == "wi_unlike"


class Letters:
    """Vectors that count letters."""

    label = "letters"

    def __init__(self):
        self.asked = []

    async def of(self, texts):
        self.asked += texts
        return {text: np.array([text.count(letter) for letter in "abc"], dtype=float) for text in texts}


SIMILAR = WorldInfoSettings(vectors=True, vector_threshold=0.9, vector_entries=1)


def test_a_vectorised_entry_comes_in_by_likeness_to_the_newest_messages():
    """The last two messages, a threshold, so many at most, and only marked entries
    (rules: sillytavern 5.6 "Vectorised").
    """
    book = lorebook(
        {**PLAIN, "content": "aab", "vectorized": True}, {**PLAIN, "content": "ab", "vectorized": True},
        {**PLAIN, "content": "cc", "vectorized": True}, {**PLAIN, "content": "ab"},
        {**PLAIN, "content": "ab", "vectorized": True, "disable": True},
    )  # fmt: skip
    vectors = Letters()
    trace = decide(["ccc", "a", "b"], SIMILAR, book=book, vectors=vectors).trace
    assert vectors.asked == ["b\na", "aab", "ab", "cc"]
    assert titles(trace) == ["e1"]
    assert trace.injections[0].label == "similarity 1.00"
    assert [reason(trace, entry) for entry in (0, 2, 3, 4)] == [
        "wi_similar_beyond", "wi_unlike", "wi_keyless", "wi_disabled",
    ]  # fmt: skip
    found = similarities(trace)
    assert found is not None
    assert [(each.title, each.taken) for each in found.entries] == [("e1", True), ("e0", False), ("e2", False)]
    for_all = SIMILAR.model_copy(update={"vectors_for_all": True})
    assert titles(decide(["a", "b"], for_all, book=book, vectors=Letters()).trace) == ["e3", "e1"]  # of the same text


def test_without_the_extension_a_vectorised_entry_has_its_keys_alone():
    book = lorebook({**PLAIN, "content": "ab", "vectorized": True})
    trace = decide(["ab"], book=book, vectors=Letters()).trace
    assert not trace.injections
    record = trace.stage("vector activation")
    assert "1 entry is marked as vectorized" in explain_stage(record, trace)


def test_vectors_that_fail_leave_the_keys_to_decide():
    class Failing(Letters):
        async def of(self, texts):
            self.asked += texts
            raise LlmError(ErrorKind.CONNECTION, "the server is gone")

    book = lorebook({"content": "ab", "vectorized": True, "key": ["x"], **PLAIN})
    trace = decide(["x"], SIMILAR, book=book, vectors=Failing()).trace
    assert titles(trace) == ["e0"]
    assert "the server is gone" in trace.warnings[0]
    assert "nobody makes vectors" in decide(["x"], SIMILAR, book=book).trace.warnings[0]


def test_a_note_as_an_entry_of_a_lorebook():
    entry = Entry(0, "A.md", "v", "A", "Text.", ("a",), ("b",), priority=40, probability=0.5, cooldown=3,
                  position=Position.BEFORE, scan_depth=7,
                  system_fields={"wi_group": "g", "wi_logic": 3, "wi_order": 5})  # fmt: skip
    made = as_book_entry(entry)
    assert (made.probability, made.cooldown, made.place, made.scan_depth) == (50, 6, BookPlace.BEFORE, 7)
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
