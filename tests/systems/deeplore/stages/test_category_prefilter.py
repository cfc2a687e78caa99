"""The category prefilter (rules: deeplore 4.4; deeplore-tools 1.9)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lorestudio.domain.state import AiState
from lorestudio.systems.deeplore.stages.ai_selection import (
    category,
    category_manifest,
    category_prefilter_stage,
    chosen_categories,
    clusters,
)
from lorestudio.systems.deeplore.stages.candidates import whole_vault_stage
from lorestudio.trace.model import AiRecord, Breaker, BreakerState, ItemResult, ReplyItem, TitleMatch
from tests.systems.deeplore.answers import ERROR, TIMEOUT, Reply, asking
from tests.systems.worlds import Draft, Ran, World, changed, entries_of, entry, prepared, run_stage, world

STAGE = category_prefilter_stage


def forty(categories: int = 5, count: int = 40) -> list[Draft]:
    """Entries E0, E1, ... in turn of cat0, cat1, ...; each has a key of its own."""
    return [entry(f"E{n}", f"key{n}", tags=(f"cat{n % categories}",)) for n in range(count)]


CONST = entry("Const", constant=True)
CHAT = ["U: I have key3 here", *["Ann: hm", "U: well"] * 2]


def vault(*drafts: Draft, **settings: Any) -> World:
    settings = {"chat": CHAT, "hierarchical_pre_filter": True, "ai_search_scan_depth": 9, **settings}
    return world(*(drafts or (CONST, *forty())), **settings)


def narrow(there: World, *replies: Reply, ai: AiState | None = None, clock_ms: int = 0) -> Ran:
    there = asking(World(changed(there.context, clock_ms=clock_ms)), prefilter=replies)
    state = prepared(there)
    asyncio.run(whole_vault_stage.run(state, there.context))
    state.ai = ai or AiState()
    return run_stage(STAGE, there, state=state)


def of(*numbers: int) -> list[str]:
    """Entries of these categories in index order."""
    return [f"E{n}" for n in range(40) if n % 5 in numbers]


VERIFIED = [
    ('["cat0"]', ["Const", *of(0), "E3"]),
    ('["CAT0","cat1"]', ["Const", *of(0, 1), "E3"]),
    ('{"categories":["cat2"]}', ["Const", *of(2), "E3"]),
    ('{"categories":[["cat1","cat2"]]}', ["Const", *of(1, 2), "E3"]),
    ('[{"title":"cat1"},5]', ["Const", *of(1), "E3"]),
    ('["cat3"]', ["Const", *of(3)]),  # the rescued one belongs to it anyway
]


@pytest.mark.parametrize(("reply", "left"), VERIFIED)
def test_the_verified_answers(reply: str, left: list[str]) -> None:
    """Forty entries in five categories and a constant; the chat has a key of E3 (rules: deeplore 4.4)."""
    ran = narrow(vault(), reply)
    assert ran.left == left
    assert ran.record.details == {"offered": 41, "kept": list(ran.record.left)}
    rescued = [line for line in ran.table if line.startswith("kept")]
    assert rescued == ([] if "cat3" in reply else ["kept E3: prefilter_rescued category=cat3"])
    dropped = [line for line in ran.table if line.startswith("removed")]
    assert len(dropped) == 41 - len(left)
    assert all(": prefilter_dropped category=cat" in line for line in dropped)


NO_CHANGE = [
    ("[]", "the answer names no category"),
    ('["nope"]', "it would leave too few"),
    ("I cannot say.", "the answer names no category"),
    ('[{"category":"cat1"}]', "the answer names no category"),
    ('[null,"cat1"]', "the answer names no category"),
    ('[""]', "the answer names no category"),
    ('[{"title":"x","name":"cat1"}]', "it would leave too few"),  # the first of the names counts
    (ERROR, "the call failed: The connection to the provider failed"),
    (TIMEOUT, "the call failed: The provider did not answer in time."),
]


@pytest.mark.parametrize(("reply", "why"), NO_CHANGE)
def test_answers_that_change_nothing(reply: Reply, why: str) -> None:
    ran = narrow(vault(), reply)
    assert len(ran.left) == 41
    assert (ran.record.note, ran.record.details["kept"]) == ("prefilter_unchanged", None)
    assert str(ran.record.details["why"]).startswith(why)
    assert len(ran.state.ai_calls) == 1


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (vault(hierarchical_pre_filter=False), None),
        (vault(*forty(count=39)), "too few entries or categories"),
        (vault(*forty(categories=3)), "too few entries or categories"),
        (vault(*forty(count=39), CONST), "too few entries or categories"),  # forced ones do not count
        (vault(*forty(), manifest_summary_mode="summary_only"), "too few entries or categories"),
    ],
)
def test_when_nobody_is_asked(there: World, why: str | None) -> None:
    ran = narrow(there, '["cat0"]')
    assert ran.left == [one.title for one in there.entries]
    assert ran.record.note == ("off" if why is None else "prefilter_unchanged")
    assert ran.record.details.get("why") == why
    assert ran.state.ai_calls == []


@pytest.mark.parametrize(("kept", "applied"), [(8, True), (7, False)])
def test_the_safety_valve(kept: int, applied: bool) -> None:
    """40 * (1 - 0.8) is 7.999..., so eight pass and seven do not (rules: deeplore 4.4)."""
    names = ["keep"] * kept + [f"c{n % 3}" for n in range(40 - kept)]
    drafts = [entry(f"E{n}", tags=(name,)) for n, name in enumerate(names)]
    ran = narrow(vault(*drafts), '["keep"]')
    assert (len(ran.left) == kept) is applied
    assert (ran.record.note == "prefilter_unchanged") is not applied


@pytest.mark.parametrize(("aggressiveness", "applied"), [(0.0, False), (0.7, False), (0.74, False), (0.76, True)])
def test_the_largest_share_removed(aggressiveness: float, applied: bool) -> None:
    ran = narrow(vault(*forty(categories=4), chat=["U: x"] * 5, hierarchical_aggressiveness=aggressiveness), '["cat0"]')
    assert (len(ran.left) == 10) is applied


def test_without_a_summary_an_entry_is_lost() -> None:
    """In summary-only mode it is not selectable here (rules: deeplore-tools 1.9 row 9)."""
    drafts = [{**draft, "summary": "s"} for draft in forty()]
    ran = narrow(vault(entry("Bare", tags=("cat0",)), *drafts, manifest_summary_mode="summary_only"), '["cat0"]')
    assert ran.left == [*of(0), "E3"]


def test_a_bootstrap_entry_of_a_new_chat_is_forced() -> None:
    ran = narrow(vault(entry("Boot", bootstrap=True), *forty(), chat=["U: x"]), '["cat0"]')
    assert ran.left == ["Boot", *of(0)]


@pytest.mark.parametrize(
    ("keys", "chat", "rescued"),
    [
        (("key",), "U: monKEYs", True),  # a part of a word, whatever its case
        (("",), "U: x", False),
        (("u (user)",), "U: x", True),  # the names are searched too
        (("zebra",), "U: x", False),
    ],
)
def test_rescue(keys: tuple[str, ...], chat: str, rescued: bool) -> None:
    there = vault(entry("R", *keys, tags=("other",)), *forty(), chat=[chat])
    ran = narrow(there, '["cat0", "cat1"]')
    assert ran.left == [*of(0, 1), *(["R"] if rescued else [])]


def test_every_item_of_the_reply_is_on_record() -> None:
    ran = narrow(vault(), '["CAT0", {"label": "cat1"}, "nope", 7, {"title": ""}]')
    assert ran.record.ai is not None
    assert [(item.asked, item.match, item.title, item.result) for item in ran.record.ai.items] == [
        ("CAT0", TitleMatch.EXACT, "cat0", ItemResult.CHOSEN),
        ("cat1", TitleMatch.EXACT, "cat1", ItemResult.CHOSEN),
        ("nope", TitleMatch.NOT_FOUND, "", ItemResult.DROPPED),
        ("7", TitleMatch.UNREADABLE, "", ItemResult.DROPPED),
        ('{"title":""}', TitleMatch.UNREADABLE, "", ItemResult.DROPPED),
    ]


def test_an_answer_that_is_not_used_is_on_record_too() -> None:
    ran = narrow(vault(), '["nope"]', ai=AiState(failures=2, last_failure_ms=0), clock_ms=31_000)
    assert ran.record.note == "prefilter_unchanged"
    assert ran.record.ai == AiRecord(
        Breaker(BreakerState.HALF_OPEN, 2),
        Breaker(BreakerState.PROBING, 2, 91_001),
        (ReplyItem("nope", TitleMatch.NOT_FOUND, ItemResult.DROPPED),),
    )


def test_an_answer_source_that_breaks_leaves_the_list_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        name = label = "broken"

        async def answer(self, _request: Any) -> Any:
            raise OSError(5, "Input/output error")

    there = vault()
    whole = ", ".join(one.title for one in there.entries)
    ran = run_stage(STAGE, World(changed(there.context, answers=Broken())), whole)
    assert len(ran.left) == 41
    assert "OSError: [Errno 5] Input/output error" in str(ran.record.details["why"])
    assert [call.error for call in ran.state.ai_calls] == ["OSError: [Errno 5] Input/output error"]
    assert "The answer source 'broken' failed" in caplog.text


BREAKER = [
    ({"failures": 2, "last_failure_ms": 0}, 30_000, False),
    ({"failures": 2, "last_failure_ms": 0}, 30_001, True),
    ({"failures": 1, "last_failure_ms": 0}, 1, True),
    ({"last_success_ms": 100}, 101, True),  # the throttle does not count here
]


@pytest.mark.parametrize(("ai", "now_ms", "asked"), BREAKER)
def test_the_breaker(ai: dict[str, Any], now_ms: int, asked: bool) -> None:
    ran = narrow(vault(), '["cat0"]', ai=AiState(**ai), clock_ms=now_ms)
    assert len(ran.state.ai_calls) == asked
    assert len(ran.left) == (10 if asked else 41)
    assert ran.state.ai == AiState(**ai)  # nothing is recorded, and a probe is given back
    if not asked:
        assert ran.record.details["why"] == "AI calls are paused"


@pytest.mark.parametrize(
    ("reply", "probe"),
    [('["cat0"]', None), (ERROR, None), (TIMEOUT, None), ("[]", 31_000), ("text", 31_000), ('["nope"]', 31_000)],
)
def test_an_answer_that_is_not_used_keeps_the_probe(reply: Reply, probe: int | None) -> None:
    """The last known fault (rules: deeplore-tools 1.8 "Probe leaks")."""
    ran = narrow(vault(), reply, ai=AiState(failures=2, last_failure_ms=0), clock_ms=31_000)
    assert (ran.state.ai.probe_ms, ran.state.ai.failures) == (probe, 2)


def test_the_request() -> None:
    """The whole chat's window: a trailing reply too, and neither seeds nor summary."""
    drafts = [entry("S", seed=True, content="Once.", tags=("cat0",)), *forty()]
    there = vault(*drafts, chat=["U: one", "Ann: two"], ai_search_timeout=7, ai_search_model="m")
    (call,) = narrow(there, '["cat0"]').state.ai_calls
    assert (call.kind, call.max_tokens, call.json_schema, call.model) == ("prefilter", 512, False, "m")
    assert call.user == (
        "## Categories\n"
        "[cat0] (9 entries): S, E0, E5, E10, E15 (+4 more)\n"
        "[cat1] (8 entries): E1, E6, E11, E16, E21 (+3 more)\n"
        "[cat2] (8 entries): E2, E7, E12, E17, E22 (+3 more)\n"
        "[cat3] (8 entries): E3, E8, E13, E18, E23 (+3 more)\n"
        "[cat4] (8 entries): E4, E9, E14, E19, E24 (+3 more)\n"
        "\n"
        "## Recent Chat\n"
        "U (user): one\nAnn (character): two"
    )


@pytest.mark.parametrize(
    ("fields", "name", "by_folder"),
    [
        ({"tags": ("npc", "x")}, "npc", "npc"),
        ({"tags": ("Lorebook-Always", "NPC")}, "NPC", "NPC"),
        ({"tags": ("lorebook-constant",), "filename": "P/q/a.md"}, "P", "P"),
        ({"tags": ("lorebook",), "filename": "a.md"}, "Uncategorized", "Uncategorized"),
        ({"tags": (), "filename": "P/a.md"}, "Uncategorized", "P"),  # the known fault, and mended
        ({"tags": (), "filename": "a.md"}, "Uncategorized", "Uncategorized"),
    ],
)
def test_categories(fields: Draft, name: str, by_folder: str) -> None:
    (one,) = entries_of([entry("A", **fields)])
    assert (category(one), category(one, folders=True)) == (name, by_folder)


def test_the_verified_category_line() -> None:
    drafts = [entry("a", tags=("npc",)), *(entry(f"n{n}", tags=("npc",)) for n in range(7))]
    assert category_manifest(clusters(entries_of(drafts))) == "[npc] (8 entries): a, n0, n1, n2, n3 (+3 more)"


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ('["A","a","B"]', {"a", "b"}),
        ('[{"name":"A"},{"title":"","name":"B"}]', {"a", "b"}),
        ('[{"title":"A","category":"B"}]', {"a"}),
        ('["A",{"category":"B"},{"label":"C"},7]', {"a", "b", "c"}),
        (["A"], {"a"}),
        ('[{"title":"A"}, null]', None),
        (None, None),
    ],
)
def test_names_in_an_answer(reply: Any, names: set[str] | None) -> None:
    assert chosen_categories(reply) == names
