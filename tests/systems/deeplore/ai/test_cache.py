"""When an earlier selection still holds (rules: deeplore 4.7 "Cache", 12.5)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import CachedSelection
from lorestudio.systems.deeplore.ai import cache
from lorestudio.systems.deeplore.ai.cache import CacheQuestion, look_up, question, remember, replay
from lorestudio.systems.deeplore.ai.replies import Selected
from lorestudio.trace.model import Trace
from tests.systems.deeplore.answers import Reply, asking, picks, selection
from tests.systems.worlds import Play, entries_of, entry, injected, rules, settings_of, world

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
    assert cache.composite_id(castle) == "V:castle"


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
