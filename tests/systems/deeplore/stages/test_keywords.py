"""The keyword pass (rules: deeplore 3.3 to 3.5, 12.2): which keys hit, and which hits count."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.stages.candidates import keywords_stage
from tests.systems.worlds import WHERE, Ran, World, entry, message, run_stage, world


def keywords(there: World, before: str = "", **fields: Any) -> Ran:
    return run_stage(keywords_stage, there, before, hide=WHERE, **fields)


CONDITIONS = [
    pytest.param(
        world(entry("Dragon", "wyrm", "dragon"), entry("Sword", "sword"), chat=["A: the dragon"]),
        ["added Dragon: key_hit key=dragon", "left: Dragon"],
        id="the first key of the note that hits is the label",
    ),
    pytest.param(
        world(entry("D", "Dragon ", "dragon"), chat=["A: dragon!"]),
        ["added D: key_hit key=dragon", "left: D"],
        id="keys are not trimmed (rules: deeplore 3.4)",
    ),
    pytest.param(
        world(entry("E", "", "  ", "eris"), entry("N"), chat=["A:  eris"]),
        ["added E: key_hit key=eris", "left: E"],
        id="blank keys are skipped, no keys never match (rules: deeplore 3.4)",
    ),
    pytest.param(
        world(entry("Eris", "eris"), chat=["Eris: who goes there?"]),
        ["added Eris: key_hit key=eris", "left: Eris"],
        id="a speaker's name is searched too (rules: deeplore 3.3, 12.7)",
    ),
    pytest.param(
        world(entry("K", "dragon", constant=True), entry("G", "dragon", guide=True), chat=["A: dragon"]),
        ["left: -"],
        id="constants and guides are not tested",
    ),
    pytest.param(
        world(entry("Old", "dragon", scan_depth=1), chat=["A: dragon", "U: hello"]),
        ["left: -"],
        id="own scan depth 1, the key only in the older message (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(entry("Deep", "dragon", scan_depth=9), entry("Near", "dragon"), chat=["A: dragon", *["U: x"] * 4]),
        ["added Deep: key_hit key=dragon", "left: Deep"],
        id="own scan depth beyond the global one",
    ),
    pytest.param(
        world(entry("None", "dragon", scan_depth=0), chat=["A: dragon"]),
        ["left: -"],
        id="own scan depth 0 searches nothing (rules: deeplore 3.5)",
    ),
    pytest.param(
        world(entry("All", "dragon", scan_depth=0.5), chat=["A: dragon", *["U: x"] * 9]),
        ["added All: key_hit key=dragon", "left: All"],
        id="a scan depth of 0.5 is the whole chat (rules: deeplore 3.3)",
    ),
    pytest.param(
        world(entry("Two", "dragon", scan_depth=2.9), entry("No", "wyrm", scan_depth=2.9),
              chat=["A: wyrm", "A: dragon", "U: x"]),
        ["added Two: key_hit key=dragon", "left: Two"],
        id="a scan depth of 2.9 is two messages (rules: deeplore 3.3)",
    ),
    pytest.param(
        world(entry("All", "dragon", scan_depth=float("inf")), chat=["A: dragon", *["U: x"] * 9]),
        ["added All: key_hit key=dragon", "left: All"],
        id="an infinite scan depth is the whole chat (rules: deeplore 3.3: the lesser of depth and chat length)",
    ),
    pytest.param(
        world(entry("Guild", "rose", refine_keys=("guild", "order")), chat=["A: the rose order"]),
        ["added Guild: key_hit key=rose refine_key=order", "left: Guild"],
        id="one refine key is enough",
    ),
    pytest.param(
        world(entry("Guild", "rose", refine_keys=("guild",)), chat=["A: a rose guildhall"], match_whole_words=True),
        ["refused Guild: refine_blocked key=rose refine_keys=[guild]", "left: -"],
        id="the refine key only as a part of a word (rules: deeplore 12.2)",
    ),
    pytest.param(
        world(entry("Guild", "rose", refine_keys=("guild",)), chat=["A: guild"]),
        ["left: -"],
        id="without the primary key there is nothing to report",
    ),
    pytest.param(
        world(entry("Guild", "rose", refine_keys=("guild",), scan_depth=1), chat=["A: guild", "U: a rose"]),
        ["refused Guild: refine_blocked key=rose refine_keys=[guild]", "left: -"],
        id="refine keys are searched in the entry's own window",
    ),
    pytest.param(
        world(entry("W", "aa", "ab", warmup=4), chat=["A: aaaa ab ab"]),
        ["added W: key_hit key=aa", "left: W"],
        id="warmup counts all keys, without overlaps (rules: deeplore 3.10)",
    ),
    pytest.param(
        world(entry("W", "aa", warmup=3, probability=0.5), chat=["A: aaaa"], draws=[]),
        ["refused W: warmup_short needed=3 found=2", "left: -"],
        id="warmup comes before the draw (rules: deeplore 3.5 step 3)",
    ),
    pytest.param(
        world(entry("W", "dragon", warmup=1.5), chat=["A: dragon"]),
        ["refused W: warmup_short needed=1.5 found=1", "left: -"],
        id="a fraction of a warmup (rules: deeplore 1.5)",
    ),
    pytest.param(
        world(entry("P", "dragon", probability=0), chat=["A: dragon"], draws=[]),
        ["refused P: probability_zero", "left: -"],
        id="probability 0 draws nothing (rules: deeplore 3.5 step 4)",
    ),
    pytest.param(
        world(entry("P", "dragon", probability=1), chat=["A: dragon"], draws=[]),
        ["added P: key_hit key=dragon", "left: P"],
        id="probability 1 draws nothing (rules: deeplore 3.12)",
    ),
    pytest.param(
        world(
            entry("A", "dragon", probability=0.3), entry("B", "dragon", probability=0.3),
            entry("C", "dragon", probability=0.3), entry("D", "dragon", probability=1),
            entry("E", "dragon", probability=0), entry("F", "absent", probability=0.3),
            chat=["A: dragon"], draws=[0.5, 0.2, 0.3],
        ),
        [
            "refused A: probability_lost probability=0.3 roll=0.5",
            "added B: key_hit key=dragon",
            "added C: key_hit key=dragon",
            "added D: key_hit key=dragon",
            "refused E: probability_zero",
            "left: B, C, D",
        ],
        id="draws in index order; a roll equal to the probability passes (rules: deeplore 3.12)",
    ),
    pytest.param(
        world(entry("C", "dragon", probability=0.5), chat=["A: dragon"], cooldown={"V:C": 1}, draws=[0.1]),
        ["refused C: cooling_down left=1", "left: -"],
        id="cooling down, after a draw, and without a cooldown of its own (rules: deeplore 3.5 step 5, 3.12, 12.2)",
    ),
    pytest.param(
        world(entry("C", "dragon"), chat=["A: dragon"], cooldown={"V:C": 0, "W:C": 3, "V:c": 3}),
        ["added C: key_hit key=dragon", "left: C"],
        id="trackers of other vaults and spellings do not count (rules: deeplore 0.3)",
    ),
    pytest.param(
        world(entry("S", "seed", seed=True), entry("T", "other", seed=True), chat=["A: seed"]),
        ["added S: key_hit key=seed", "left: S"],
        id="seeds need a key like everybody (rules: deeplore 3.2)",
    ),
    pytest.param(
        world(entry("X", "dragon"), chat=["A: dragon"], scan_depth=0),
        ["left: -", "note: scan_depth_zero"],
        id="scan depth 0 (rules: deeplore 3.1)",
    ),
    pytest.param(
        world(entry("X", "dragon", scan_depth=5), chat=["A: dragon"], scan_depth=0),
        ["left: -", "note: scan_depth_zero"],
        id="scan depth 0 whatever the entry says (rules: deeplore 3.1)",
    ),
    pytest.param(world(entry("X", "dragon")), ["left: -"], id="an empty chat"),
]  # fmt: skip


@pytest.mark.parametrize(("there", "expected"), CONDITIONS)
def test_conditions(there: World, expected: list[str]) -> None:
    ran = keywords(there)
    assert ran.table == expected
    assert ran.record.default_reason == ("" if ran.record.note else "no_key_hit")


def test_one_draw_is_used_by_a_hit_that_cools_down() -> None:
    there = world(entry("C", "dragon", probability=0.5), chat=["A: dragon"], cooldown={"V:C": 1}, draws=[0.1])
    assert keywords(there).state.draws == [0.1]


BOOT = entry("Boot", "dragon", bootstrap=True)


@pytest.mark.parametrize(
    ("fields", "draws", "expected", "label"),
    [
        ({}, [], ["changed Boot: relabeled key=dragon", "left: Boot"], "dragon"),
        ({"probability": 0.5}, [0.4], ["changed Boot: relabeled key=dragon", "left: Boot"], "dragon"),
        (
            {"probability": 0.5},
            [0.9],
            ["refused Boot: probability_lost probability=0.5 roll=0.9", "left: Boot"],
            "(bootstrap)",
        ),
        ({"warmup": 2}, [], ["refused Boot: warmup_short needed=2 found=1", "left: Boot"], "(bootstrap)"),
    ],
)
def test_a_bootstrap_entry_is_tested_as_well(
    fields: dict[str, Any], draws: list[float], expected: list[str], label: str
) -> None:
    """A hit overwrites the label; a failed condition is reported, but the entry stays matched (rules: deeplore 3.2)."""
    there = world({**BOOT, **fields}, chat=["A: dragon"], draws=draws)
    ran = keywords(there, "Boot", labels={"Boot": "(bootstrap)"})
    assert ran.table == expected
    assert ran.labels == {"Boot": label}


def test_same_titles_of_two_vaults_share_one_label() -> None:
    """Both match, the later write for the title wins (rules: deeplore 3.11, 12.2)."""
    there = world(entry("T", "dragon"), entry("T", "sword", vault="W"), chat=["A: dragon and sword"])
    ran = keywords(there)
    assert ran.table == ["added T#0: key_hit key=dragon", "added T#1: key_hit key=sword", "left: T#0, T#1"]
    assert ran.labels == {"T": "sword"}


DRAGON = entry("D", "dragon")


@pytest.mark.parametrize(
    ("draft", "line", "where"),
    [
        (DRAGON, "A: the dragon", {"message": 1, "start": 4, "end": 10}),
        (DRAGON, "A: a dragon, two dragons", {"message": 1, "start": 14, "end": 20}),  # the last one
        (DRAGON, "Dragon: hello", {"message": 1, "in_name": True}),
        (entry("D", "n: he"), "Dragon: hello", {"message": 1, "in_name": True}),  # begins in the name
        (DRAGON, "A: İ is a dragon", {"message": 1}),  # lower-casing made the line longer: no span
        (DRAGON, "a dragon without a name", {"message": 1, "start": 2, "end": 8}),
    ],
)
def test_where_a_key_was_found(draft: dict[str, Any], line: str, where: dict[str, Any]) -> None:
    there = world(draft, chat=["U: hello", line, "U: bye"])
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert verdict.details == {"key": draft["keys"][0], "depth": 4, **where}


def test_where_a_refine_key_was_found() -> None:
    """The first refine key in the window decides; its last occurrence is told, as that of the key
    (rules: deeplore 3.4).
    """
    there = world(entry("D", "dragon", refine_keys=["gold", "cave"]), chat=["U: a cave, a cave", "Cave: the dragon"])
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert verdict.details == {
        "key": "dragon", "depth": 4, "message": 1, "start": 4, "end": 10,
        "refine_key": "cave", "refine_message": 1, "refine_in_name": True,
    }  # fmt: skip
    there = world(entry("D", "dragon", refine_keys=["cave"]), chat=["U: a cave", "A: the dragon"])
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert {name: verdict.details[f"refine_{name}"] for name in ("message", "start", "end")} == {
        "message": 0, "start": 2, "end": 6,
    }  # fmt: skip


def test_a_key_without_its_refine_key_says_where_it_stands_and_what_was_searched() -> None:
    there = world(entry("D", "dragon", refine_keys=["gold"], scan_depth=2), chat=["U: gold", "A: dragon", "U: so?"])
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert verdict.reason == "refine_blocked"
    assert verdict.details == {
        "key": "dragon", "depth": 2, "message": 1, "start": 0, "end": 6, "refine_keys": ["gold"], "searched": 2,
    }  # fmt: skip


def test_the_depth_of_a_hit_is_the_entrys_own() -> None:
    there = world(entry("D", "dragon", scan_depth=2), chat=["A: dragon"])
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert verdict.details["depth"] == 2


def test_messages_are_numbered_as_in_the_chat_file() -> None:
    """The prompt view leaves hidden messages out; `positions` says where its messages stand in the file."""
    there = world(entry("D", "dragon")).with_chat(["U: hello", "A: dragon"], positions=(3, 7))
    (verdict,) = run_stage(keywords_stage, there).record.verdicts
    assert verdict.details["message"] == 7


def test_what_was_searched() -> None:
    """Unscannable messages use up places of the window; the text is `name: text` lines joined by line feeds
    (rules: deeplore 3.3).
    """
    chat = [
        message("A: one"), message("B: two", is_system=True), message("N: three", extra={"type": "narrator"}),
        message("four"), message("D: ", extra={}),
    ]  # fmt: skip
    there = world(entry("X", "absent"), chat=chat, scan_depth=4)
    record = keywords(there).record
    assert record.details == {"depth": 4, "messages": 2, "characters": len(": four\nD: ")}
    assert record.default_reason == "no_key_hit"
