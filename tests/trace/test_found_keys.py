"""Which keys decided about an entry, as its verdicts tell."""

from __future__ import annotations

from lorestudio.systems.deeplore.words import VOCABULARY as DEEPLORE
from lorestudio.systems.worldinfo.words import VOCABULARY as WORLD_INFO
from lorestudio.trace.found_keys import FoundKey, keys_of, keys_of_verdict
from lorestudio.trace.model import Outcome, Verdict
from tests.trace.examples import CROWN, DAWNKEEP, OATH, story


def test_key_and_refine_key_of_a_hit() -> None:
    details = {"key": "dragon", "message": 3, "start": 1, "end": 7, "refine_key": "gold", "refine_message": 2}
    verdict = Verdict(1, Outcome.ADDED, "key_hit", {**details, "refine_start": 0, "refine_end": 4})
    assert keys_of_verdict(verdict, DEEPLORE) == (
        FoundKey(1, "dragon", 3, 1, 7), FoundKey(1, "gold", 2, 0, 4, refine=True)
    )  # fmt: skip


def test_a_hit_in_a_name_has_no_place() -> None:
    details = {"key": "a", "message": 3, "refine_key": "b", "refine_message": 2, "refine_in_name": True}
    _, refining = keys_of_verdict(Verdict(1, Outcome.ADDED, "relabeled", details), DEEPLORE)
    assert (refining.in_name, refining.place, refining.message) == (True, None, 2)


def test_missing_refine_keys_are_said_with_the_key() -> None:
    details = {"key": "dragon", "message": 3, "refine_keys": ["gold", "cave"], "searched": 4}
    (found,) = keys_of_verdict(Verdict(1, Outcome.REFUSED, "refine_blocked", details), DEEPLORE)
    assert found.missing == "None of its refine keys (“gold” and “cave”) is in the last 4 messages."


def test_secondary_keys_of_world_info() -> None:
    """Those found in the text of another entry have no message, and are not marked."""
    details = {"key": "dragon", "message": 3, "found": ["fire", "ice"], "found_messages": [2, None]}
    found = keys_of_verdict(Verdict(1, Outcome.ADDED, "wi_key", details), WORLD_INFO)
    assert [(key.key, key.message, key.refine) for key in found] == [("dragon", 3, False), ("fire", 2, True)]


def test_reasons_that_are_not_about_the_chat_have_no_keys() -> None:
    assert keys_of_verdict(Verdict(1, Outcome.ADDED, "recursion", {"key": "bob", "step": 1}), DEEPLORE) == ()


def test_the_first_verdict_with_a_key_tells() -> None:
    assert [key.key for key in keys_of(story(), CROWN)] == ["crown", "king"]
    assert [key.key for key in keys_of(story(), DAWNKEEP)] == ["dawnkeep"]
    assert all(key.entry == OATH for key in keys_of(story(), OATH))
