from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.records import replace
from lorestudio.systems.registry import words_of
from lorestudio.trace.diff import UNKNOWN, compare
from lorestudio.trace.journey import FOREIGN_IDS, FateState
from lorestudio.trace.model import EntryRef, Phase, PromptBlock, PromptPart
from tests.trace.examples import (
    ADDED,
    CROWN,
    DAWNKEEP,
    EMBER,
    OATH,
    REFUSED,
    RIVER,
    SKARN,
    TAVERN,
    injection,
    ref,
    stage,
    story,
    trace,
    verdict,
)


def titles(changes):
    return [change.title for change in changes]


def run(*injections, entries=(), stages=(), vault="v"):
    known = {one.id: one for one in entries} or {one.entry: ref(one.entry, one.title) for one in injections}
    return trace(entries=known, injections=tuple(injections), stages=stages, digests={"vault": vault})


def in_order(text):
    return run(*(injection(ord(letter), letter, 10) for letter in text))


def test_a_run_does_not_differ_from_itself():
    diff = compare(story(), story())

    assert not diff
    assert (diff.entered, diff.left, diff.moved, diff.resized, diff.rewritten, diff.refated) == ((),) * 6
    assert diff.unchanged == 4
    assert diff.tokens == (1530, 1530)


def test_who_entered_and_left_has_its_injection_and_both_fates():
    before = story()
    after = replace(before, injections=(*before.injections[:2], injection(OATH, "Oath", 50, 70)))

    diff = compare(before, after)

    assert titles(diff.entered) == ["Oath"]
    (oath,) = diff.entered
    assert oath.key == ("World", "places/Oath.md")
    assert oath.before is None
    assert oath.after is not None
    assert oath.before_fate.reason == "behind_cut"
    assert oath.after_fate.state is FateState.INJECTED
    assert titles(diff.left) == ["Crown", "River"]
    assert diff.unchanged == 2
    assert diff.tokens == (1530, 850)


def test_entries_are_the_same_by_vault_and_file_whatever_their_number():
    before = run(injection(0, "A", 10), injection(1, "B", 10))
    renumbered = {5: EntryRef(5, "A again", "World", "places/A.md", 1, 1), 0: ref(0, "B", vault="Other")}
    after = run(injection(5, "A again", 10), injection(0, "B", 10), entries=renumbered.values(), vault="w")

    diff = compare(before, after)

    assert diff.unchanged == 1
    assert [one.key[0] for one in diff.entered] == ["Other"]
    assert [one.key[0] for one in diff.left] == ["World"]


def test_a_note_that_lies_elsewhere_in_the_vault_is_the_same():
    def elsewhere(id_, title, folder):
        return EntryRef(id_, title, "World", f"{folder}/{title}.md", 100, 100)

    before = run(injection(0, "A", 10), injection(1, "B", 10), injection(2, "C", 10))
    notes = (
        elsewhere(0, "A", "moved"),
        elsewhere(1, "B", "moved"),
        elsewhere(2, "C", "places"),
        elsewhere(3, "B", "twice"),
    )
    after = run(injection(0, "A", 30), injection(1, "B", 10), injection(2, "C", 10), entries=notes, vault="w")
    there = {note.note_key for note in notes}
    diff = compare(before, after, there)
    assert [one.key for one in diff.resized] == [("World", "moved/A.md")]
    assert (titles(diff.entered), titles(diff.left), diff.unchanged) == (["B"], ["B"], 1)  # two are called so there
    assert (titles(compare(before, replace(after, digests=before.digests), there).left)) == ["A", "B"]
    # Where a note of the first run lies still, and only did not come into question, another one of its title came in.
    diff = compare(before, after, {*there, ref(0, "A").note_key})
    assert (titles(diff.entered), titles(diff.left), diff.unchanged) == (["A", "B"], ["A", "B"], 1)
    # So is one of its title that lay there before and only did not come into question.
    diff = compare(before, after, there, {ref(0, "A").note_key, notes[0].note_key})
    assert (titles(diff.entered), titles(diff.left)) == (["A", "B"], ["A", "B"])
    # Of a vault that nobody knows any more, one with another text is another note, however often it was trimmed.
    for hashed, stays in (("1_a_b_trunc", True), ("2_c_d", False)):
        other = replace(after, injections=(injection(0, "A", 30, content_hash=hashed), *after.injections[1:]))
        assert ("A" in titles(compare(before, other, there).left)) is not stays
    for tokens, stays in ((100, True), (90, False)):
        left_out = replace(
            after,
            injections=after.injections[1:],
            entries={**after.entries, 0: replace(after.entries[0], tokens=tokens)},
        )
        (one,) = (each for each in compare(before, left_out, there).left if each.title == "A")
        assert (one.key[1] == "moved/A.md") is stays
    # What is no note, such as a memory, lies in no vault.
    memories = [replace(each, system="facts", words=words_of("facts")) for each in (before, after)]
    assert titles(compare(*memories, there).left) == ["A", "B"]


def test_another_place_is_a_move():
    before = run(injection(0, "A", 10), injection(1, "B", 10))
    after = run(injection(0, "A", 10), injection(1, "B", 10, depth=2, tag="deeplore_p1_d2_r0"))

    assert titles(compare(before, after).moved) == ["B"]


def test_only_what_went_past_the_others_has_moved():
    assert titles(compare(in_order("abcd"), in_order("bcda")).moved) == ["a"]
    assert titles(compare(in_order("abcd"), in_order("dabc")).moved) == ["d"]
    assert titles(compare(in_order("abcd"), in_order("xacdyb")).moved) == ["b"]
    assert compare(in_order("abcd"), in_order("bd")).moved == ()


@given(st.permutations("abcdefg"), st.permutations("abcdefg"))
def test_without_those_that_moved_the_order_is_the_same(one, other):
    moved = titles(compare(in_order(one), in_order(other)).moved)

    assert [name for name in one if name not in moved] == [name for name in other if name not in moved]


def test_more_or_less_room_is_a_resize_and_another_text_a_rewrite():
    before = run(injection(0, "A", 10), injection(1, "B", 10), injection(2, "C", 10))
    after = run(
        injection(0, "A", 8, truncated=True, original_tokens=10),
        injection(1, "B", 10, content_hash="1_x_y"),
        injection(2, "C", 10),
    )

    diff = compare(before, after)

    assert titles(diff.resized) == ["A"]
    assert titles(diff.rewritten) == ["B"]
    assert diff.unchanged == 1
    assert diff.tokens == (30, 28)


def test_what_a_note_says_beside_its_text_is_no_rewrite():
    def said(*texts, content_hash):
        parts = tuple(PromptPart(3 * place, 3 * place + 3, place) for place in range(len(texts)))
        made = run(*(injection(place, f"N{place}", 10, content_hash=content_hash) for place in range(len(texts))))
        return replace(made, prompt=(PromptBlock("t", 1, 4, 0, "".join(texts), parts),))

    diff = compare(said("one", "two", content_hash="1_x_y"), said("one", "TWO", content_hash="2_x_y"))
    assert titles(diff.rewritten) == ["N1"]
    assert diff.unchanged == 1
    # One that stands elsewhere now is no unchanged one.
    turned = said("one", "two", content_hash="2_x_y")
    turned = replace(turned, injections=turned.injections[::-1])
    diff = compare(said("one", "two", content_hash="1_x_y"), turned)
    assert (len(diff.moved), diff.rewritten, diff.unchanged) == (1, (), 1)


def test_stopped_elsewhere_is_refated():
    before = story()
    keywords = before.stage("keywords")
    others = tuple(one for one in keywords.verdicts if one.entry != EMBER)
    blocked = verdict(EMBER, REFUSED, "refine_blocked", key="ember", refine_keys=["ash"])
    changed = replace(keywords, verdicts=(*others, blocked))
    stages = tuple(changed if record is keywords else record for record in before.stages)

    diff = compare(before, replace(before, stages=stages))

    assert titles(diff.refated) == ["Ember"]
    assert [(one.before_fate.reason, one.after_fate.reason) for one in diff.refated] == [
        ("probability_lost", "refine_blocked")
    ]
    assert not diff


def test_of_two_systems_only_reasons_in_other_words_are_told():
    """Stages of two systems are never the same; “blocked → blocked” says nothing."""
    before = story()
    renamed = tuple(replace(record, name=f"{record.name}, there") for record in before.stages)
    assert titles(compare(before, replace(before, stages=renamed)).refated)
    assert not compare(before, replace(before, stages=renamed, system="other")).refated


def test_an_entry_that_one_run_does_not_mention_has_the_fate_of_those():
    keywords = stage("keywords", Phase.MATCH, (), (), default_reason="no_key_hit")
    hit = stage("keywords", Phase.MATCH, (), (7,), verdict(7, ADDED, "key_hit", key="g"), default_reason="no_key_hit")
    known = run(injection(7, "G", 10), stages=(hit,))

    same_vault = compare(known, run(stages=(keywords,)))
    other_vault = compare(known, run(stages=(keywords,), vault="w"))

    assert [(one.after_fate.entry, one.after_fate.reason) for one in same_vault.left] == [(7, "no_key_hit")]
    assert [(one.after_fate.entry, one.after_fate.reason) for one in other_vault.left] == [(UNKNOWN, "no_key_hit")]


def test_notes_and_what_another_system_remembers_are_told_apart():
    keywords = stage(
        "keywords", Phase.MATCH, (), (7,), verdict(7, ADDED, "key_hit", key="g"), default_reason="no_key_hit"
    )
    of_notes = run(injection(7, "G", 10), stages=(keywords,))

    def recaps(entry, title):
        walk = replace(stage("inclusion walk", Phase.BUDGET, (entry,), ()), note="recap_walk")
        told = run(injection(entry, title, 5), stages=(walk,), vault="")
        return replace(told, system="recap", words=words_of("recap"), others=True, digests={})

    diff = compare(recaps(FOREIGN_IDS, "R"), of_notes)
    assert [one.before_fate.reason for one in diff.entered] == ["recap_no_recap"]
    assert [one.after_fate.reason for one in diff.left] == ["never_candidate"]
    later = compare(recaps(FOREIGN_IDS, "R"), recaps(FOREIGN_IDS + 1, "S"))  # a version that was not there yet
    assert [one.before_fate.reason for one in later.entered] == ["never_candidate"]


def test_two_runs_have_the_opposite_differences_the_other_way_round():
    before, after = story(), replace(story(), injections=(injection(RIVER, "River", 40), injection(TAVERN, "T", 1)))

    there, back = compare(before, after), compare(after, before)

    assert titles(there.entered) == titles(back.left) == ["Tavern"]
    assert {one.before_fate.entry for one in there.left} == {SKARN, DAWNKEEP, CROWN}
    assert titles(there.left) == titles(back.entered)
    assert there.tokens == back.tokens[::-1]
