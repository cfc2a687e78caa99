"""Settings of SillyTavern's World Info (spec: deeplore-ai-and-tools 5.4). Keys in files are SillyTavern's."""

from __future__ import annotations

from pydantic import ConfigDict

from lorestudio.settings.declaration import Group, Section

scanning = Group("World Info")


class WorldInfoSettings(Section):
    """The global settings of World Info, with the values that a new SillyTavern is shipped with."""

    model_config = ConfigDict(alias_generator=lambda name: name if name == "book" else f"world_info_{name}")

    book: str = scanning(
        "", "Lorebook", "A World Info file (.json) to scan instead of the vault; empty: the vault.",
        affects=("book",),
    )  # fmt: skip
    depth: int = scanning(
        2, "Scan depth", "So many of the newest messages are searched for keys.", unit="messages", low=0, high=1000,
        affects=("keys",),
    )  # fmt: skip
    min_activations: int = scanning(
        0, "Fewest entries", "Look at older messages until so many entries are active; 0: don't.", unit="entries",
        low=0, high=100, affects=("keys",),
    )  # fmt: skip
    min_activations_depth_max: int = scanning(
        0, "Deepest look back", "How far back that may go; 0: to the beginning.", unit="messages", low=0, high=1000,
        affects=("keys",),
    )  # fmt: skip
    budget: int = scanning(
        25, "Context share", "Percent of the context that World Info may fill.", low=1, high=100,
        affects=("probability and budget",),
    )  # fmt: skip
    budget_cap: int = scanning(
        0, "Most tokens", "A limit beside the share; 0: none.", unit="tokens", low=0, high=65536,
        affects=("probability and budget",),
    )  # fmt: skip
    context: int = scanning(
        8192, "Context size", "Of the story's model, without the reply, where the studio does not know it.",
        unit="tokens", low=1, high=2_000_000, affects=("probability and budget",),
    )  # fmt: skip
    include_names: bool = scanning(
        True, "Names count", "The names of the speakers are searched, too.", affects=("keys",)
    )
    recursive: bool = scanning(
        True, "Recursive scan", "The texts of active entries are searched for the keys of others.", affects=("keys",)
    )
    max_recursion_steps: int = scanning(
        0, "Most scans", "So many scans in all, the first included; 0: as many as it takes.", low=0, high=10,
        affects=("keys",),
    )  # fmt: skip
    case_sensitive: bool = scanning(False, "Case counts", "Keys have to be written as in the chat.", affects=("keys",))
    match_whole_words: bool = scanning(
        True, "Whole words", "A key of one word is not found inside a longer word.", affects=("keys",)
    )
    use_group_scoring: bool = scanning(
        False, "Groups by score", "Of a group the entry with the most keys found is taken.",
        affects=("inclusion groups",),
    )  # fmt: skip
