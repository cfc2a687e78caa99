"""Getting a list out of a reply, and entries out of the list (rules: deeplore 4.7, 4.8).

When an earlier selection still holds (rules: deeplore 4.7 "Cache", 12.5).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.json_text import values_in
from lorestudio.domain.records import replace
from lorestudio.domain.state import CachedSelection
from lorestudio.systems.deeplore.ai import replies
from lorestudio.systems.deeplore.ai.replies import (
    CacheQuestion,
    Pick,
    Selected,
    extract_list,
    look_up,
    normalize,
    question,
    remember,
    replay,
)
from lorestudio.trace.model import Trace
from tests.examples import examples
from tests.systems.deeplore.answers import Reply, asking, picks, selection
from tests.systems.worlds import Play, entries_of, entry, injected, rules, settings_of, world

FENCE = "```"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('["A","B"]', ["A", "B"]),
        ("[]", []),
        ("{}", None),
        ("[1,2]", None),
        ('[{"foo":1}]', None),
        ('"just string"', None),
        ("5", None),
        ('{"title":"A","confidence":"high"}', None),
        ('[{"title":"A"},]', None),
        ('[1,"A"]', [1, "A"]),
        ('{"selected":[]}', []),
        ('{"foo":["A"],"results":["B"]}', ["B"]),
        ('{"foo":[1],"bar":["B"]}', ["B"]),
        ('{"results":[1,2],"x":["A"]}', ["A"]),
        ('{"a":{"selected":["A"]}}', ["A"]),
        ('[["A"]]', ["A"]),
        ('["A"] ["B","C","D"]', ["B", "C", "D"]),
        ('I think [maybe] ["A"]', ["A"]),
        ('Don\'t pick. ["A"]', ["A"]),
        ('{"text":"[\\"A\\"]"}', ["A"]),
    ],
)
def test_the_verified_table(reply: str, expected: list[Any] | None) -> None:
    """The last table of the rules (rules: deeplore 4.8)."""
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f'{FENCE}json\n["A"]\n{FENCE}', ["A"]),
        (f'{FENCE}\n["A"]\n{FENCE}', ["A"]),
        (f'{FENCE}json\n["A"]', ["A"]),  # never closed: the fence line goes
        (f'Sure!\n{FENCE}json\n[{{"name":"A"}}]\n{FENCE}\nDone.', [{"name": "A"}]),
        (f'Here: {FENCE}json["A"]{FENCE} and ["B","C"]', ["A"]),  # a fence within a line comes before the fragments
        (f'Here: {FENCE}js["A"]{FENCE} and ["B","C"]', ["B", "C"]),  # only json is a tag there
        ('I choose:\n["A"]\nbecause', ["A"]),
        ('\ufeff["A"]', ["A"]),  # a byte order mark is white space
        ('  \n["A"]\u00a0', ["A"]),
        ('"[\\"A\\"]"', ["A"]),  # a JSON text that holds JSON
        ('[{"title":"A"},{"tit', None),  # cut off: nothing is repaired
        ('[{"title":"A"},{"title":"B"}', None),
        ("no JSON at all", None),
        ("", None),
        (" \n ", None),
        (FENCE, None),
        ('["A", NaN]', None),
        ('["A", Infinity]', None),
        ('[{"title":"it\'s"}]', [{"title": "it's"}]),
        ('x {"selected":["]"]} y', ["]"]),  # brackets in strings do not count
        ("['A'] [\"B\"]", ["B"]),  # single quotes balance, but are no JSON
        ('\\["A"] ["B"]', ["A"]),  # the scan begins at the bracket: what stands before it escapes nothing
    ],
)
def test_where_the_list_is_found(reply: str, expected: list[Any] | None) -> None:
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("{ candidates: [ { content: { parts: [ { text: '[\"A\"]' } ] } } ] }", ["A"]),
        ("candidates: [{ text: '[{\"title\":' +\n  '\"It\\'s\"}, ' + '\"B\"]' }]", [{"title": "It's"}, "B"]),
        (r"candidates: text: '```json\n[\u0022A\x22, \"a\\\u0062\"]\n```'", ["A", "a\b"]),
        ("candidates: text: '[\"A\",' text: '\"B\"]'", ["A", "B"]),  # parts are put together by line ends
        (f'candidates: text: \'["A"]\' {FENCE}json\n["B"]{FENCE}', ["B"]),  # a fence comes first
        ('candidates: text: \'["A"]\' ["B", "C"]', ["A"]),  # fragments come last
        ("candidates: text: 'none' [\"B\"]", ["B"]),
        ("text: 'prose' [\"B\"]", ["B"]),  # no envelope
        ("candidates: text: 'never closed", None),
        ("candidates: text: none", None),
    ],
)
def test_an_envelope_printed_by_javascript(reply: str, expected: list[Any] | None) -> None:
    """Damaged JSON (rules: deeplore 4.8; deeplore-tools 1.6.1 step 3)."""
    assert extract_list(reply) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (0, None),
        (False, None),
        (True, None),
        (7.5, None),
        ([], []),
        (["A"], ["A"]),
        ([0, None], None),
        ([{"title": ""}, {"name": 0}], None),
        ([{"title": "", "name": "n"}], [{"title": "", "name": "n"}]),
        ({"entries": ["e"], "titles": ["t"], "selected": ["s"]}, ["e"]),
        ({"selected": ["s"], "titles": ["t"]}, ["t"]),
        ({"z": ["z"], "2": ["two"], "1": ["one"]}, ["one"]),  # whole numbers come first in JavaScript
        ({"01": ["x"], "1": ["one"]}, ["one"]),
        ({"candidates": [{"content": {"parts": [{"text": '["A"'}, {"text": "]"}]}}]}, ["A"]),
        ({"output_text": '["A"]', "results": ["B"]}, ["A"]),
        ({"text": "nothing", "results": ["B"]}, ["B"]),  # an envelope without a list is looked into as an object
        ({"text": "  ", "output_text": '["A"]'}, ["A"]),
        ({"content": [{"text": '["A"'}, {"type": "x"}, {"text": "]"}]}, ["A"]),
        ({"content": "[]"}, None),
    ],
)
def test_values_that_arrive_parsed(value: Any, expected: list[Any] | None) -> None:
    assert extract_list(value) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("A", Pick("A", "medium", "AI search")),
        (" A ", Pick(" A ", "medium", "AI search")),  # titles are not trimmed
        ({"title": "A"}, Pick("A", "medium", "AI search")),
        ({"title": "A", "confidence": "high", "reason": "r"}, Pick("A", "high", "r")),
        ({"title": "A", "confidence": "low", "reason": ""}, Pick("A", "low", "")),
        ({"title": "A", "confidence": "HIGH", "reason": 5}, Pick("A", "medium", "AI search")),
        ({"title": "A", "confidence": ["high"]}, Pick("A", "medium", "AI search")),
        ({"title": "", "name": "n"}, Pick("n", "medium", "AI search")),
        ({"title": "t", "name": "n"}, Pick("t", "medium", "AI search")),
        ({"title": 5, "name": "n"}, None),  # the first truthy one has to be a text
        ({"title": ["A"]}, None),
        ({"reason": "r"}, None),
        ("", None),
        (" \u00a0", None),
        ("null", None),
        ("undefined", None),
        ({"title": "null"}, None),
        ("Null", Pick("Null", "medium", "AI search")),
        (5, None),
        (True, None),
        (None, None),
        (["A"], None),
    ],
)
def test_items(item: Any, expected: Pick | None) -> None:
    """Items of every shape (rules: deeplore 4.7)."""
    assert normalize([item]) == ([] if expected is None else [expected])


def test_items_keep_their_order_and_repetitions() -> None:
    """Rules: deeplore-tools 1.12 row 2."""
    assert [pick.title for pick in normalize([None, {"title": "null"}, "B", "A", "B"])] == ["B", "A", "B"]


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 16_000,
        "[" * 16_000 + "]" * 16_000,
        "{" * 16_000,
        "candidates: text: '" + "\\'" * 16_000,
        "candidates: " + "text: ' + " * 4_000,
        '["' * 8_000,
        "[]" * 8_000 + "x",
        "[[1]," * 3_000,
        '{"a":' * 3_000,
        "[1] " * 4_000,
        "9" * 16_000,
        "`" * 16_000,
        "``` " * 4_000,
        " " * 16_000,
        "\n" * 16_000,
        "```\n" * 4_000,
        "\n \n" * 5_000,
        "\n" * 16_000 + "```",
        "```" + " " * 16_000 + "x",
        "`" * 16_000 + "x y",
        "[1," * 5_000 + "x" + "]" * 5_000,
        '{"a":' * 3_000 + "1" + "}" * 3_000,
        "\\[" * 8_000 + "]" * 8_000,
    ],
    ids=lambda reply: f"{reply[:6]!r}",
)
def test_a_hostile_reply_ends(reply: str) -> None:
    """A reply at the longest limit (4096 tokens, here as 16,000 characters) must not hold up the window."""
    assert not [item for item in extract_list(reply) or () if isinstance(item, (str, dict))]  # it names no entry


def test_the_same_piece_of_a_reply_is_tried_once() -> None:
    text = 'x {} [] {"a": 1} {"b": 2}' + '{}[]{"a": 1}' * 8_000
    assert list(values_in(text)) == [{"a": 1}, {"b": 2}, {}, []]
    assert list(values_in(text, arrays=True)) == [[]]


def closing(text: str, start: int) -> int:
    """Word by word (rules: deeplore 4.8): the end of the piece that begins at `start`, 0 where it never closes."""
    closer = {"[": "]", "{": "}"}[text[start]]
    depth, quote, escaped = 0, "", False
    for place, char in enumerate(text[start:], start):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == text[start]:
            depth += 1
        elif char == closer:
            depth -= 1
            if not depth:
                return place + 1
    return 0


PARTS = ["[", "]", "{", "}", '"', "'", "\\", "A", ",", '"B"', "[]", '{"a":', "5"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=14).map(lambda parts: "x" + "".join(parts))


@settings(max_examples=examples(600), deadline=None)
@given(text=TEXTS)
def test_balanced_pieces_equal_those_found_one_by_one(text: str) -> None:
    """The longest piece that holds a list counts, of equally long ones the first."""
    pieces = [text[start:end] for start, char in enumerate(text) if char in "[{" and (end := closing(text, start))]
    found = (extract_list(piece) for piece in sorted(pieces, key=len, reverse=True) if decodes(piece))
    assert extract_list(text) == next((one for one in found if one is not None), None)


def decodes(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


ENTRIES = entries_of([entry("Castle", "keep"), entry("Dragon"), entry("K", constant=True)])
NAMES = ["castle", "dragon", "keep"]


def asked(
    *lines: str, manifest: str = "M", titles: str = "Castle, Dragon", version: str = "v", **settings: Any
) -> CacheQuestion:
    candidates = [one for one in ENTRIES if one.title in titles.split(", ")]
    return question("\n".join(lines), manifest, candidates, version, settings_of(**settings))


def cached(*lines: str, **fields: Any) -> CachedSelection:
    return remember(asked(*lines, **fields), [])


@pytest.mark.parametrize(
    ("before", "now", "mode", "tier", "why"),
    [
        (None, asked("a"), "ai-only", 0, "nothing is cached yet"),
        (cached("a"), asked("a"), "ai-only", 1, "the same conversation and candidates"),
        (cached("a"), asked("a"), "two-stage", 1, "the same conversation and candidates"),
        (cached("a"), asked("a", manifest="N"), "two-stage", 0, "the candidates or the settings changed"),
        (cached("a"), asked("z"), "two-stage", 2, "the same candidates, whatever was said"),
        (cached("a"), asked("castle"), "two-stage", 2, "the same candidates, whatever was said"),
        (cached("a"), asked("z"), "ai-only", 0, "the conversation is another one"),
        (cached("a"), asked("z", titles="Castle"), "two-stage", 2, "the same candidates, whatever was said"),
        # a candidate that is not in the manifest makes the set another one
        (cached("a", titles="Castle"), asked("z"), "two-stage", 0, "the conversation is another one"),
        (cached("a", "b"), asked("a", " ", "b"), "ai-only", 3, "no new lines in the conversation"),
        (cached("a", "b"), asked("a"), "ai-only", 0, "the conversation is another one"),
        (replace(cached("a", "b"), prefix_hash=""), asked("a"), "ai-only", 3, "no new lines in the conversation"),
        (cached("a"), asked("a", "b c"), "ai-only", 4, "the new lines name no entry"),
        (cached("a"), asked("a", "The CASTLE."), "ai-only", 0, "the new lines name “castle”"),
        (cached("a"), asked("a", "my keep", "x"), "ai-only", 0, "the new lines name “keep”"),
        (cached("a castle"), asked("a castle", "b"), "ai-only", 4, "the new lines name no entry"),
        (cached("a", "b"), asked("b", "c", "d"), "ai-only", 0, "earlier lines changed or left the window"),
        (cached("a"), asked("a", "b", version="w"), "ai-only", 0, "the vault changed"),
        (cached("a"), asked("a", version="w"), "ai-only", 1, "the same conversation and candidates"),
        (cached(""), asked(""), "ai-only", 0, "the cached selection had no conversation"),
        (cached(""), asked("a"), "ai-only", 0, "the cached selection had no conversation"),
    ],
)
def test_tiers(before: CachedSelection | None, now: CacheQuestion, mode: str, tier: int, why: str) -> None:
    found = look_up(before, now, NAMES, mode)
    assert (found.hit, found.tier, found.why) == (tier > 0, tier, why)


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"ai_search_mode": "two-stage"}, False),
        ({"ai_search_scan_depth": 9}, False),
        ({"max_entries": 9}, False),
        ({"unlimited_entries": True}, False),
        ({"ai_search_system_prompt": "p"}, False),
        ({"ai_search_connection_mode": "proxy"}, False),
        ({"ai_search_profile_id": "p"}, False),
        ({"ai_search_model": "m"}, False),
        ({"ai_confidence_threshold": "high"}, False),
        ({"manifest_summary_mode": "content_only"}, False),
        ({"ai_search_manifest_summary_length": 99}, False),
        ({"ai_confidence_threshold": "", "manifest_summary_mode": ""}, True),  # empty stands for the default
        ({"ai_search_proxy_url": "http://x"}, True),
        ({"ai_force_user_role": True}, True),
        ({"new_chat_threshold": 9}, True),
        ({"scribe_informed_retrieval": True}, True),
        ({"max_tokens_budget": 999}, True),
        ({"ai_search_max_tokens": 999}, True),
        ({"ai_search_timeout": 999}, True),
    ],
)
def test_settings_that_are_part_of_the_question(settings: dict[str, Any], same: bool) -> None:
    """Eleven settings are, the others are not (rules: deeplore-tools 1.7)."""
    base = {"ai_search_mode": "ai-only"}
    changed = asked("a", **{**base, **settings})
    assert (changed.manifest_hash == asked("a", **base).manifest_hash) is same


def test_picks_are_replayed_in_their_order_among_the_present_candidates() -> None:
    castle, dragon, _ = ENTRIES
    kept = remember(asked("a"), [Selected(dragon, "high", "r"), Selected(castle, "low", "s", 0.7)])
    assert replay(kept, ENTRIES) == (Selected(dragon, "high", "r"), Selected(castle, "low", "s"))
    assert replay(kept, [castle]) == (Selected(castle, "low", "s"),)
    assert replay(kept, entries_of([entry("castle"), entry("Dragon", vault="W")]))[0].entry.title == "castle"
    assert replies.composite_id(castle) == "V:castle"


CASTLE = world(
    entry("Castle", content="Walls."), entry("K", constant=True, content="Always."),
    ai_search_enabled=True, ai_search_mode="ai-only", ai_search_scan_depth=20,
)  # fmt: skip
THREE = ["U: Hello.", "Ann: Hi.", "U: What now?"]
CHOICE = picks("Castle")


class Told:
    """A chat in which the model always chooses the castle; each turn is a line `asked: injected / stripped`."""

    def __init__(self, reply: Reply = CHOICE, **changes: Any) -> None:
        self.play = Play(asking(world_with(**changes), *[reply] * 9))
        self.minutes = 0

    def turn(self, chat: list[str]) -> str:
        self.minutes += 1
        trace = self.play.turn(chat, clock_ms=60_000 * self.minutes)
        gone = trace.stage("duplicate stripping")
        stripped = [trace.entries[one.entry].title for one in gone.verdicts if one.outcome == "removed"] if gone else []
        return f"{how(trace)}: {', '.join(injected(trace)) or '-'} / {', '.join(stripped) or '-'}"


def world_with(**changes: Any) -> Any:
    settings = CASTLE.context.settings.model_copy(update=changes)
    return replace(CASTLE, context=replace(CASTLE.context, settings=settings))


def how(trace: Trace) -> str:
    details = selection(trace).details
    return f"cached {details['tier']}" if details["cached"] else "asked" if trace.ai_calls else "silent"


def test_the_verified_run_with_a_wide_window() -> None:
    """The table (rules: deeplore 12.5)."""
    chat = Told()
    longer = [*THREE, "Ann: Well.", "U: Onwards."]
    assert chat.turn(THREE) == "asked: Castle, K / -"
    assert chat.turn(longer) == "cached 4: K / Castle"
    named = [*longer, "Ann: Ah.", "U: To the castle!"]
    assert chat.turn(named) == "asked: Castle, K / -"
    assert chat.turn(["U: Good day.", *named[1:], "Ann: Oh.", "U: Go."]) == "asked: Castle, K / -"


def test_the_verified_run_with_a_window_of_four() -> None:
    """The identical chat counts as a regeneration; a trailing reply is not seen; then the window slides
    (rules: deeplore 12.5).
    """
    chat = Told(ai_search_scan_depth=4)
    assert chat.turn(THREE) == "asked: Castle, K / -"
    assert chat.turn(THREE) == "cached 1: Castle, K / -"
    assert chat.turn([*THREE, "Ann: Well."]) == "cached 1: K / Castle"
    assert chat.turn([*THREE, "Ann: Well.", "U: Onwards."]) == "asked: Castle, K / -"


def test_the_verified_run_in_two_stages() -> None:
    """With unchanged candidates the model is asked once, and lore is there in one turn of three
    (rules: deeplore 12.5).
    """
    play = Play(
        asking(
            world(
                entry("Castle", "go", content="Walls."), entry("K", constant=True, content="Always."),
                ai_search_enabled=True, strip_lookback_depth=2,
            ),
            *[CHOICE] * 9,
        )
    )  # fmt: skip
    chat: list[str] = []
    seen = []
    for turn in range(4):
        chat += [f"U: go {turn}", f"Ann: to the dragon {turn}"]
        trace = play.turn(chat[:-1], clock_ms=60_000 * turn)
        seen.append((how(trace), injected(trace)))
    assert seen == [
        ("asked", ["Castle", "K"]), ("cached 2", ["K"]), ("cached 2", ["K"]), ("cached 2", ["Castle", "K"])
    ]  # fmt: skip


def test_an_empty_answer_is_cached_too() -> None:
    chat = Told(reply=[])
    assert chat.turn(THREE) == "asked: K / -"
    assert chat.turn([*THREE, "Ann: Well."]) == "cached 1: K / -"
    assert chat.play.state.ai.calls == 1
    assert chat.play.state.ai.cached_hits == 1


def test_a_failed_answer_is_not_cached() -> None:
    chat = Told(reply="no JSON")
    assert chat.turn(THREE) == "asked: K / -"  # the castle has no key: the fallback finds nothing more
    assert chat.play.state.ai.cache is None
    assert chat.turn([*THREE, "Ann: Well."]) == "asked: K / -"


def test_a_hit_leaves_the_breaker_alone() -> None:
    chat = Told()
    chat.turn(THREE)
    chat.play.state = replace(
        chat.play.state, ai=replace(chat.play.state.ai, failures=2, last_failure_ms=0, probe_ms=5)
    )
    assert chat.turn([*THREE, "Ann: Well."]).startswith("cached 1")
    assert (chat.play.state.ai.failures, chat.play.state.ai.probe_ms) == (2, 5)


def test_a_cached_pick_that_is_blocked_by_now_leaves_afterwards() -> None:
    """4: blocked entries are not taken from the candidates; blocks come after the selection."""
    chat = Told()
    chat.turn(THREE)
    controls = replace(CASTLE.context.moment.controls, blocks=rules("Castle"))
    trace = chat.play.turn([*THREE, "Ann: Well."], clock_ms=120_000, controls=controls)
    assert (how(trace), injected(trace)) == ("cached 1", ["K"])
    blocked = trace.stage("pins and blocks")
    assert blocked is not None
    assert [one.reason for one in blocked.verdicts] == ["blocked"]
