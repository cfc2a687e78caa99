"""Settings of SillyTavern's World Info (rules: sillytavern 5.4, 5.6). Keys in files are SillyTavern's."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias, get_args

from lorestudio.settings.declaration import Group, Section
from lorestudio.settings.hybrid import STAND_IN

WorldInfoStage: TypeAlias = Literal[
    "book", "vector activation", "keys", "inclusion groups", "probability", "budget",
]  # fmt: skip
"""The stages that the settings change."""

books = Group("Lorebooks", affects=("book",))
scanning = Group("World Info", affects=("keys",))
noting = Group("Author's note")
similar = Group("Vector Storage", affects=("vector activation",))

V1_18: Final = "1.18.0"
V1_12: Final = "1.12.6"
BY_BOOKS: Final = "auto"
VAULT: Final = "vault"
BOOKS: Final = "books"

_FILES = (
    "One file a line: World Info (.json), a lorebook of Agnaistic's, NovelAI's or Risu's, or a character card with a "
    "book inside (.png, .json)."
)

_OTHER_KEYS: Final = {
    "scan_note": "allowWIScan",
    "vectors": "enabled_world_info",
    "vectors_for_all": "enabled_for_all",
    "vector_messages": "query",
    "vector_entries": "max_entries",
    "vector_threshold": "score_threshold",
}
_OWN_KEYS: Final = frozenset({
    "source", "version", "tags", "book", "character_books", "chat_books", "persona_books", "extra_books", "worlds",
    "avatar", "embedder", "generation_type", "character_notes",
})  # fmt: skip


LARGEST_CONTEXT: Final = 2_000_000

CARRIED: Final = {
    **{f"world_info_{name}": (("world_info_settings",),) for name in (
        "depth", "min_activations", "min_activations_depth_max", "budget", "budget_cap", "include_names", "recursive",
        "max_recursion_steps", "case_sensitive", "match_whole_words", "use_group_scoring", "character_strategy",
    )},
    "allowWIScan": (("extension_settings", "note"),),
    **dict.fromkeys(
        ("enabled_world_info", "enabled_for_all", "query", "max_entries", "score_threshold"),
        (("extension_settings", "vectors"),),
    ),
}  # fmt: skip
"""Where SillyTavern's settings.json has them, World Info's own and those of Author's Note and Vector Storage."""


def _alias(name: str) -> str:
    """The name in files: the studio's own ones are as they are, the others SillyTavern's."""
    return name if name in _OWN_KEYS else _OTHER_KEYS.get(name, f"world_info_{name}")


class WorldInfoSettings(Section, alias_generator=_alias):
    """The lorebooks, the global settings of World Info, and those of the extensions that have a say in it.

    The defaults are those that a new SillyTavern is shipped with.
    """

    stages: ClassVar = get_args(WorldInfoStage)

    source: str = books(
        BY_BOOKS, "What is scanned", "The vault's notes, or lorebooks of SillyTavern's.",
        choices={
            BY_BOOKS: "Lorebooks where any is named here, else the vault.",
            VAULT: "The vault, whatever is named here.",
            BOOKS: "Lorebooks, also those that only the chat and the card name.",
        },
    )  # fmt: skip
    version: str = scanning(
        V1_18, "SillyTavern's version", "Whose rules are followed.",
        choices={
            V1_18: "As its recorded runs decided.",
            V1_12: "Without the persona's lorebook, texts beside the chat that an entry asks for, kinds of "
            "generation, entries that ignore the budget, and outlets; an overflow ends one loop, of an uid twice "
            "both count, similar entries keep their place, and an empty text leads to recursion.",
        },
        advanced=True,
    )  # fmt: skip
    book: str = books("", "Global lorebooks", f"Active in every chat. {_FILES}", long=True)
    character_books: str = books(
        "", "Lorebooks of the character", f"The character's own book and further ones. {_FILES}", long=True
    )
    chat_books: str = books("", "Lorebook of the chat", f"It always goes first. {_FILES}", long=True)
    persona_books: str = books("", "Lorebook of the persona", f"It stands behind the chat's. {_FILES}", long=True)
    extra_books: str = books(
        "", "Further lorebooks by character",
        "The character's, too. One a line: the name of the card's file without its ending, a colon, and the lorebook, "
        "as in “Hob: /worlds/Mill.json”.",
        long=True,
    )  # fmt: skip
    worlds: str = books(
        "", "SillyTavern's folder of lorebooks",
        "The folder “worlds” in SillyTavern's data: books that the chat and the card name are looked for there.",
        local=True,
    )  # fmt: skip
    character_strategy: int = books(
        1, "Insertion strategy", "Whose entries are offered to the budget first.",
        choices={
            0: "Evenly: global entries and those of the character together, by order.",
            1: "The character's lorebooks first.",
            2: "Global lorebooks first.",
        },
        checked=True,
    )  # fmt: skip
    avatar: str = books(
        "", "Character's file name",
        "What character filters call the character: its picture's name without .png. Empty: the name that the card's "
        "file and the chat's folder share, as in SillyTavern, else the names of card, chat folder and character.",
        affects=("keys",), advanced=True,
    )  # fmt: skip
    tags: str = books(
        "", "Tags of characters",
        "For character filters by tags. One character a line: the name of its card's file without its ending, a colon, "
        "and the ids of its tags with commas between. A character without a line is filtered by no tag.",
        long=True, affects=("keys",), advanced=True,
    )  # fmt: skip
    generation_type: str = scanning(
        "normal", "Kind of generation",
        "What the replies are taken for: an entry may be for some kinds only (its triggers). Swipes are swipes.",
        choices=dict.fromkeys(("normal", "continue", "impersonate", "swipe", "regenerate", "quiet"), ""),
        checked=True, advanced=True,
    )  # fmt: skip
    depth: int = scanning(
        2, "Scan depth", "So many of the newest messages are searched for keys.", unit="messages", low=0, high=1000
    )
    min_activations: int = scanning(
        0, "Fewest entries", "Look at older messages until so many entries are active; 0: don't.", unit="entries",
        low=0, high=100, least="off",
    )  # fmt: skip
    min_activations_depth_max: int = scanning(
        0, "Deepest look back", "How far back that may go; 0: to the beginning.",
        unit="messages", low=0, high=1000, least="to the beginning",
    )  # fmt: skip
    budget: int = scanning(
        25, "Context share", "Percent of the context that World Info may fill.", low=1, high=100,
        affects=("budget",),
    )  # fmt: skip
    budget_cap: int = scanning(
        0, "Most tokens", "A limit beside the share; 0: none.", unit="tokens", low=0, high=65536, least="no limit",
        affects=("budget",),
    )  # fmt: skip
    context: int = scanning(
        8192, "Context size", "Of the story's model, without the reply, where the studio does not know it.",
        unit="tokens", low=1, high=LARGEST_CONTEXT, affects=("budget",),
    )  # fmt: skip
    include_names: bool = scanning(True, "Names count", "The names of the speakers are searched, too.")
    recursive: bool = scanning(
        True, "Recursive scan", "The texts of active entries are searched for the keys of others."
    )
    max_recursion_steps: int = scanning(
        0, "Most scans", "So many scans in all, the first included; 0: as many as it takes.",
        low=0, high=10, least="no limit",
    )  # fmt: skip
    case_sensitive: bool = scanning(False, "Case-sensitive", "Keys have to be written as in the chat.")
    match_whole_words: bool = scanning(True, "Whole words", "A key of one word is not found inside a longer word.")
    use_group_scoring: bool = scanning(
        False, "Groups by score", "Of a group the entry with the most keys found is taken.",
        affects=("inclusion groups",),
    )  # fmt: skip
    scan_note: bool = noting(
        False, "Notes are searched",
        "The author's note, in the turns in which it is inserted, and the card's depth prompt are searched for keys, "
        "as “Allow WI scan” does.",
        affects=("keys",),
    )  # fmt: skip
    character_notes: str = noting(
        "", "Notes of characters",
        "SillyTavern's list of character-specific notes, as in its settings.json: JSON, a list of objects with name "
        "(of the card's file without its ending), prompt, useChara, and position (0 in its place, 1 before, 2 after).",
        long=True, affects=("keys",), advanced=True,
    )  # fmt: skip
    vectors: bool = similar(
        False, "Entries by similarity",
        "Entries that are marked as vectorized come in when they are like the end of the chat.",
    )  # fmt: skip
    vectors_for_all: bool = similar(False, "For all entries", "Entries need no mark for that.")
    vector_messages: int = similar(
        2, "Messages asked with", "So many of the newest messages are what entries are compared with.",
        unit="messages", low=1, high=99,
    )  # fmt: skip
    vector_entries: int = similar(
        5, "Most entries", "No more than the most similar ones come in.", unit="entries", low=1, high=9999
    )
    vector_threshold: float = similar(
        0.25, "Least similarity", "Entries less similar than this stay out.", low=0.0, high=1.0
    )
    embedder: str = similar(
        STAND_IN, "Who makes the vectors",
        "stand-in (offline, by words and letters; it knows no meaning), none, or the name of a provider profile whose "
        "model makes embeddings.",
        profile=True,
    )  # fmt: skip

    @property
    def newer(self) -> bool:
        """Whether the rules are those of 1.18, and not of 1.12.6."""
        return self.version != V1_12
