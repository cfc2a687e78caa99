"""Bootstrap entries (rules: deeplore 3.2): they come in while the chat has at most the threshold's messages."""

from __future__ import annotations

import pytest

from lorestudio.systems.deeplore.stages.candidates import bootstrap_stage
from tests.systems.worlds import entry, run_stage, world

BOOT = entry("Boot", bootstrap=True, probability=0, warmup=5)


@pytest.mark.parametrize(
    ("messages", "threshold", "expected"),
    [
        (0, 3, ["added Boot: bootstrap threshold=3 chat_length=0", "left: Boot"]),
        (3, 3, ["added Boot: bootstrap threshold=3 chat_length=3", "left: Boot"]),
        (4, 3, ["left: -", "note: not_bootstrapping threshold=3 chat_length=4"]),
        (1, 1, ["added Boot: bootstrap threshold=1 chat_length=1", "left: Boot"]),
        (2, 1, ["left: -", "note: not_bootstrapping threshold=1 chat_length=2"]),
    ],
)
def test_threshold(messages: int, threshold: int, expected: list[str]) -> None:
    there = world(BOOT, entry("Other"), chat=["U: hi"] * messages, new_chat_threshold=threshold)
    ran = run_stage(bootstrap_stage, there)
    assert ran.table == expected
    assert ran.labels == dict.fromkeys(ran.left, "(bootstrap)")


def test_a_constant_that_is_in_already_keeps_its_label() -> None:
    there = world(entry("Both", bootstrap=True, constant=True), entry("Boot", bootstrap=True))
    ran = run_stage(bootstrap_stage, there, "Both", labels={"Both": "(constant)"})
    assert ran.table == ["added Boot: bootstrap threshold=3 chat_length=0", "left: Both, Boot"]
    assert ran.labels == {"Both": "(constant)", "Boot": "(bootstrap)"}


def test_scan_depth_zero_does_not_matter() -> None:
    """With scan depth 0 constants and bootstrap entries still match (rules: deeplore 3.1)."""
    ran = run_stage(bootstrap_stage, world(BOOT, scan_depth=0))
    assert ran.left == ["Boot"]


def test_hidden_messages_are_counted_by_the_host_not_here() -> None:
    """The chat length is that of the filtered chat, unscannable messages included (rules: deeplore 0.2, 3.2)."""
    from_narrator = world(BOOT, chat=["U: a", "A: b", "U: c", "A: d"])
    assert run_stage(bootstrap_stage, from_narrator).left == []
