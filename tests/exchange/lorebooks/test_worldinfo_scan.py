"""SillyTavern's scan, rule by rule (rules: sillytavern 5.6)."""

import json
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.tokens import CharacterEstimate
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY, BookError, BookPlace, Logic, split_decorators
from lorestudio.exchange.lorebooks.keys import KeyMatching, occurs
from lorestudio.exchange.lorebooks.reading import InsertionStrategy, Lorebook, in_order, read_lorebook
from lorestudio.settings.worldinfo import V1_12, V1_18, WorldInfoSettings
from lorestudio.systems.macros import Macros
from lorestudio.systems.worldinfo.haystack import TextSource
from lorestudio.systems.worldinfo.scan import LoopPart, Scanner, TimedEffect, TimedState, after, at

WORDS = CharacterEstimate("characters", 1)
PLAIN = WorldInfoSettings(match_whole_words=False)
ONCE = PLAIN.model_copy(update={"recursive": False})


def entries(*raws):
    return read_lorebook(
        {"entries": {str(place): {**NEW_ENTRY, "uid": place, **raw} for place, raw in enumerate(raws)}}
    ).entries


def scan(
    raws,
    *messages,
    settings=PLAIN,
    draws=(),
    budget=10_000,
    state=None,
    count=10,
    character="",
    similar=None,
    macros=None,
    **lent,
):
    """The newest message comes last, as in a chat."""
    book = sorted(entries(*raws), key=lambda entry: -entry.order)
    timed = at(count, book, state or TimedState())
    numbers = iter(draws)
    source = TextSource(tuple(reversed(messages)), frozenset({character}), **lent)
    filled = Macros(macros or {}).fill
    draw = partial(next, numbers)
    return Scanner(book, source, settings, timed, WORDS, draw, budget, substituted=filled, similar=similar or {}).run()


def active(*arguments, **options):
    return [int(entry.uid) for entry in scan(*arguments, **options).active]


def reasons(scanned, uid):
    return [event.reason for loop in scanned.loops for event in loop.events if event.uid == str(uid)]


def key(*words, **more):
    return {"key": list(words), "content": f"About {words[0] if words else 'nothing'}.", **more}


# ---- keys -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text", "case", "whole", "found"),
    [
        ("art", "the party", False, False, True),
        ("art", "the party", False, True, False),
        ("art", "modern art", False, True, True),
        ("modern art", "postmodern artist", False, True, True),  # several words are looked for as they are
        ("Art", "art", True, False, False),
        (" art ", "the party", False, False, False),  # trimming is the scan's affair
        ("art ", "modern art. ", True, True, False),  # a blank makes it several words
        ("", "the party", True, True, True),  # blank: always
        ("/dr[ae]gon/i", "a DREGON", False, True, True),
        ("/dragon/", "a Dragon", False, False, False),  # a pattern has its own flags
        ("/^\x01wren:/i", "\x01Wren: hello", False, False, True),
        ("/a/b/", "/a/b/", False, False, True),  # an inner slash: no pattern, a plain key
        ("/a\\/b/", "a/b", False, False, True),
        ("/(/", "see /(/ there", False, False, True),  # broken: plain
        ("/[😀-😂]/", "hello 😁", False, False, False),  # broken without u
        ("/[😀-😂]/", "see /[😀-😂]/ there", False, False, True),
        ("/[😀-😂]/u", "hello 😁", False, False, True),
        ("żuraw", "przyszedł żuraw", False, True, True),
    ],
)
def test_key_test(word, text, case, whole, found):
    assert occurs(word, text, KeyMatching(case, whole)) is found


@given(st.text("aż_ -1", min_size=1, max_size=3), st.text("aż_ -1\x01", max_size=12))
def test_whole_words_are_those_of_the_pattern(word, text):
    """`(?:^|\\W)(key)(?:$|\\W)`, in which only ASCII letters, digits and _ are part of a word
    (rules: sillytavern 5.6).
    """
    pattern = re.compile(rf"(?:\A|\W)({re.escape(word)})(?:\Z|\W)", re.ASCII)
    expected = word in text if len(re.split(r"\s+", word)) > 1 else pattern.search(text) is not None
    assert occurs(word, text, KeyMatching(True, True)) is expected


def test_the_newest_messages_are_scanned():
    assert active([key("oath")], "an oath", "b", "c") == []
    assert active([key("oath")], "a", "an oath", "c") == [0]
    assert active([key("oath", scanDepth=3)], "an oath", "b", "c") == [0]
    assert active([key("oath", scanDepth=0)], "an oath") == []


@pytest.mark.parametrize(
    ("logic", "text", "expected"),
    [
        (Logic.AND_ANY, "dragon fire", [0]), (Logic.AND_ANY, "dragon", []),
        (Logic.NOT_ALL, "dragon fire", [0]), (Logic.NOT_ALL, "dragon fire ice", []),
        (Logic.NOT_ANY, "dragon", [0]), (Logic.NOT_ANY, "dragon ice", []),
        (Logic.AND_ALL, "dragon fire ice", [0]), (Logic.AND_ALL, "dragon fire", []),
    ],
)  # fmt: skip
def test_secondary_keys(logic, text, expected):
    raw = key("dragon", keysecondary=["fire", "ice"], selectiveLogic=int(logic))
    assert active([raw], text) == expected
    assert active([{**raw, "selective": False}], "dragon") == [0]


def test_constants_decorators_and_switches():
    raws = [
        key("x", constant=True),
        {"content": "@@activate\nAlways."},
        key("dragon", content="@@dont_activate\nNever."),
        key("dragon", disable=True),
        key("dragon", characterFilter={"isExclude": False, "names": ["Skarn"]}),
        key("dragon", characterFilter={"isExclude": True, "names": ["Skarn"]}),
    ]
    assert sorted(active(raws, "dragon", character="Wren")) == [0, 1, 5]
    assert sorted(active(raws, "dragon", character="Skarn")) == [0, 1, 4]


def test_decorators_and_their_fallbacks():
    assert split_decorators("@@activate\nText") == (("@@activate",), "Text")
    assert split_decorators("@@unknown\n@@@activate\nText") == (("@@activate",), "Text")
    assert split_decorators("@@activate\n@@@dont_activate\nText") == (("@@activate",), "Text")
    assert split_decorators("No @@activate") == ((), "No @@activate")
    assert split_decorators("@@activate") == (("@@activate",), "@@activate")  # no line of text: all of it is kept


# ---- recursion, minimum ---------------------------------------------------------------------------------------------


def test_recursion_goes_on_until_nothing_new_comes():
    raws = [key("qq", content="zz"), key("zz", content="yy"), key("yy")]
    assert active(raws, "qq") == [0, 1, 2]
    assert active([key("q", content="speaks of zz"), key("zz")], "q", settings=ONCE) == [0]


def test_scans_can_be_limited():
    raws = [key("qq", content="zz"), key("zz", content="yy"), key("yy")]
    for steps, expected in ((1, [0]), (2, [0, 1]), (0, [0, 1, 2])):
        assert active(raws, "qq", settings=PLAIN.model_copy(update={"max_recursion_steps": steps})) == expected


def test_entries_can_stay_out_of_recursion():
    raws = [key("qq", content="zz"), key("zz", excludeRecursion=True)]
    assert active(raws, "qq") == [0]
    assert active([key("qq", content="zz", preventRecursion=True), key("zz")], "qq") == [0]


def test_delayed_entries_come_in_level_by_level():
    raws = [key("qq", content="zz"), key("zz", content="yy", delayUntilRecursion=2), key("yy", delayUntilRecursion=1)]
    assert active(raws, "qq") == [0, 1, 2]
    assert active([key("zz", delayUntilRecursion=True)], "zz") == []  # nothing recurs, and there is no further level
    assert active([key("zz", delayUntilRecursion=1), key("yy", delayUntilRecursion=2)], "zz yy") == [0, 1]


def test_fewest_entries_look_further_back():
    settings = PLAIN.model_copy(update={"min_activations": 1, "depth": 1})
    assert active([key("oath")], "an oath", "b", "c", settings=settings) == [0]
    limited = settings.model_copy(update={"min_activations_depth_max": 1})
    assert active([key("oath")], "an oath", "b", "c", settings=limited) == []


# ---- groups, probability, budget ------------------------------------------------------------------------------------


def test_of_a_group_one_is_drawn_by_weight():
    raws = [key("x", group="g", groupWeight=10), key("x", group="g", groupWeight=90)]
    assert active(raws, "x", draws=[0.05]) == [0]
    assert active(raws, "x", draws=[0.1]) == [0], "equal is enough"
    scanned = scan(raws, "x", draws=[0.5], settings=ONCE)
    assert [entry.uid for entry in scanned.active] == ["1"]
    assert reasons(scanned, 0) == ["wi_key", "wi_group_lost"]
    assert "wi_group_drawn" in reasons(scanned, 1)


@given(
    st.lists(
        st.builds(
            lambda groups, weight, override: key(
                "x", group=", ".join(groups), groupWeight=weight, groupOverride=override
            ),
            st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            st.integers(0, 100),
            st.booleans(),
        ),
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_of_every_group_one_comes_in_at_most(raws, random):
    draws = [random.random() for _ in range(9)]
    scanned = scan(raws, "x", draws=draws, settings=ONCE)
    groups = [name for entry in scanned.active for name in entry.groups]
    assert len(groups) == len(set(groups))
    left = {entry.uid for entry in scanned.active}
    if not any("," in raw["group"] for raw in raws):  # who is in two groups may lose in both, and take others along
        assert {str(uid) for uid, raw in enumerate(raws) if not raw["group"]} <= left
        assert not raws or left  # there is always somebody to take


def test_who_loses_in_two_groups_takes_the_last_entry_along():
    first = {"group": "x", "groupOverride": True}
    raws = [key("q", group="x,y"), key("q", **first), key("q", **{**first, "group": "y"}), key("q")]
    scanned = scan(raws, "q", settings=ONCE)
    assert [entry.uid for entry in scanned.active] == ["1", "2"]
    assert reasons(scanned, 3) == ["wi_key", "wi_group_bystander"]


def test_who_lost_in_one_group_still_drives_the_others_out_of_the_next():
    raws = [key("q", group="x,y", groupOverride=True, order=50), key("q", group="x", groupOverride=True),
            key("q", group="y"), key("q")]  # fmt: skip
    assert active(raws, "q", settings=ONCE) == [1, 3]


def test_priority_in_a_group_needs_no_draw():
    raws = [key("x", group="g", groupOverride=True, order=5), key("x", group="g", groupOverride=True, order=9),
            key("x", group="g", order=99)]  # fmt: skip
    assert active(raws, "x") == [1]


def test_group_scoring_counts_keys():
    raws = [key("x", "y", group="g", useGroupScoring=True), key("x", "z", group="g", useGroupScoring=True)]
    scanned = scan(raws, "x y", settings=ONCE)
    assert [entry.uid for entry in scanned.active] == ["0"]
    assert reasons(scanned, 1) == ["wi_key", "wi_group_score"]


def test_an_active_entry_of_the_group_keeps_later_ones_out():
    raws = [key("qq", group="g", content="zz"), key("zz", group="g")]
    scanned = scan(raws, "qq")
    assert [entry.uid for entry in scanned.active] == ["0"]
    assert reasons(scanned, 1) == ["wi_key", "wi_group_active"]
    (out,) = (event for loop in scanned.loops for event in loop.events if event.reason == "wi_group_active")
    assert out.details == {"group": "g", "winner_uid": "0"}


@pytest.mark.parametrize(
    "weights", [*([each, each] for each in (1e999, 0, -1, "10", None)), [100, -50], [-50, 100], ["x", "1F"]]
)
def test_a_draw_among_odd_weights_says_a_chance_only_where_there_is_one(weights):
    raws = [key("x", group="g", groupWeight=weight) for weight in weights]
    scanned = scan(raws, "x", draws=[0.5], settings=ONCE)
    told = [event.details.get("chance", 0) for loop in scanned.loops for event in loop.events]
    assert all(isinstance(each, int) and 0 <= each <= 100 for each in told)


def test_who_lost_a_draw_is_told_so_in_later_loops_too():
    """That the winner was active by then hid that it was a draw, and with which chance."""
    raws = [key("x", group="g", groupWeight=10, content="x again"), key("x", group="g", groupWeight=30)]
    scanned = scan(raws, "x", draws=[0.9])
    told = [event for loop in scanned.loops for event in loop.events if event.reason.startswith("wi_group")]
    lost = {"group": "g", "winner_uid": "1", "chance": 25}
    assert [(event.uid, event.reason, event.details) for event in told] == [
        ("0", "wi_group_lost", lost), ("1", "wi_group_drawn", {"group": "g", "of": 2, "chance": 75}),
        ("0", "wi_group_lost", lost),
    ]  # fmt: skip


def test_who_lost_a_draw_to_one_that_did_not_stay_is_told_who_keeps_it_out():
    once = {"group": "g", "excludeRecursion": True}
    drawn = key("x", **once, probability=0, groupWeight=1000)
    raws = [key("x", **once), drawn, key("zz", group="g"), key("x", content="zz")]
    settings = PLAIN.model_copy(update={"min_activations": 4, "depth": 1})
    scanned = scan(raws, "x", draws=[0.5, 0.5], settings=settings)
    told = [event for loop in scanned.loops for event in loop.events if event.uid == "0" and "group" in event.reason]
    assert [(event.reason, event.details["winner_uid"]) for event in told] == [
        ("wi_group_lost", "1"), ("wi_group_active", "2")
    ]  # fmt: skip


def test_who_lost_in_one_group_is_told_when_another_one_keeps_it_out():
    raws = [
        key("x", group="a, b", groupWeight=0, excludeRecursion=True, useGroupScoring=True),
        key("x", "y", group="a", excludeRecursion=True, probability=0, useGroupScoring=True),
        key("zz", group="b"), key("x", content="zz"),
    ]  # fmt: skip
    settings = PLAIN.model_copy(update={"min_activations": 4, "depth": 1})
    scanned = scan(raws, "x y", draws=[0.5, 0.5], settings=settings)
    told = [event for loop in scanned.loops for event in loop.events if event.uid == "0" and "group" in event.reason]
    assert [(event.reason, event.details["group"]) for event in told] == [
        ("wi_group_score", "a"), ("wi_group_active", "b")
    ]  # fmt: skip


def test_who_loses_by_keys_again_is_told_how_many_others_had_then():
    group = {"group": "g", "useGroupScoring": True}
    more = key("zz", "ww", "vv", **group)
    raws = [key("x", **group), key("x", "y", **group, probability=0), more, key("x", content="zz ww vv")]
    scanned = scan(raws, "x y", draws=[0.5, 0.5])
    told = [event.details for loop in scanned.loops for event in loop.events if event.reason == "wi_group_score"]
    assert [(details["score"], details["most"]) for details in told] == [(1, 2), (1, 3), (1, 3)]


def test_probability_is_drawn_once_for_the_whole_scan():
    raws = [key("x", probability=30, content="x again")]
    assert active(raws, "x", draws=[0.3]) == [0]  # equal is enough
    lost = scan([*raws, key("x", content="x")], "x", draws=[0.31])
    assert [entry.uid for entry in lost.active] == ["1"]
    assert lost.draws == (0.31,)
    assert active([key("x", probability=0, useProbability=False)], "x") == [0]


def test_the_budget_ends_the_scan():
    raws = [key("x", content="12345", order=9), key("x", content="1234567890", order=5), key("x", content="1", order=1)]
    scanned = scan(raws, "x", budget=12)
    assert [entry.uid for entry in scanned.active] == ["0"]
    assert scanned.overflowed
    assert reasons(scanned, 1)[-1] == "wi_over_budget"
    assert reasons(scanned, 2)[-1] == "wi_behind_budget"


def test_reaching_the_budget_is_too_much():
    assert active([key("x", content="12345")], "x", budget=6) == []
    assert active([key("x", content="12345")], "x", budget=7) == [0]


def test_what_does_not_feed_recursion_is_free_in_later_loops():
    raws = [key("x", content="y" * 50, preventRecursion=True, order=9), key("x", content="zz", order=8), key("zz")]
    assert set(active(raws, "x", budget=60)) == {0, 1, 2}


# ---- timed effects --------------------------------------------------------------------------------------------------


def test_sticky_entries_need_no_key():
    book = entries(key("x", sticky=3))
    state = after(10, book, TimedState())
    assert active([key("x", sticky=3)], "nothing", state=state, count=12) == [0]
    (told, *_) = scan([key("x", sticky=3)], "nothing", state=state, count=12).loops[0].events
    assert (told.reason, told.details) == ("wi_sticky", {"until": 13})
    assert active([key("x", sticky=3)], "nothing", state=state, count=13) == []
    assert active([key("x", sticky=3)], "nothing", state=state, count=10) == []  # the chat went back


def test_cooldown_keeps_an_entry_out_until_it_ends():
    raw = key("x", cooldown=2)
    state = after(10, entries(raw), TimedState())
    assert active([raw], "x", state=state, count=11) == []
    assert active([raw], "x", state=state, count=12) == [0]


def test_cooldown_begins_when_sticky_ends():
    raw = key("x", sticky=2, cooldown=5)
    book = entries(raw)
    timed = at(12, book, after(10, book, TimedState()))
    assert timed.sticky == frozenset()
    assert timed.cooling == {"0": 17}


def test_an_entry_that_changed_loses_its_effect():
    state = TimedState(sticky={"0": TimedEffect("another digest", 10, 20)})
    assert at(12, entries(key("x", sticky=9)), state).sticky == frozenset()
    assert at(12, (), state).state.sticky == state.sticky  # gone for now: it may come back
    changed = at(12, entries(key("x", sticky=9)), state).state
    assert after(12, entries(key("x", sticky=9)), changed).sticky == state.sticky  # nothing new before its end
    assert at(20, entries(key("x", sticky=9)), state).state.sticky == {}


def test_a_delay_waits_for_messages():
    assert active([key("x", delay=11)], "x", count=10) == []
    assert active([key("x", delay=10)], "x", count=10) == [0]


def test_in_a_group_a_sticky_entry_that_cools_down_goes_and_takes_the_others_along():
    """A sticky member drives the others out, and members on cooldown are removed
    (rules: sillytavern 5.6 "Inclusion groups").
    """
    raws = [key("x", group="g", sticky=2, cooldown=5), key("x", group="g")]
    state = after(10, entries(raws[0]), TimedState())
    assert active(raws, "x", state=state, count=11) == []
    assert active([{**raws[0], "cooldown": 0}, raws[1]], "x", count=11,
                  state=after(10, entries({**raws[0], "cooldown": 0}), TimedState())) == [0]  # fmt: skip


# ---- macros, texts that are lent, similarity, newer fields -----------------------------------------------------------


def test_macros_are_filled_in_before_keys_are_sought_and_texts_counted():
    assert active([key("{{char}}")], "Skarn wakes", macros={"char": "Skarn"}) == [0]
    assert active([key("{{char}}")], "{{char}}", macros={"char": ""}) == []  # nothing is left of the key
    raws = [key("x", content="{{user}}")]
    assert active(raws, "x", macros={"user": "Wren"}, budget=6) == [0]  # four letters and a line break
    assert active(raws, "x", macros={"user": "Wren"}, budget=5) == []
    spread = [key("x", content="{{user}}"), key("wren")]
    assert active(spread, "x", macros={"user": "Wren"}) == [0, 1]  # recursion reads what the model would


def test_a_key_of_blanks_is_always_found_and_an_empty_one_never():
    for blank in (" ", "{{newline}}"):
        assert active([key(blank)], "x y") == [0]
        for logic, expected in ((Logic.AND_ANY, [0]), (Logic.NOT_ALL, []), (Logic.NOT_ANY, []), (Logic.AND_ALL, [0])):
            assert active([key("x", keysecondary=[blank], selectiveLogic=int(logic))], "x y") == expected
    assert active([key("", "{{noop}}")], "x y", macros={"noop": ""}) == []


def test_messages_are_trimmed_and_texts_of_a_loop_are_one_for_patterns():
    assert active([key("/\x01wren/i")], "  Wren") == [0]
    raws = [key("x", order=9, content="one"), key("x", order=8, content="two"), key("/\x01two/")]
    assert active(raws, "x") == [0, 1]  # the mark stands before the texts of a loop, not before each
    assert active([*raws[:2], key("/one\ntwo/")], "x") == [0, 1, 2]


def test_texts_of_the_prompt_are_lent_to_all_and_of_the_card_to_those_who_ask():
    scanned = scan([key("gale")], "calm", prompts=(("the author's note", "a gale"),))
    assert [entry.uid for entry in scanned.active] == ["0"]
    assert scanned.loops[0].events[0].details["lent"] == "the author's note"
    asked = {
        "matchPersonaDescription": "persona", "matchCharacterDescription": "description",
        "matchCharacterPersonality": "personality", "matchCharacterDepthPrompt": "chardepthprompt",
        "matchScenario": "scenario", "matchCreatorNotes": "creatornotes",
    }  # fmt: skip
    raws = [key("gale"), *(key("gale", content="Wind.", **{each: True}) for each in asked)]
    for number, macro in enumerate(asked.values(), 1):
        assert active(raws, "calm", extras={macro: "a gale"}) == [number]
    assert active([key("gale", scanDepth=0)], "calm", prompts=(("note", "a gale"),)) == []  # depth 0: nothing at all


def test_similar_entries_need_no_key_but_heed_everything_before_keys():
    raws = [
        {"content": "a"}, {"content": "b", "disable": True}, {"content": "c", "delay": 99},
        {"content": "@@dont_activate\nd"}, {"content": "e", "delayUntilRecursion": True},
    ]  # fmt: skip
    scanned = scan(raws, "x", similar=dict.fromkeys("01234", 0.5))
    assert {entry.uid for entry in scanned.active} == {"0", "4"}  # the last one by recursion
    assert reasons(scanned, 0) == ["wi_vector", "wi_fits"]
    assert reasons(scanned, 3) == ["wi_never"]


def test_triggers_name_kinds_of_generation():
    assert active([key("x", triggers=["swipe"]), key("x", triggers=["normal", "swipe"]), key("x")], "x") == [1, 2]
    assert active([key("x", triggers=["swipe"])], "x", kind="swipe") == [0]


def test_what_ignores_the_budget_comes_in_behind_the_one_that_broke_it():
    raws = [key("x", content="1234567890", order=9), key("x", content="1", order=5),
            key("x", content="2", order=1, ignoreBudget=True)]  # fmt: skip
    scanned = scan(raws, "x", budget=5)
    assert [entry.uid for entry in scanned.active] == ["2"]
    last = [reasons(scanned, uid)[-1] for uid in (0, 1, 2)]
    assert last == ["wi_over_budget", "wi_behind_budget", "wi_ignores_budget"]


def test_scores_of_a_wider_scan_leave_recursion_out():
    settings = PLAIN.model_copy(update={"min_activations": 3, "depth": 1})
    raws = [key("qq", content="yy zz"), key("aa", "yy", "zz", group="g", useGroupScoring=True, excludeRecursion=True),
            key("aa", "bb", group="g", useGroupScoring=True, excludeRecursion=True)]  # fmt: skip
    assert active(raws, "aa bb", "qq", settings=settings) == [0, 2]


def test_a_wider_scan_was_followed_by_recursion_where_nothing_was_put_aside():
    """In 1.12 the buffer held an empty text then, which let delayed entries in (rules: sillytavern 5.6)."""
    settings = PLAIN.model_copy(update={"min_activations": 1, "depth": 1})
    older = settings.model_copy(update={"version": V1_12})
    assert active([key("oath", delayUntilRecursion=True)], "an oath", "b", settings=older) == [0]
    assert active([key("oath", delayUntilRecursion=True)], "an oath", "b", settings=settings) == []


def test_an_overflow_lasts_and_did_not_in_1_12():
    raws = [key("x", content="1" * 20, order=9, preventRecursion=True), key("x", content="2", delayUntilRecursion=1)]
    raws.append(key("x", content="3", delayUntilRecursion=2))
    assert active(raws, "x", budget=10) == []
    assert active(raws, "x", budget=10, settings=PLAIN.model_copy(update={"version": V1_12})) == [1, 2]


def test_what_similarity_brings_comes_before_all_else_and_draws_again():
    raws = [key("x", content="longer", constant=True, order=9), key("q", content="short", probability=50, order=1)]
    lost = scan(raws, "x", draws=[0.9, 0.1], similar={"1": 1.0})
    assert [entry.uid for entry in lost.active] == ["0", "1"]
    assert [entry.uid for entry in scan(raws, "x", draws=[0.1], similar={"1": 1.0}).active] == ["1", "0"]
    older = PLAIN.model_copy(update={"version": V1_12})
    assert active(raws, "x", draws=[0.1], similar={"1": 1.0}, settings=older) == [0, 1]


def test_of_two_entries_of_one_number_the_later_one_takes_the_place():
    """In 1.12 both counted (rules: sillytavern 5.6 "Version 1.18")."""
    raws = [{"uid": 7, **key("x", content="one")}, {"uid": 7, **key("x", content="two")}]
    book = in_order([Lorebook("B", entries(*raws))], InsertionStrategy.EVENLY)
    found = {}
    for version in (V1_18, V1_12):
        settings = PLAIN.model_copy(update={"version": version})
        timed = at(1, book, TimedState())
        found[version] = Scanner(book, TextSource(("x",)), settings, timed, WORDS, lambda: 0.0, 99, str, {}).run()
    assert [(entry.name, entry.content) for entry in found[V1_18].active] == [("B.7", "two")]
    assert reasons(found[V1_18], "B.7")[-1] == "wi_replaced"
    assert [entry.content for entry in found[V1_12].active] == ["one", "two"]


# ---- files ----------------------------------------------------------------------------------------------------------


def test_old_files_and_embedded_books_are_read():
    old = read_lorebook({"entries": {"0": {"key": "a, b", "content": "x", "order": "7"}}}).entries[0]
    assert (old.keys, old.order, old.selective, old.depth) == ((), 7, False, 4)  # no default is filled in
    assert (old.place, old.probability) == (BookPlace.NOWHERE, None)
    card = read_lorebook(
        {"entries": [{"keys": ["a"], "secondary_keys": ["b"], "content": "x", "enabled": False, "insertion_order": 3,
                      "position": "after_char", "extensions": {"depth": 9, "sticky": 2}}]}
    ).entries[0]  # fmt: skip
    assert (card.keys, card.secondary, card.disabled, card.order, card.place, card.depth, card.sticky) == (
        ("a",), ("b",), True, 3, BookPlace.AFTER, 9, 2,
    )  # fmt: skip
    assert not card.selective


@pytest.mark.parametrize(("document", "words"), [({}, "entries: a lorebook"), ({"entries": {"3": 1}}, r"entries\.3")])
def test_what_is_no_lorebook_is_said(document, words):
    with pytest.raises(BookError, match=words):
        read_lorebook(document)


def test_an_entry_nested_too_deeply_is_said():
    tags = json.loads("[" * 600 + "]" * 600)
    entries = {"0": {"content": "x"}, "3": {"content": "x", "characterFilter": {"tags": tags}}}
    with pytest.raises(BookError, match=r"entries\.3: it is nested too deeply"):
        read_lorebook({"entries": entries})


def test_every_loop_tells_its_parts():
    scanned = scan([key("qq", content="zz"), key("zz")], "qq")
    parts = {event.part for loop in scanned.loops for event in loop.events}
    assert parts >= {LoopPart.KEYS, LoopPart.BUDGET}
