import pytest

from lorestudio.domain.records import replace
from lorestudio.trace.model import Limit, Phase, RunOutcome, StageRecord, StageStatus
from lorestudio.trace.summary import summary, summary_pieces
from tests.trace import examples
from tests.trace.examples import (
    ADDED,
    CROWN,
    DAWNKEEP,
    OATH,
    REMOVED,
    RIVER,
    SKARN,
    TAVERN,
    injection,
    quiet_run,
    ref,
    skipped,
    stage,
    story,
    trace,
    verdict,
)


def run_of(matched, removed=(), injected=(), budget=2000, **fields):
    """A run in which `matched` entries came in by keys; `removed` is (stage, phase, reason, how many) in order."""
    ids = tuple(range(matched))
    stages = [stage("keywords", Phase.MATCH, (), ids, *(verdict(n, ADDED, "key_hit") for n in ids))]
    for name, phase, reason, count in removed:
        gone, left = ids[:count], ids[count:]
        stages.append(stage(name, phase, ids, left, *(verdict(n, REMOVED, reason) for n in gone)))
        ids = left
    return trace(
        **{
            "outcome": RunOutcome.INJECTED if injected else RunOutcome.NOTHING_INJECTED,
            "stages": tuple(stages),
            "entries": {n: ref(n, f"E{n}") for n in range(matched)},
            "index_size": 214,
            "injections": tuple(injection(n, f"E{n}", tokens) for n, tokens in zip(ids, injected, strict=False)),
            "limits": (Limit("token budget", sum(injected), budget, "tokens"),),
        }
        | fields
    )


GATED = ("contextual gating", Phase.GATE, "gated_field")
CUT = ("budget", Phase.BUDGET, "over_budget")
CAPPED = ("budget", Phase.BUDGET, "over_entry_cap")
AI = ("AI selection", Phase.SELECT, "ai_not_selected")
LOST = ("AI selection", Phase.SELECT, "fallback_dropped")
UNOFFERED = ("AI selection", Phase.SELECT, "not_offered")
EARLY = RunOutcome.EMPTY_AFTER_GATING


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (run_of(12, [(*GATED, 2), (*CUT, 3)], [400, 442, 300, 200, 100, 200, 200]),
         "12 entries matched, 2 were gated out, the budget cut 3, 7 were injected (1,842 of 2,000 tokens)."),
        (run_of(1, [], [1]), "1 entry matched, 1 was injected (1 of 2,000 tokens)."),
        (run_of(2, [], [100, 20], budget=None), "2 entries matched, 2 were injected (120 tokens, no limit)."),
        (run_of(1, [], [1], limits=()), "1 entry matched, 1 was injected (1 token)."),
        (run_of(9, [(*AI, 3), (*CAPPED, 4)], [10, 10]),
         "9 entries matched, the AI left out 3, the entry limit cut 4, 2 were injected (20 of 2,000 tokens)."),
        (run_of(7, [(*LOST, 4), (*GATED, 1)], [10, 10]),
         ("7 entries matched, 4 dropped out because the AI made no choice, 1 was gated out, "
          "2 were injected (20 of 2,000 tokens).")),
        (run_of(9, [(*AI, 3), (*UNOFFERED, 4)], [10, 10]),
         ("9 entries matched, the AI left out 3, 4 were not offered to the AI, "
          "2 were injected (20 of 2,000 tokens).")),
        (run_of(3, [(*CUT, 3)]), "3 entries matched, the budget cut 3, nothing was injected."),
        (run_of(12, [(*GATED, 12)], outcome=EARLY),
         "12 entries matched, 12 were gated out, nothing was left after contextual gating."),
        (run_of(1, [("re-injection cooldown", Phase.GATE, "reinjection_pause", 1)],
                outcome=RunOutcome.EMPTY_AFTER_REINJECTION),
         "1 entry matched, 1 was gated out, nothing was left after the re-injection cooldown."),
        (run_of(2, [("requires and excludes", Phase.GATE, "missing_requirement", 2)],
                outcome=RunOutcome.EMPTY_AFTER_REQUIRES),
         "2 entries matched, 2 were gated out, nothing was left after requires and excludes."),
        (story(),
         ("5 entries matched, 1 was pinned, 1 was gated out, the budget cut 1, 4 were injected "
          "(1,490 of 1,500 tokens, and 40 in outlets; 1 shortened).")),
    ],
)  # fmt: skip
def test_what_happened(run, sentence):
    assert summary(run) == sentence


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (quiet_run(), "Nothing matched: none of the keys of 214 entries is in the last 4 messages (812 characters)."),
        (quiet_run(messages=1, characters=1, size=1),
         "Nothing matched: none of the keys of 1 entry is in the last message (1 character)."),
        (replace(quiet_run(), outcome=EARLY),
         "Nothing matched: none of the keys of 214 entries is in the last 4 messages (812 characters)."),
        (quiet_run(messages=0, characters=0), "Nothing matched: there was no message to search for keys."),
        (quiet_run(refused=1),
         "Nothing came in: 1 of 214 entries was found in the last 4 messages (812 characters) but held back."),
        (quiet_run(refused=3),
         "Nothing came in: 3 of 214 entries were found in the last 4 messages (812 characters) but held back."),
        (trace(stages=(skipped("keywords", Phase.MATCH, (), "scan_depth_zero"),)),
         "Nothing matched: “Scan depth” is 0, so only constants and bootstrap entries can match."),
        (trace(), "Nothing matched."),
        (trace(system="facts", stages=(skipped("nearest", Phase.MATCH, (), "fm_nothing_kept"),)),
         "Nothing matched: there are no memories of this chat."),
    ],
)  # fmt: skip
def test_nothing_matched(run, sentence):
    assert summary(run) == sentence


def test_hidden_guides_are_not_held_back():
    hidden = stage("snapshot", Phase.LOAD, (), (), verdict(9, examples.REFUSED, "guide_hidden"))
    run = quiet_run()
    assert summary(replace(run, stages=(hidden, *run.stages))) == summary(run)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("quiet_or_disabled", "Nothing was retrieved: DeepLore is off, or this was a quiet generation."),
        ("tool_or_system_tail", "Nothing was retrieved: the last message is a tool call or a system message."),
        ("empty_vault", "Nothing was retrieved: the vault has no entries."),
    ],
)
def test_skipped_runs(reason, sentence):
    assert summary(trace(outcome=RunOutcome.SKIPPED, skip_reason=reason)) == sentence


def test_a_failed_stage_is_told():
    failed = StageRecord("recursion", Phase.MATCH, StageStatus.FAILED, (0,), (0,), error="ValueError: no such step")
    run = run_of(1, [], [5])
    assert summary(replace(run, stages=(*run.stages, failed))) == (
        "1 entry matched, 1 was injected (5 of 2,000 tokens). The stage “recursion” failed: ValueError: no such step."
    )


def test_candidates_of_a_run_that_broke_off_are_undecided():
    assert summary(run_of(1, outcome=RunOutcome.FAILED, injections=())) == (
        "1 entry matched, 1 stayed undecided, nothing was injected. The run broke off."
    )


def test_only_pinned_entries():
    pins = stage("pins and blocks", Phase.GATE, (), (0,), verdict(0, ADDED, "pinned"))
    run = trace(stages=(pins,), injections=(injection(0, "A", 10),), entries={0: ref(0, "A")})
    assert summary(run) == "No entry matched, 1 was pinned, 1 was injected (10 tokens)."


def test_every_number_of_the_sentence_leads_to_its_entries() -> None:
    pieces = summary_pieces(story())
    assert "".join(piece.text for piece in pieces) == summary(story())
    linked = [(piece.text, piece.entries) for piece in pieces if piece.entries]
    assert linked == [
        ("5", (SKARN, DAWNKEEP, CROWN, OATH, TAVERN)),
        ("1", (RIVER,)),
        ("1", (TAVERN,)),
        ("1", (OATH,)),
        ("4", (SKARN, DAWNKEEP, CROWN, RIVER)),
        ("1,490", (SKARN, DAWNKEEP, CROWN)),
        ("40", (RIVER,)),
        ("1", (CROWN,)),
    ]


def test_what_was_held_back_is_linked_too() -> None:
    linked = [(piece.text, piece.entries) for piece in summary_pieces(quiet_run(refused=2)) if piece.entries]
    assert linked == [("2", (0, 1))]
    assert not [piece for piece in summary_pieces(quiet_run()) if piece.entries]
