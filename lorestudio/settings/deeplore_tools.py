"""DeepLore's settings for its AI tools beside the selection, and for its graph (rules: deeplore-tools 2, 4.4).

Apart from the notepad's text in the prompt and the Librarian's index, none of them changes which entries go in; those
of the graph only change a picture.
"""

from __future__ import annotations

from lorestudio.settings import deeplore_connections as connections
from lorestudio.settings.declaration import Group, Section
from lorestudio.settings.deeplore_retrieval import POSITIONS, ROLES
from lorestudio.settings.rules import NEW

notepad = Group("AI notepad")
scribe = Group("Session scribe")
suggest = Group("Suggestions")
optimize = Group("Key optimiser")
librarian = Group("Librarian")
review = Group("Review")

_OWN_PROMPT = "Replaces the instructions to the model. Empty means the built-in ones."


class NotepadSettings(Section):
    """The writing model's private notes."""

    ai_notepad_enabled: bool = notepad(
        False, "AI notepad", "The writing model keeps notes of its own, which return to it in later prompts.",
        affects=["notes"],
    )  # fmt: skip
    ai_notepad_mode: str = notepad(
        "tag", "How notes are made", "Where the notes come from.",
        choices={
            "tag": "The model writes them at the end of its reply.",
            "extract": "A second request takes them from the finished reply.",
        },
        affects=["notes"],
    )  # fmt: skip
    ai_notepad_position: int = notepad(
        1, "Position", "Where the notes go.", choices=POSITIONS, affects=["notes"], advanced=True
    )
    ai_notepad_depth: int = notepad(
        4, "Depth", "In the chat: how many messages stand below the notes.",
        unit="messages", low=0, high=9999, affects=["notes"], advanced=True,
    )  # fmt: skip
    ai_notepad_role: int = notepad(0, "Role", "Who speaks the notes.", choices=ROLES, affects=["notes"], advanced=True)
    ai_notepad_prompt: str = notepad(
        "", "Own instruction", "What the writing model is told about its notes. Empty means the built-in text.",
        affects=["notes"], advanced=True, long=True,
    )  # fmt: skip
    ai_notepad_max_entries: int = notepad(
        50, "Lines kept", "The oldest lines are dropped when the model adds some.", since=NEW,
        low=0, high=1000, advanced=True,
    )  # fmt: skip
    ai_notepad_fuzzy_dedup_threshold: float = notepad(
        0.85, "Alike from", "How alike two lines have to be for the button that removes repetitions.", since=NEW,
        low=0.1, high=1.0, advanced=True,
    )  # fmt: skip
    ai_notepad_extract_prompt: str = notepad("", "Own extraction prompt", _OWN_PROMPT, advanced=True, long=True)
    ai_notepad_connection_mode: str = connections.inherited_mode(notepad)
    ai_notepad_profile_id: str = connections.profile_id(notepad)
    ai_notepad_proxy_url: str = connections.proxy_url(notepad)
    ai_notepad_model: str = connections.model(notepad)
    ai_notepad_max_tokens: int = connections.reply_limit(notepad, 1024, 256, 8192)
    ai_notepad_timeout: int = connections.timeout(notepad, 30_000, 5000)


def _write_vault(group: Group) -> str:
    """Declare which vault a tool writes into."""
    return group("", "Vault to write to", "The vault's id; empty is the first.", since=NEW, advanced=True, local=True)


class ScribeSettings(Section):
    """Notes about what happened in a session."""

    scribe_enabled: bool = scribe(False, "Session scribe", "Writes a note about the story every few messages.")
    scribe_interval: int = scribe(
        5, "Every", "How many new messages lie between two notes.", unit="messages", low=1, high=50
    )
    scribe_scan_depth: int = scribe(
        20, "Messages read", "How many of the newest messages the scribe reads.", unit="messages", low=5, high=100
    )
    scribe_folder: str = scribe("Sessions", "Folder", "Folder of the vault that session notes go to.")
    scribe_write_vault_id: str = _write_vault(scribe)
    scribe_prompt: str = scribe("", "Own prompt", _OWN_PROMPT, advanced=True, long=True)
    scribe_connection_mode: str = connections.inherited_mode(scribe)
    scribe_profile_id: str = connections.profile_id(scribe)
    scribe_proxy_url: str = connections.proxy_url(scribe)
    scribe_model: str = connections.model(scribe)
    scribe_max_tokens: int = connections.reply_limit(scribe, 1024, 256, 4096)
    scribe_timeout: int = connections.timeout(scribe, 60_000, 5000)


class SuggestSettings(Section):
    """Proposals for new entries and better keys."""

    auto_suggest_enabled: bool = suggest(
        False, "Suggest entries", "Now and then looks through the chat for things that have no entry yet."
    )
    auto_suggest_interval: int = suggest(
        10, "Every", "How many replies lie between two searches.", unit="messages", low=3, high=50
    )
    auto_suggest_skip_review: bool = suggest(
        False, "Write without asking", "Accepts every suggestion and writes its note at once."
    )
    auto_suggest_folder: str = suggest(
        "", "Folder", "Folder of the vault that accepted suggestions go to. Empty means its top."
    )
    auto_suggest_write_vault_id: str = _write_vault(suggest)
    auto_suggest_prompt: str = suggest("", "Own prompt", _OWN_PROMPT, advanced=True, long=True)
    auto_suggest_connection_mode: str = connections.inherited_mode(suggest)
    auto_suggest_profile_id: str = connections.profile_id(suggest)
    auto_suggest_proxy_url: str = connections.proxy_url(suggest)
    auto_suggest_model: str = connections.model(suggest)
    auto_suggest_max_tokens: int = connections.reply_limit(suggest, 2048, 256, 4096)
    auto_suggest_timeout: int = connections.timeout(suggest, 30_000, 5000)

    optimize_keys_mode: str = optimize(
        "keyword", "Keys are for", "Which kind of retrieval the proposed keys should suit.",
        choices={
            "keyword": "Keys alone: precise words.",
            "two-stage": "Keys before AI selection: broader words.",
        },
    )  # fmt: skip
    optimize_keys_prompt: str = optimize("", "Own prompt", _OWN_PROMPT, advanced=True, long=True)
    optimize_keys_connection_mode: str = connections.inherited_mode(optimize)
    optimize_keys_profile_id: str = connections.profile_id(optimize)
    optimize_keys_proxy_url: str = connections.proxy_url(optimize)
    optimize_keys_model: str = connections.model(optimize)
    optimize_keys_max_tokens: int = connections.reply_limit(optimize, 1024, 256, 8192)
    optimize_keys_timeout: int = connections.timeout(optimize, 30_000, 5000)


def _room(default: int, title: str, text: str) -> int:
    """Declare how much of something the Librarian's assistant reads."""
    return librarian(default, title, text, unit="characters", low=0, high=200_000, advanced=True)


def _count(default: int, title: str, low: int, high: int) -> int:
    """Declare a limit of the Librarian's that only 2.6 has."""
    return librarian(default, title, "A limit of the Librarian's.", since=NEW, low=low, high=high, advanced=True)


class LibrarianSettings(Section):
    """Tools that the writing model may use, and the assistant for writing entries."""

    librarian_enabled: bool = librarian(
        False, "Librarian", "While it writes, the model may search the vault and report what is missing from it."
    )
    librarian_search_enabled: bool = librarian(
        True, "Search tool", "The model may search the vault. This also keeps the index for fuzzy search ready."
    )
    librarian_flag_enabled: bool = librarian(True, "Flag tool", "The model may report gaps in the lore.")
    librarian_max_searches: int = librarian(2, "Searches", "How often the model may search per reply.", low=1, high=10)
    librarian_max_results: int = librarian(
        5, "Results", "How many entries one search returns.", unit="entries", low=1, high=20
    )
    librarian_result_token_budget: int = librarian(
        1500, "Result budget", "Meant as room for search results; DeepLore shows it and does not use it.",
        unit="tokens", low=500, high=5000, advanced=True,
    )  # fmt: skip
    librarian_auto_send_on_gap: bool = librarian(
        True, "Draft at once", "Opening a reported gap asks for a draft right away."
    )
    librarian_write_folder: str = librarian(
        "", "Folder", "Folder of the vault that new entries go to. Empty means the folder for suggestions."
    )
    librarian_write_vault_id: str = _write_vault(librarian)
    librarian_max_tool_calls_per_turn: int = _count(10, "Tool uses per reply", 1, 50)
    librarian_max_validation_retries: int = _count(3, "Attempts at a valid draft", 0, 10)
    librarian_session_history_messages: int = _count(10, "Messages of a session", 5, 100)
    librarian_agentic_history_messages: int = _count(40, "Messages of a session with tools", 10, 200)
    librarian_session_tool_call_cap: str = librarian(
        "", "Tool uses per session", "The most in one session, 0 to 1000; empty is no limit.", since=NEW,
        advanced=True, spelled="null",
    )  # fmt: skip
    librarian_connection_mode: str = connections.inherited_mode(librarian, checked=True)
    librarian_profile_id: str = connections.profile_id(librarian)
    librarian_proxy_url: str = connections.proxy_url(librarian)
    librarian_model: str = connections.model(librarian)
    librarian_session_max_tokens: int = connections.reply_limit(librarian, 4096, 1024, 16_384)
    librarian_session_timeout: int = connections.timeout(librarian, 120_000, 10_000)
    librarian_manifest_max_chars: int = _room(
        8000, "Room for the entry list", "How much of the list of entries the assistant reads."
    )
    librarian_related_entries_max_chars: int = _room(
        4000, "Room for related entries", "How much of related entries the assistant reads."
    )
    librarian_draft_max_chars: int = _room(4000, "Room for the draft", "How much of the draft the assistant reads.")
    librarian_chat_context_max_chars: int = _room(
        4000, "Room for the chat", "How much of the chat the assistant reads."
    )
    librarian_system_prompt_mode: str = librarian(
        "default", "Own instructions", "How the instructions below are used.",
        choices={
            "default": "Not at all.",
            "append": "After the built-in ones.",
            "override": "In place of the built-in description of the role.",
            "strict-override": "In place of everything.",
        },
        checked=True, advanced=True,
    )  # fmt: skip
    librarian_custom_system_prompt: str = librarian(
        "", "Text of own instructions", "Used as the setting above says.", advanced=True, long=True
    )
    librarian_show_tool_calls: bool = librarian(True, "Show tool use", "Messages show what was searched and reported.")
    librarian_per_message_activity: bool = librarian(
        False, "Tie activity to messages", "Reported gaps and tool use belong to a message and go when it is redone."
    )
    review_response_tokens: int = review(
        0, "Reply limit", "Longest answer to a review of the vault; 0 means SillyTavern's own limit.",
        unit="tokens", low=0, high=100_000, least="SillyTavern's own", advanced=True,
    )  # fmt: skip


world_info = Group("World Info import", advanced=True)
summary = Group("Summaries", advanced=True)


class ImportSettings(Section):
    """How DeepLore itself takes over lorebooks, and how it sums up; the rules of 2.6 only."""

    import_compress_by_default: bool = world_info(
        False, "Shorten on import", "Imported notes are shortened and marked compress: caveman.", since=NEW
    )
    wi_import_em_handling: str = world_info(
        "append", "Example messages", "What becomes of entries that stand beside the example dialogue.", since=NEW,
        choices={"append": "They are taken in under a heading.", "skip": "They are left out."}, checked=True,
    )  # fmt: skip
    summary_system_prompt: str = summary("", "Own prompt", _OWN_PROMPT, since=NEW, long=True)
    summary_max_tokens: int = summary(400, "Reply limit", "Longest summary.", since=NEW, unit="tokens")
    summary_timeout: int = summary(30_000, "Timeout", "How long to wait for a summary.", since=NEW, unit="ms")


graph = Group("Graph", local=True, advanced=True)


class GraphSettings(Section):
    """Layout and look of the relationship graph."""

    graph_repulsion: float = graph(0.3, "Repulsion", "How strongly entries push each other away.", low=0.1, high=5.0)
    graph_gravity: float = graph(11.0, "Gravity", "How strongly entries are drawn to the middle.", low=0.1, high=20)
    graph_damping: float = graph(0.5, "Damping", "How quickly movement comes to rest.", low=0.3, high=0.98)
    graph_hover_dim_distance: int = graph(
        3, "Lit neighbourhood", "How many links away from the pointed entry stay lit.", low=0, high=15
    )
    graph_hover_falloff: float = graph(
        0.55, "Light per link", "How much light is left after each link.", low=0.3, high=0.85
    )
    graph_hover_ambient: float = graph(0.06, "Least light", "Light of everything far away.", low=0.0, high=0.2)
    graph_focus_tree_depth: int = graph(2, "Focus depth", "How many links away the focus view reaches.", low=1, high=15)
    graph_edge_filter_alpha: float = graph(
        0.05, "Link filter", "A smaller value hides more of the unremarkable links.", low=0.01, high=0.5
    )
    graph_node_size_mode: str = graph(
        "centrality", "Size shows", "What the size of an entry stands for.",
        choices={"centrality": "How well it is linked.", "priority": "Its priority.", "uniform": "Nothing."},
    )  # fmt: skip
    graph_default_color_mode: str = graph(
        "type", "Colour shows", "What the colour of an entry stands for.",
        choices={
            "type": "Its kind.",
            "priority": "Its priority.",
            "centrality": "How well it is linked.",
            "frequency": "How often it goes in.",
            "community": "The group it belongs to.",
        },
    )  # fmt: skip
    graph_show_labels: bool = graph(True, "Labels", "Writes titles beside the entries.")
