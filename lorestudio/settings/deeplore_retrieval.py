"""DeepLore's settings for everything but its AI tools: tags, index, matching, gates, budget, placement, AI selection.

Names, defaults and limits: rules: deeplore 2.2; deeplore-tools 1.
"""

from __future__ import annotations

from typing import Final

from lorestudio.settings import deeplore_connections as connections
from lorestudio.settings.declaration import Group, Section, StageName
from lorestudio.settings.rules import NEW, OLD, VERSIONS

POSITIONS: Final = {
    -1: "Nowhere by itself.",
    0: "After the main prompt.",
    1: "In the chat, at the depth below.",
    2: "Before the main prompt.",
}
ROLES: Final = {0: "System.", 1: "User.", 2: "Assistant."}

_KEYS: Final[tuple[StageName, ...]] = ("keywords", "recursion", "BM25", "match order")
_PLACE: Final[tuple[StageName, ...]] = ("duplicate stripping", "placement")

general = Group("General")
tags = Group("Tags", affects=("snapshot",))
index = Group("Index")
matching = Group("Matching")
fuzzy = Group("Fuzzy search", affects=("BM25",))
gating = Group("Gating")
budget = Group("Budget")
placement = Group("Placement", affects=("placement",))
recent = Group("Recent lore")
notebook = Group("Notebook", affects=("notes",))


class TagAndIndexSettings(Section):
    """Which notes are entries, and when they are read again."""

    enabled: bool = general(
        False, "DeepLore on", "The main switch. While it is off, no entry reaches the prompt.", affects=["snapshot"]
    )
    rules: str = general(
        OLD, "DeepLore's version", "Whose rules decide: those of the DeepLore that you write with.", choices=VERSIONS,
        affects=["snapshot"],
    )  # fmt: skip
    settings_version: int = general(
        3, "Settings version", "Which layout the settings have; older ones are brought up to date.", advanced=True
    )
    lorebook_tag: str = tags(
        "lorebook", "Entry tag", "A note becomes an entry when its front matter has this tag (without #)."
    )
    constant_tag: str = tags(
        "lorebook-always", "Constant tag", "Entries with this tag are part of every prompt.",
        affects=["snapshot", "constants"],
    )  # fmt: skip
    never_insert_tag: str = tags(
        "lorebook-never", "Never tag", "Notes with this tag are left out, whatever else they say."
    )
    seed_tag: str = tags(
        "lorebook-seed", "Seed tag",
        "In a new chat, the AI selector reads entries with this tag as the background of the story.",
        affects=["snapshot", "AI selection"],
    )  # fmt: skip
    bootstrap_tag: str = tags(
        "lorebook-bootstrap", "Bootstrap tag", "Entries with this tag always go in while a chat is still short.",
        affects=["snapshot", "bootstrap"],
    )  # fmt: skip
    librarian_guide_tag: str = tags(
        "lorebook-guide", "Guide tag", "Notes with this tag are for the Librarian and stay out of the story's prompt."
    )
    lenient_authoring: bool = index(
        True, "Forgive untidy front matter",
        "Accepts other capitalisation of field names and similar slips, with a warning for each.",
        affects=["snapshot"],
    )  # fmt: skip
    field_definitions_path: str = index(
        "DeepLore/field-definitions.yaml", "Field definitions",
        "Where in the first vault the contextual gating fields are defined.",
        affects=["snapshot", "pre-gating", "contextual gating (selection)", "contextual gating"],
        advanced=True,
    )  # fmt: skip
    multi_vault_conflict_resolution: str = index(
        "all", "Same title in several vaults", "What happens when two vaults have an entry of the same title.",
        choices={
            "all": "Every copy takes part.",
            "first": "The copy of the first vault wins.",
            "last": "The copy of the last vault wins.",
            "merge": "The copies become one entry.",
        },
        checked=True, affects=["snapshot"],
    )  # fmt: skip
    cache_ttl: int = index(
        300, "Index lifetime", "How long the index counts as fresh; 0 reads the vault before every generation.",
        unit="seconds", low=0, high=86_400, least="read each time", advanced=True,
    )  # fmt: skip
    index_rebuild_trigger: str = index(
        "ttl", "Read the vault again", "What makes DeepLore look at the vault again.",
        choices={
            "ttl": "When the index lifetime is over.",
            "generation": "After a number of generations.",
            "manual": "Only when asked to.",
        },
        advanced=True,
    )  # fmt: skip
    index_rebuild_generation_interval: int = index(
        10, "Generations between readings", "Used when the vault is read again after a number of generations.",
        unit="generations", low=1, high=100, advanced=True,
    )  # fmt: skip
    sync_polling_interval: int = index(
        0, "Check for changes every", "Looks for changed notes in the background; 0 never does.",
        unit="seconds", low=0, high=3600, least="never", advanced=True,
    )  # fmt: skip
    obsidian_port: int = index(
        27_123, "Obsidian port", "Port of the single vault of old versions; it follows the first vault.",
        low=1, high=65_535, advanced=True, local=True,
    )  # fmt: skip


class MatchingSettings(Section):
    """Which entries become candidates, and which of them are held back."""

    new_chat_threshold: int = matching(
        3, "New chat up to", "A chat of at most this length counts as new: bootstrap and seed entries are active.",
        unit="messages", low=1, high=20, affects=["bootstrap", "manifest", "AI selection"],
    )  # fmt: skip
    scan_depth: int = matching(
        4, "Scan depth",
        "How many of the newest messages are searched for keys. Hidden messages use up places too. 0 turns keys off.",
        unit="messages", low=0, high=100, least="keys off",
        affects=["keywords", "active character", "cascade links", "recursion", "BM25", "match order"],
    )  # fmt: skip
    case_sensitive: bool = matching(
        False, "Case matters", "A key only matches with exactly its own capitals.", affects=_KEYS
    )
    priority_reversed: bool = matching(
        False, "Higher priority first", "A higher number is the more important one.", since=NEW,
        affects=["match order", "priority order", "requires and excludes"],
    )  # fmt: skip
    match_whole_words: bool = matching(
        False, "Whole words only",
        "A key must stand alone: war no longer matches Warning. Keys with spaces are not held to this.",
        affects=_KEYS,
    )  # fmt: skip
    recursive_scan: bool = matching(
        False, "Recursive scan", "Also looks for keys in the texts of entries that have matched.",
        affects=["recursion"],
    )  # fmt: skip
    max_recursion_steps: int = matching(
        3, "Recursion steps", "How often the texts of newly found entries are searched in turn.",
        low=1, high=10, affects=["recursion"],
    )  # fmt: skip
    character_context_scan: bool = matching(
        False, "Match the active character",
        "Brings in the entry whose title or key is the name of the character being played.",
        affects=["active character"],
    )  # fmt: skip
    keyword_occurrence_weighting: bool = matching(
        False, "Count occurrences",
        "Entries of equal priority are ordered by how often their keys occur. The order in the prompt stays the same.",
        affects=["match order"],
    )  # fmt: skip
    fuzzy_search_enabled: bool = fuzzy(
        False, "Fuzzy search", "Adds entries whose text resembles the recent chat, keys or not (BM25)."
    )
    fuzzy_search_min_score: float = fuzzy(
        0.5, "Least score", "How much an entry must resemble the chat; a higher score lets fewer in.", low=0.1, high=2.0
    )
    contextual_gating_tolerance: str = gating(
        "strict", "Gating tolerance",
        "How exact a note's gating field must be. Every field has a tolerance of its own, which wins, so changing "
        "this one rarely shows.",
        choices={
            "strict": "An entry that has the field needs the chat to have it, and to agree.",
            "moderate": "The chat may leave the field empty; where both have it, they must agree.",
            "lenient": "As moderate, and lists that have nothing in common pass too.",
        },
        affects=["pre-gating", "contextual gating (selection)", "contextual gating"], advanced=True,
    )  # fmt: skip
    reinjection_cooldown: int = recent(
        0, "Pause after injection",
        "An entry that went in stays out for this many generations; 0 is no pause. Constant entries never pause.",
        unit="generations", low=0, high=50, least="no pause", affects=["re-injection cooldown"],
    )  # fmt: skip
    strip_duplicate_injections: bool = recent(
        True, "Strip duplicates",
        "Leaves out entries injected in recent generations; by the rules of 2.0.2 only when the AI selection came from "
        "the cache, by those of 2.6 with keys alone too.",
        affects=["duplicate stripping", "bookkeeping"],
    )  # fmt: skip
    strip_lookback_depth: int = recent(
        2, "Duplicates looked back", "How many recent generations are searched for duplicates.",
        unit="generations", low=1, high=10, affects=["duplicate stripping", "bookkeeping"],
    )  # fmt: skip
    decay_enabled: bool = recent(
        False, "Freshness hints", "Tells the AI selector which entries have been unused for long or used often.",
        affects=["manifest", "bookkeeping"],
    )  # fmt: skip
    decay_boost_threshold: int = recent(
        5, "Stale after", "Unused for this many generations, an entry is marked as stale.",
        unit="generations", low=2, high=20, affects=["manifest", "bookkeeping"],
    )  # fmt: skip
    decay_penalty_threshold: int = recent(
        2, "Frequent after", "Injected this many times in a row, an entry is marked as frequent.",
        unit="generations", low=2, high=10, affects=["manifest"],
    )  # fmt: skip


class InjectionSettings(Section):
    """How much goes into the prompt, and where."""

    max_entries: int = budget(
        10, "Most entries", "No more entries than this go in. Outlets do not count.",
        unit="entries", low=1, high=100, affects=["AI selection", "budget"],
    )  # fmt: skip
    unlimited_entries: bool = budget(
        False, "Any number of entries", "Lifts the limit on the number of entries.",
        affects=["AI selection", "budget"],
    )  # fmt: skip
    max_tokens_budget: int = budget(
        3072, "Token budget",
        "Room for lore in the prompt. The first entry that does not fit is shortened or ends the list. "
        "Outlets do not count.",
        unit="tokens", low=100, high=100_000, affects=["manifest", "budget"],
    )  # fmt: skip
    unlimited_budget: bool = budget(
        False, "Any number of tokens", "Lifts the limit on tokens.", affects=["manifest", "budget"]
    )
    injection_mode: str = placement(
        "extension", "Injection mode", "Who decides about the place of the lore.",
        choices={
            "extension": "Position, depth and role decide.",
            "prompt_list": "Lore appears as named prompts in SillyTavern's prompt manager.",
        },
        checked=True,
    )  # fmt: skip
    injection_position: int = placement(
        1, "Position", "Where entries go that do not say so themselves.", choices=POSITIONS, affects=_PLACE
    )
    injection_depth: int = placement(
        4, "Depth", "In the chat: how many messages stand below the lore; 0 is the very end.",
        unit="messages", low=0, high=9999, affects=_PLACE,
    )  # fmt: skip
    injection_role: int = placement(
        0, "Role", "Who speaks entries that do not say so themselves.", choices=ROLES, affects=_PLACE
    )
    injection_template: str = placement(
        "<{{title}}>\n{{content}}\n</{{title}}>", "Template",
        "What is written around an entry; {{title}} and {{content}} are filled in. Empty means the built-in one.",
        long=True,
    )  # fmt: skip
    response_prefill_seed: str = placement(
        "", "Beginning of the reply", "Put in front of the model's reply, where the setting below says.", since=NEW,
        advanced=True, long=True,
    )  # fmt: skip
    response_prefill_mode: str = placement(
        "off", "Begin replies for", "Which models get the beginning above.", since=NEW,
        choices={"off": "None.", "anthropic-only": "Claude models.", "all-providers": "All models."},
        checked=True, advanced=True,
    )  # fmt: skip
    allow_wi_scan: bool = placement(
        False, "World Info reads lore", "SillyTavern's own World Info also looks for its keys in the injected lore.",
        advanced=True,
    )  # fmt: skip
    notebook_enabled: bool = notebook(False, "Author's notebook", "Adds the chat's notebook to the prompt.")
    notebook_position: int = notebook(1, "Position", "Where the notebook goes.", choices=POSITIONS, advanced=True)
    notebook_depth: int = notebook(
        4, "Depth", "In the chat: how many messages stand below the notebook.",
        unit="messages", low=0, high=9999, advanced=True,
    )  # fmt: skip
    notebook_role: int = notebook(0, "Role", "Who speaks the notebook.", choices=ROLES, advanced=True)


selection = Group("AI selection", affects=("AI selection",))
fallback = Group("AI fallback", affects=("AI selection",))
prefilter = Group("Category prefilter", affects=("category prefilter",))
connection = Group("AI selection: connection", affects=("AI selection",))


class SelectionSettings(Section):
    """What the AI selector is shown, what it is asked, and what happens when it does not answer."""

    ai_search_enabled: bool = selection(
        False, "AI selection", "A language model picks the entries. While this is off, keys alone decide.",
        affects=["manifest", "AI selection"],
    )  # fmt: skip
    ai_search_mode: str = selection(
        "two-stage", "Mode", "What the model chooses from.",
        choices={
            "two-stage": "Keys match first; the model picks from what matched and what that links to.",
            "ai-only": "The model picks from the whole vault.",
        },
        affects=["wiki links", "manifest", "AI selection"],
    )  # fmt: skip
    ai_search_scan_depth: int = selection(
        4, "Messages shown", "How many of the newest messages the model reads.", unit="messages", low=1, high=100
    )
    ai_search_manifest_summary_length: int = selection(
        600, "Characters of an entry", "How much of an entry's text the list shows when it has no summary.",
        unit="characters", low=100, high=1000, affects=["manifest"],
    )  # fmt: skip
    manifest_summary_mode: str = selection(
        "prefer_summary", "Entry descriptions", "What the model reads about an entry.",
        choices={
            "prefer_summary": "Its summary, or the beginning of its text where there is none.",
            "summary_only": "Its summary; entries without one are left out of the list.",
            "content_only": "The beginning of its text.",
        },
        affects=["category prefilter", "manifest"],
    )  # fmt: skip
    ai_manifest_include_fields: str = selection(
        "", "Fields shown", "Only these fields of a note are shown, separated by commas; empty shows all.", since=NEW,
        affects=["manifest"], spelled="list",
    )  # fmt: skip
    ai_confidence_threshold: str = selection(
        "low", "Least confidence", "Picks that the model is less sure of are dropped.",
        choices={"low": "Keep all picks.", "medium": "Keep medium and high.", "high": "Keep high only."},
    )  # fmt: skip
    scribe_informed_retrieval: bool = selection(
        False, "Read the last session note", "The model also reads the latest note of the session scribe."
    )
    ai_search_system_prompt: str = selection(
        "", "Own instructions",
        "Replaces the instructions to the model; {{maxEntries}} is filled in. Empty means the built-in ones.",
        advanced=True, long=True,
    )  # fmt: skip
    ai_prompt_locale: str = selection(
        "", "Language of the instructions", "Language of DeepLore's own instructions; empty is its window's.",
        since=NEW, affects=(), advanced=True,
    )  # fmt: skip
    prompts_folder_path: str = selection(
        "DeepLore/prompts/", "Folder of instructions",
        "Notes in this folder of the vault take the place of DeepLore's own instructions.", since=NEW,
        affects=(), advanced=True,
    )  # fmt: skip
    ai_error_fallback: str = fallback(
        "keyword", "When the model fails", "What goes in when no usable answer arrives.",
        choices={
            "keyword": "What the keys match.",
            "constants_only": "Constant entries.",
            "bootstrap_only": "Bootstrap entries while the chat is new; constant entries are left out.",
            "none": "Nothing.",
        },
    )  # fmt: skip
    ai_empty_fallback: str = fallback(
        "constants", "When the model picks nothing", "What goes in when the answer holds no entry.",
        choices={
            "constants": "Constant entries.",
            "constants_bootstrap": "Constant entries, and bootstrap entries while the chat is new.",
            "keyword": "What the keys match.",
            "none": "Nothing.",
        },
    )  # fmt: skip
    hierarchical_pre_filter: bool = prefilter(
        False, "Category prefilter", "With 40 candidates or more, a first request narrows them down by category."
    )
    hierarchical_aggressiveness: float = prefilter(
        0.8, "Largest share removed", "The prefilter is ignored when it would remove a larger share than this.",
        low=0.0, high=0.8,
    )  # fmt: skip
    ai_search_connection_mode: str = connections.own_mode(connection)
    ai_search_profile_id: str = connections.profile_id(connection)
    ai_search_proxy_url: str = connections.proxy_url(connection)
    ai_search_model: str = connections.model(connection)
    ai_search_max_tokens: int = connections.reply_limit(connection, 1024, 64, 4096)
    ai_search_timeout: int = connections.timeout(connection, 20_000, 1000)
    ai_search_claude_code_prefix: bool = connection(
        False, "Name Claude Code first", "Through a proxy, requests begin with the line some subscriptions expect.",
        advanced=True,
    )  # fmt: skip
    ai_force_user_role: bool = connection(
        False, "Instructions as user message",
        "Joins instructions and question into one user message, for models without a system role. For all AI tools.",
        advanced=True,
    )  # fmt: skip
