"""DeepLore's settings for choosing entries by a language model (spec: deeplore-engine 2.2, deeplore-ai-and-tools 1)."""

from __future__ import annotations

from lorestudio.settings import connections
from lorestudio.settings.declaration import Group, Section

selection = Group("AI selection")
fallback = Group("AI fallback")
prefilter = Group("Category prefilter")
connection = Group("AI selection: connection")


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
        4, "Messages shown", "How many of the newest messages the model reads.",
        unit="messages", low=1, high=100, affects=["AI selection"],
    )  # fmt: skip
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
    ai_confidence_threshold: str = selection(
        "low", "Least confidence", "Picks that the model is less sure of are dropped.",
        choices={"low": "Keep all picks.", "medium": "Keep medium and high.", "high": "Keep high only."},
        affects=["AI selection"],
    )  # fmt: skip
    scribe_informed_retrieval: bool = selection(
        False, "Read the last session note", "The model also reads the latest note of the session scribe.",
        affects=["AI selection"],
    )  # fmt: skip
    ai_search_system_prompt: str = selection(
        "", "Own instructions",
        "Replaces the instructions to the model; {{maxEntries}} is filled in. Empty means the built-in ones.",
        affects=["AI selection"], advanced=True, long=True,
    )  # fmt: skip
    ai_error_fallback: str = fallback(
        "keyword", "When the model fails", "What goes in when no usable answer arrives.",
        choices={
            "keyword": "What the keys match.",
            "constants_only": "Constant entries.",
            "bootstrap_only": "Bootstrap entries while the chat is new; constant entries are left out.",
            "none": "Nothing.",
        },
        affects=["AI selection"],
    )  # fmt: skip
    ai_empty_fallback: str = fallback(
        "constants", "When the model picks nothing", "What goes in when the answer holds no entry.",
        choices={
            "constants": "Constant entries.",
            "constants_bootstrap": "Constant entries, and bootstrap entries while the chat is new.",
            "keyword": "What the keys match.",
            "none": "Nothing.",
        },
        affects=["AI selection"],
    )  # fmt: skip
    hierarchical_pre_filter: bool = prefilter(
        False, "Category prefilter", "With 40 candidates or more, a first request narrows them down by category.",
        affects=["category prefilter"],
    )  # fmt: skip
    hierarchical_aggressiveness: float = prefilter(
        0.8, "Largest share removed", "The prefilter is ignored when it would remove a larger share than this.",
        low=0.0, high=0.8, affects=["category prefilter"],
    )  # fmt: skip
    ai_search_connection_mode: str = connections.own_mode(connection, ("AI selection",))
    ai_search_profile_id: str = connections.profile_id(connection, ("AI selection",))
    ai_search_proxy_url: str = connections.proxy_url(connection)
    ai_search_model: str = connections.model(connection, ("AI selection",))
    ai_search_max_tokens: int = connections.reply_limit(connection, 1024, 64, 4096, ("AI selection",))
    ai_search_timeout: int = connections.timeout(connection, 20_000, 1000, ("AI selection",))
    ai_search_claude_code_prefix: bool = connection(
        False, "Name Claude Code first", "Through a proxy, requests begin with the line some subscriptions expect.",
        affects=["AI selection"], advanced=True,
    )  # fmt: skip
    ai_force_user_role: bool = connection(
        False, "Instructions as user message",
        "Joins instructions and question into one user message, for models without a system role. For all AI tools.",
        affects=["AI selection"], advanced=True,
    )  # fmt: skip
