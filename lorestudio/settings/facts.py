"""Settings of fact memory (rules: fact-memory 3.2, 4, 10, 11)."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias, get_args

from lorestudio.settings.declaration import Group, Section
from lorestudio.settings.hybrid import STAND_IN

FactsStage: TypeAlias = Literal[
    "memories", "similarity", "outdated memories", "forgetting and variety", "memory injection",
]  # fmt: skip
"""The stages that the settings change."""


OWN_CHAT: Final = "chat"
OWN_CHARACTER: Final = "character"
BY_PRESET: Final = -1

_FIND: Final[tuple[FactsStage, ...]] = ("similarity",)
_WEIGH: Final[tuple[FactsStage, ...]] = ("forgetting and variety",)
_PLACED: Final[tuple[FactsStage, ...]] = ("memory injection",)
_RULES = "Empty for none, health for the original's own, or a JSON file with a list of "
_OWN = "A text file that replaces the built-in prompt. Empty means the built-in one."
_YEAR: Final = 366 * 24 * 3_600_000

drawing = Group("Facts: drawing out")
keeping = Group("Facts: keeping")
threads = Group("Facts: threads")
finding = Group("Facts: finding", affects=_WEIGH)
writing = Group("Facts: in the prompt", affects=_PLACED)


class FactsSettings(Section):
    """How facts are drawn out of a chat, kept, and found again."""

    stages: ClassVar = get_args(FactsStage)

    owner: str = drawing(
        OWN_CHAT, "Whose memories", "Whether memories belong to one chat, or to all chats with the same character.",
        choices={OWN_CHAT: "To this chat.", OWN_CHARACTER: "To the character; in a group to who spoke first."},
        affects=("memories",),
    )  # fmt: skip
    passage: int = drawing(
        40, "Messages at a time", "A longer stretch of chat is read in pieces of this many messages.",
        unit="messages", low=2, high=1000,
    )  # fmt: skip
    include_hidden: bool = drawing(
        True, "Hidden messages", "Messages that are hidden from the prompt are read as well."
    )
    prompt_file: str = drawing("", "Own prompt", f"{_OWN} Its slots are {{conversation}} and {{sessionDate}}.")
    tagging: str = drawing(
        "both", "Tags", "Where the tags of a fact come from.",
        choices={
            "keywords": "From the original's lists of words, which are about health.",
            "model": "From the model.",
            "both": "From the model, then from the lists.",
        },
    )  # fmt: skip
    enable_reflection: bool = drawing(
        False, "Second look", "A second request lets the model correct the facts it has drawn out."
    )
    reflection_prompt_file: str = drawing("", "Own prompt of the second look", _OWN, advanced=True)
    structured_rules: str = drawing(
        "", "Rules for the profile",
        f"{_RULES}{{pattern, profileField, group, action}}. With rules, readings and lists go into a profile.",
        affects=("outdated memories",),
    )  # fmt: skip

    deduplication_threshold: float = keeping(
        0.92, "Same from", "A fact at least this similar to a memory is not kept again.", low=-1.0, high=2.0
    )
    supersede_threshold: float = keeping(
        0.75, "Newer from", "A fact at least this similar replaces the text of the memory.", low=-1.0, high=2.0
    )
    pin_rules: str = keeping(
        "", "Rules for pins", f"{_RULES}{{pattern, flags}} or {{field, equals}}. A fact that fits is pinned.",
        affects=_FIND,
    )  # fmt: skip
    embedder: str = keeping(
        STAND_IN, "Who makes the vectors",
        "stand-in (offline, by words and letters; it knows no meaning), or the name of a provider profile whose model "
        "makes embeddings.",
        affects=_FIND, profile=True,
    )  # fmt: skip
    store: str = keeping(
        "", "File of memories", "Where the memories are kept. Empty means the studio's own place.",
        affects=("memories",), advanced=True,
    )  # fmt: skip
    embedding_concurrency: int = keeping(
        5, "Vectors at a time", "So many requests for vectors are under way at once.", low=0, high=64
    )

    preset: str = threads(
        "", "Preset", "Fills in the three times below that are -1.",
        choices={
            "": "6 hours, as long again, 30 days.",
            "daily-checkin": "2 hours, 30 minutes, 7 days.",
            "weekly-therapy": "24 hours, 6 hours, 90 days.",
            "on-demand": "30 minutes, 15 minutes, 30 days.",
            "long-term": "12 hours, 6 hours, 365 days.",
        },
    )  # fmt: skip
    cooling_timeout_ms: int = threads(
        BY_PRESET, "Cools after", "After so long a silence a thread cools. -1 means by the preset.",
        unit="ms", low=-1, high=_YEAR, least="by the preset",
    )  # fmt: skip
    dormant_timeout_ms: int = threads(
        BY_PRESET, "Dormant after", "After so long cooling its facts are drawn out. -1 means by the preset.",
        unit="ms", low=-1, high=_YEAR, least="by the preset",
    )  # fmt: skip
    closed_timeout_ms: int = threads(
        BY_PRESET, "Closed after", "After so long a dormant thread is closed. -1 means by the preset.",
        unit="ms", low=-1, high=10 * _YEAR, least="by the preset",
    )  # fmt: skip

    limit: int = finding(
        10, "Memories", "So many of the most similar memories are taken; pinned ones come on top of them.",
        unit="entries", low=0, high=1000, affects=_FIND,
    )  # fmt: skip
    min_score: float = finding(
        0.0, "Similarity threshold", "Memories less similar than this to your last message are left out; 0 keeps all.",
        low=-1.0, high=1.0, affects=_FIND,
    )  # fmt: skip
    forgetting: bool = finding(False, "Forgetting", "Memories fade that are not asked for.")
    half_life_days: float = finding(
        180.0, "Half-life", "How long until a memory counts half.", unit="days", low=0.01, high=10_000.0
    )
    recency_weight: float = finding(
        0.0, "Weight of newness", "How much of the score is how new a memory is.", low=0.0, high=1.0
    )
    recency_max_age_days: float = finding(
        90.0, "Old from", "How long until a memory counts as old.", unit="days", low=0.01, high=10_000.0
    )
    diversity_weight: float = finding(
        0.0, "Weight of variety", "How much a memory loses for resembling those before it.", low=0.0, high=1.0
    )

    priority_signaling: bool = writing(True, "Marks", "Puts [CRITICAL], [IMPORTANT] or [INFO] before each memory.")
    chronological_retrieval: bool = writing(True, "By months", "Groups the memories by month instead of by similarity.")
    cacheable_context: bool = writing(
        False, "Mark the stable part", "Puts a line between what stays the same and what does not.", advanced=True
    )
    position: int = writing(
        1, "Position", "Where the memories stand.",
        choices={0: "After the main prompt.", 1: "In the chat, at the depth below.", 2: "Before the main prompt."},
    )  # fmt: skip
    depth: int = writing(
        4, "Depth", "How many messages from the end the memories stand.", unit="messages", low=0, high=9999
    )
    role: int = writing(0, "Role", "As whom the memories speak.", choices={0: "System.", 1: "User.", 2: "Assistant."})
    strict: bool = writing(
        False, "As the original", "Takes over what the original program does, slips included.",
        affects=(*_FIND, "outdated memories"), advanced=True,
    )  # fmt: skip
