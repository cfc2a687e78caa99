"""The reason codes of hybrid retrieval (rules: hybrid-retrieval 3, 8)."""

from __future__ import annotations

from typing import Final

from lorestudio.systems.hybrid.retrieval import Way
from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import GOOD, NEUTRAL, WARNING, Reason, Vocabulary, table

_REASONS: Final = (
    Reason("hy_key", GOOD, "Key found", "The key {key!q} occurs in the newest messages.",
           brief="Key {key!q} in the newest messages"),
    Reason(
        "hy_eligible", NEUTRAL, "Looked at",
        "Vectors come first, so every entry is looked at[; its key {key!q} occurs].",
    ),
    Reason(
        "hy_no_key", NEUTRAL, "No key found",
        "None of its keys occurs in the {messages:# message|# messages} that were looked at.",
        "Add a key that the chat uses, raise “Exchanges looked at”, or let vectors come first.",
        brief="No key in the last {messages:# message|# messages}",
    ),
    Reason(
        "hy_ranked", GOOD, "Similar",
        "Its similarity to the end of the chat is {score}[, with {boost} for its key]; {threshold} is enough. It is "
        "number {rank}.",
        brief="Similarity {score}, number {rank}",
    ),
    Reason(
        "hy_below", NEUTRAL, "Not similar enough",
        "Its similarity to the end of the chat is {score}; {threshold} would be enough.",
        "Lower “Similarity threshold” to {score}, or add what the chat speaks of to the note.",
        brief="Similarity {score}, {threshold} is needed",
    ),
    Reason(
        "hy_beyond", NEUTRAL, "Beyond the top",
        "Its similarity of {score} makes it number {rank}; only the first {limit} are taken.",
        "Raise “Semantic top-K” to {rank}.",
        brief="Number {rank} by similarity, {limit} are taken",
    ),
    Reason(
        "hy_unembedded", NEUTRAL, "No vector", "It has no usable vector, so its key alone brings it in.",
        "Choose who makes the vectors; those of all notes are then made.",
    ),
    Reason(
        "hy_unembedded_no_key", NEUTRAL, "No vector, no key", "It has no usable vector, and none of its keys occurs.",
        "Choose who makes the vectors, or add a key that the chat uses.",
    ),
    Reason(
        "hy_duplicate", WARNING, "Same title", "{other!q} has the same title and stands before it.",
        "Give one of the two another title.",
    ),
    Reason(
        "hy_blocked", NEUTRAL, "Blocked", "{title!q} is blocked in this chat.", "Take the block away.",
        brief="Blocked in this chat",
    ),
    Reason("hy_pattern", WARNING, "Pattern unusable", "{problem}.", "Correct the pattern."),
    Reason("hy_order", NEUTRAL, "In order", "Its priority of {priority} makes it number {rank} of {of}."),
    Reason("hy_placed", GOOD, "Placed", "It stands {place}."),
    Reason("hy_off", NEUTRAL, "Not ranked", "“Rank by vectors” is off, so every entry whose key occurs goes in."),
    Reason("hy_no_vectors", NEUTRAL, "Not ranked", "Nobody makes vectors, so every entry whose key occurs goes in.",
           "Choose the stand-in or a provider as “Who makes the vectors”."),
    Reason("hy_nothing_to_rank", NEUTRAL, "Nothing to rank", "No candidate has a vector, so keys alone decide."),
    Reason("hy_query_failed", WARNING, "No query vector",
           "No vector came for the end of the chat[: {problem}], so every entry whose key occurs goes in.",
           "Look at the provider profile that makes the vectors, and whether its server runs."),
    Reason("hy_unusable", WARNING, "Vectors unusable",
           "No candidate has a vector that fits the one of the chat, so keys alone decide.",
           "Choose a model that makes embeddings; the vectors of all notes are then made anew."),
)  # fmt: skip


VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(_REASONS),
    modes=frozenset(map(str, Way)),
    widening=lambda _trace: (
        "To widen the search: raise “Exchanges looked at”, add keys that the chat uses, or let vectors come first "
        "(Settings of the system)."
    ),
    key_stage="keyword prefilter",
    origins={"constant": ("constant",), "keyword": ("hy_key",), "similar": ("hy_ranked",)},
    unasked=frozenset({"constant", "hy_eligible"}),
    tells_keys=frozenset({"hy_key", "hy_eligible"}),
    would={
        "hy_below": "would also be left out: its similarity is {score}, and {threshold} would be enough",
        "hy_beyond": "would also be left out: it is number {rank} by similarity, and {limit:# is|# are} taken",
        "hy_duplicate": "would also give way to {other!q}, which has the same title",
    },
    parts=dict.fromkeys(("hy_below", "hy_beyond", "hy_unembedded_no_key"), "not chosen"),
    rank_stage="semantic rank",
    ranked=frozenset({"hy_ranked"}),
)
