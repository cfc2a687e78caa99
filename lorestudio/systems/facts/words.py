"""The reason codes of fact memory. Candidates are memories (rules: fact-memory 10, 11)."""

from __future__ import annotations

from typing import Final

from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import GOOD, NEUTRAL, WARNING, Reason, Remark, Vocabulary, table

_REASONS: Final = (
    Reason(
        "fm_later", NEUTRAL, "Not yet known",
        "It was drawn out of messages #{first} to #{last}, which were not all written at this point.",
    ),
    Reason("fm_pinned", GOOD, "Pinned", "It is pinned, so it always goes in."),
    Reason(
        "fm_found", GOOD, "Similar",
        "Its similarity to your last message is {score}, number {rank}[; {threshold} is enough].",
        brief="Similarity {score}, number {rank}",
    ),
    Reason(
        "fm_below", NEUTRAL, "Not similar enough",
        "Its similarity to your last message is {score}; {threshold} would be enough.",
        "Lower “Similarity threshold” to {score}, or pin the memory.",
        brief="Similarity {score}, {threshold} is needed",
    ),
    Reason(
        "fm_beyond", NEUTRAL, "Beyond the first",
        "Its similarity of {score} makes it number {rank}; only the first {limit} are looked at.",
        "Raise “Memories” to {rank}, or pin the memory.",
        brief="Number {rank} by similarity, {limit} are taken",
    ),
    Reason(
        "fm_far", NEUTRAL, "Far off", "It is not among the memories nearest to your last message.",
        "Pin the memory, or raise “Memories”.",
    ),
    Reason(
        "fm_no_vector", WARNING, "No vector to compare", "It has no vector that the chosen model made.",
        "Refresh the vectors in the Memories pane, or with `lorestudio facts refresh`.",
    ),
    Reason(
        "fm_outdated", NEUTRAL, "Outdated", "It speaks of a gauge of the profile and quotes another value.",
        "Edit the memory, or delete it.",
    ),
    Reason("fm_weighed", NEUTRAL, "Weighed", "With age and variety its score is {score}, number {rank}."),
    Reason(
        "fm_alike", NEUTRAL, "Too much like others",
        "It resembles memories that score better, and there was no more room.",
        "Lower “Weight of variety”, or raise “Memories”.",
    ),
    Reason(
        "fm_no_memory", NEUTRAL, "Not a memory",
        "Fact memory chooses from what it remembers of the chat; notes of the vault take no part.",
        "Choose a system that looks at notes: DeepLore, hybrid retrieval, the context window, or World Info.",
    ),
    Reason("fm_placed", GOOD, "Placed", "It stands {place}."),
    Reason("fm_nothing_kept", NEUTRAL, "Nothing remembered", "There are no memories of this chat.",
           "Draw them out in the Memories pane, or with `lorestudio facts extract`."),
    Reason("fm_none_known", NEUTRAL, "None known yet",
           "No memory was known at this point, so there was nothing to compare with."),
    Reason("fm_no_question", NEUTRAL, "Nothing to compare with",
           "There is no message of yours, so only pinned memories go in."),
    Reason("fm_no_vector_made", WARNING, "No vector",
           "No vector came for your last message[: {problem}], so only pinned memories go in.",
           "Look at the provider profile that makes the vectors, and whether its server runs."),
    Reason("fm_no_profile", NEUTRAL, "No profile", "There is no profile, so nothing can be outdated by it."),
    Reason("fm_unweighed", NEUTRAL, "Not weighed",
           "“Forgetting”, “Weight of newness” and “Weight of variety” are off."),
)  # fmt: skip


def _remarks(trace: Trace) -> tuple[Remark, ...]:
    if all(record.note != "fm_nothing_kept" for record in trace.stages):
        return ()
    return (
        Remark(
            "Fact memory puts in what it remembers of the chat. Have facts drawn out of it first.",
            (("memories.extract", "Draw out facts"), ("pane.memories", "Open Memories")),
        ),
    )


VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(_REASONS),
    modes=frozenset({"strict", "safe"}),
    candidates="memory|memories",
    of_notes=False,
    not_notes="fm_no_memory",
    rank_word=lambda _trace: "",
    remarks=_remarks,
    widening=lambda _trace: (
        "No memory came into question. Have facts drawn out of the chat in the Memories pane, or lower the thresholds "
        "(Settings of the system)."
    ),
    origins={"similar": ("fm_found",), "pinned": ("fm_pinned",)},
    rank_stage="similarity",
    ranked=frozenset({"fm_found"}),
)
