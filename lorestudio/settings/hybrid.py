"""Settings of hybrid retrieval (rules: hybrid-retrieval 2, 8, 10)."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias, get_args

from lorestudio.settings.declaration import Group, Section

HybridStage: TypeAlias = Literal["keyword prefilter", "semantic rank", "duplicate titles", "insertion order"]
"""The stages that the settings change."""


NO_EMBEDDER: Final = "none"
STAND_IN: Final = "stand-in"

_KEYS: Final[tuple[HybridStage, ...]] = ("keyword prefilter",)
_RANK: Final[tuple[HybridStage, ...]] = ("semantic rank",)

choosing = Group("Hybrid retrieval", affects=_RANK)


class HybridSettings(Section):
    """How entries are chosen by keys and ranked by vectors."""

    stages: ClassVar = get_args(HybridStage)

    mode: str = choosing(
        "keyword_first", "What comes first",
        "Keys choose and vectors rank what they chose, or vectors rank everything.",
        choices={
            "keyword_first": "Only entries whose key occurs are ranked.",
            "semantic_first": "All entries are ranked; a key that occurs adds to the score.",
        },
        affects=(*_KEYS, *_RANK),
    )  # fmt: skip
    limit: int = choosing(
        5, "Semantic top-K", "So many entries are taken by their rank. Constants and entries without a vector come on "
        "top of that.", unit="entries", low=0, high=1000,
    )  # fmt: skip
    semantic_threshold: float = choosing(
        0.5, "Similarity threshold", "Entries less similar than this to the end of the chat are left out.",
        low=-1.0, high=2.0,
    )  # fmt: skip
    use_semantic_search: bool = choosing(True, "Rank by vectors", "Off: every entry whose key occurs goes in.")
    keyword_boost: float = choosing(
        0.1, "Bonus for a key", "Added to the similarity of an entry whose key occurs, where vectors come first.",
        low=0.0, high=1.0,
    )  # fmt: skip
    exchanges: int = choosing(
        10, "Exchanges looked at", "So many of the newest exchanges are searched for keys.",
        unit="exchanges", low=0, high=1000, affects=_KEYS,
    )  # fmt: skip
    embedder: str = choosing(
        STAND_IN, "Who makes the vectors",
        "stand-in (offline, by words and letters; it knows no meaning), none, or the name of a provider profile whose "
        "model makes embeddings.",
        profile=True,
    )  # fmt: skip
    strict: bool = choosing(
        False, "As the original", "Takes over what the original program does, slips included.",
        affects=(*_KEYS, *_RANK, "duplicate titles"), advanced=True,
    )  # fmt: skip
