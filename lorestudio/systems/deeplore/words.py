"""DeepLore's words about its runs: the table of its reason codes, and what they mean to views."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lorestudio.llm.messages import PREFILTER, SEARCH
from lorestudio.trace.model import StageStatus, Trace
from lorestudio.trace.vocabulary import ERROR, GOOD, NEUTRAL, SEARCHED, WARNING, NoChoice, Reason, Vocabulary, table
from lorestudio.trace.wording import plural

_WINDOW: Final = "{messages:the scanned text, which is empty|the last message|the last # messages}"
_MORE_ROOM: Final = (
    "Raise [“Token budget” to {new_budget} and “Most entries” to {new_cap}|“Token budget” to {new_budget}"
    "|“Token budget” by {needs:# token|# tokens}|“Token budget”]"
)
_EARLIER: Final = "[, or give {title!q} a priority number below {rival_priority}, that of {rival!q}]"

_MATCH: Final = (
    Reason(
        "bootstrap", GOOD, "Bootstrap",
        "The chat has {chat_length:# message|# messages}; bootstrap entries come in up to {threshold}.",
        brief="Bootstrap: {chat_length:# message|# messages}, in up to {threshold}",
    ),
    Reason(
        "key_hit", GOOD, "Key found",
        "The key {key!q} was found[ in the speaker's name of message #{named_message}| in message #{message}]"
        "[ together with the refine key {refine_key!q}][ in the speaker's name of message #{refine_named_message}"
        "| in message #{refine_message}][ (scan depth {depth})].",
        brief="Key {key!q}[ in the name of #{named_message}| in #{message}][, with {refine_key!q}]",
    ),
    Reason(
        "relabeled", NEUTRAL, "Key found too",
        "A bootstrap entry that was already in; the key {key!q} was found as well[ in message #{message}]"
        "[ together with the refine key {refine_key!q}][ in message #{refine_message}] and is now given as its reason.",
    ),
    Reason("active_character", GOOD, "Active character", "{title!q} is the entry of the active character, {name!q}.",
           brief="The active character, {name!q}"),
    Reason("cascade", GOOD, "Cascade link", "{source!q} came in and names {title!q} among its cascade links.",
           brief="Cascade link of {source!q}"),
    Reason(
        "recursion", GOOD, "Recursion",
        "The key {key!q} was found in the text of [{source!q}|an entry that had come in]"
        "[ together with the refine key {refine_key!q} in that of {refine_source!q}] (recursion step {step}).",
        brief="Key {key!q} in [{source!q}|another entry][, with {refine_key!q}]",
    ),
    Reason(
        "fuzzy", GOOD, "Fuzzy search",
        "The text resembles the recent chat with a score of {score}; {threshold} is enough"
        "[ ({terms:word|words} in common: {terms})].",
        brief="Resembles the chat: {score}, {threshold} is enough",
    ),
    Reason("wiki_link", GOOD, "Linked", "{source!q} matched and links to {title!q}, so the AI may choose it.",
           brief="Linked from {source!q}"),
    Reason(
        "ai_pick", GOOD, "Chosen by the AI",
        "The AI chose {title!q} with {confidence} confidence[: {reason!q}]"
        "[ (it wrote {asked!q}, {alike} % alike)| (its spelling of the title differed: {loose_match} match)].",
        brief="Chosen by the AI, {confidence} confidence",
    ),
    Reason(
        "refine_blocked", NEUTRAL, "Refine keys missing",
        "The key {key!q} was found[ in the speaker's name of message #{named_message}| in message #{message}], but "
        "{refine_keys:its refine key|none of its refine keys} {refine_keys!q} {refine_keys:was not|was}"
        "[ found in {searched:the scanned text, which is empty|the last message|the last # messages}].",
        "Add a refine key that the chat uses, or remove the refine keys so that the key alone is enough.",
        brief="Key {key!q}[ in #{message}], but no refine key: {refine_keys!q}",
    ),
    Reason(
        "refine_logic", NEUTRAL, "Refine keys say no",
        "The key {key!q} was found[ in the speaker's name of message #{named_message}| in message #{message}], but not "
        "as the note's logic {logic!q} wants its refine {refine_keys:key|keys} {refine_keys!q}.",
        "Change selective_logic or the refine keys, or remove the refine keys so that the key alone is enough.",
    ),
    Reason(
        "warmup_short", NEUTRAL, "Warming up",
        "Its keys occur {found:# times|once|# times}; the warmup asks for {needed}.",
        "Set the note's warmup to {found} or less, or raise “Scan depth” so that more of the chat counts.",
        brief="Keys occur {found:# times|once|# times}, {needed} are asked for",
    ),
    Reason(
        "probability_zero", WARNING, "Probability 0",
        "The probability of {title!q} is 0, so a hit never brings it in.",
        "Set the note's probability above 0, or remove the field: then every hit counts.",
        brief="Its probability is 0",
    ),
    Reason(
        "probability_lost", NEUTRAL, "Lost the draw",
        "The draw was {roll}; a draw above the probability of {probability} keeps the entry out.",
        "Raise the note's probability; at 1 nothing is drawn.",
        brief="Draw {roll}, above its probability of {probability}",
    ),
    Reason(
        "cooling_down", NEUTRAL, "Cooling down",
        "It went in a short while ago; its cooldown has {left:# generation|# generations} left.",
        "Lower the note's cooldown if it should return sooner.",
        brief="Cooldown: {left:# generation|# generations} left",
    ),
    Reason(
        "no_key_hit", NEUTRAL, "No key found",
        "None of the keys of [{title!q}|this entry] is in " + _WINDOW + " ({characters:# character|# characters}).",
        "Add a key that the chat uses, or raise “Scan depth”[ (now {depth})] if a key stands further back.",
        brief="No key in {messages:an empty text|the last message|the last # messages}",
    ),
    Reason(
        "no_keys", WARNING, "No keys",
        "{title!q} has no keys, so nothing in the chat can bring it in by itself.",
        "Add keys to the note, or make it a constant.",
        brief="It has no keys",
    ),
)  # fmt: skip

_SELECT: Final = (
    Reason(
        "ai_not_selected", NEUTRAL, "Not chosen by the AI", "The AI was offered {title!q} and did not choose it.",
        "Say in the note's summary when it matters, or make it a constant.",
        brief="Offered to the AI, and not chosen",
    ),
    Reason(
        "prefilter_dropped", NEUTRAL, "Category left out",
        "The category prefilter left out {category!q}, so the AI was not offered {title!q}.",
        "Lower “Largest share removed”, give the note a tag of another category, or switch “Category prefilter” off.",
    ),
    Reason("offered", NEUTRAL, "Offered", "In AI-only mode every entry is a candidate for the AI to choose."),
    Reason(
        "not_offered", NEUTRAL, "Without a summary", "{title!q} has no summary, so the AI was not offered it.",
        "Write a summary, or set “Entry descriptions” to prefer summaries.",
    ),
    Reason(
        "prefilter_rescued", GOOD, "Kept for its key",
        "The category prefilter left out {category!q}, but a key of {title!q} is in the conversation.",
    ),
    Reason("fell_back", NEUTRAL, "Taken instead", "{title!q} goes in because the AI's choice was not to be had."),
    Reason(
        "fallback_dropped", WARNING, "Lost with the answer",
        "{title!q} was a candidate, but the AI gave no choice and the fallback does not take it.",
        "Check the connection; “When the model fails” decides what goes in instead.",
    ),
    Reason("nothing_offered", NEUTRAL, "Not asked", "There was nothing for the AI to choose, so the matches stand."),
    Reason(
        "below_confidence", NEUTRAL, "Not confident enough",
        "The AI chose {title!q} with {confidence} confidence; {threshold} is asked for.",
        "Set “Least confidence” to {confidence}.",
        brief="Chosen with {confidence} confidence; {threshold} is asked for",
    ),
)  # fmt: skip

_GATE: Final = (
    Reason(
        "gated_field", NEUTRAL, "Filtered by context",
        "{label}: the note has {entry_value!v} and the chat has {context_value!v}, but {operator!w}"
        "[ (tolerance {tolerance})].",
        "Change the note's field {field!q} or the chat's {label}, or make the field less strict in the field"
        " definitions.",
        brief="{label}: note {entry_value!v}, chat {context_value!v}",
    ),
    Reason(
        "outside_folders", NEUTRAL, "Other folder",
        "{title!q} is in the folder {folder!q}; the chat uses only {folders!q}.",
        "Add {folder!q} to the chat's folder filter, or clear the filter.",
        brief="In the folder {folder!q}, not in the chat's",
    ),
    Reason("blocked", NEUTRAL, "Blocked", "{title!q} is blocked in this chat.",
           "Remove {title!q} from the chat's blocks.",
           brief="Blocked in this chat"),
    Reason(
        "reinjection_pause", NEUTRAL, "Went in recently",
        "It went in {window:in the last generation|within the last # generations} and pauses for "
        "{left:# more generation|# more generations}.",
        "Lower “Pause after injection” (now {window}); 0 switches it off.",
        brief="Went in recently: pauses for {left:# generation|# generations}",
    ),
    Reason(
        "missing_requirement", NEUTRAL, "Required entry missing",
        "{title!q} requires {missing!q}, {missing:which is|which are} not in this generation.",
        "See why {missing!q} {missing:is|are} out, or remove {missing:it|them} from the note's requires.",
        brief="Requires {missing!q}, not in",
    ),
    Reason(
        "excluded_by", NEUTRAL, "Excluded",
        "{title!q} excludes {titles!q}, {titles:which is|which are} in this generation too.",
        "Remove {titles!q} from the note's excludes if they may go in together.",
        brief="Excludes {titles!q}, which {titles:is|are} in",
    ),
    Reason(
        "already_in_context", NEUTRAL, "Already in context",
        "The same text went in within the last {generations:generation|# generations}.",
        "Lower “Duplicates looked back”, or switch “Strip duplicates” off.",
        brief="Same text went in before",
    ),
    Reason("pinned", GOOD, "Pinned", "{title!q} is pinned in this chat.",
           brief="Pinned in this chat"),
    Reason("pin_upgraded", GOOD, "Pinned",
           "{title!q} is pinned in this chat, so it counts as a constant of priority {priority}.",
           brief="Pinned in this chat"),
    Reason(
        "replaced_by_pin", NEUTRAL, "Replaced by a pin",
        "Another note of this vault called {title!q} is pinned and took its place.",
        "Give one of the two notes another title.",
    ),
    Reason(
        "exempt", NEUTRAL, "Exempt",
        "This stage would have stopped {title!q} ({would_label}), but {by!w} and so exempt.",
    ),
)  # fmt: skip

_BUDGET: Final = (
    Reason("fits", GOOD, "Fits", "It takes {tokens:# token|# tokens}, which makes {total} so far."),
    Reason(
        "truncated", WARNING, "Shortened",
        "Of its {original_tokens:# token|# tokens} only the first {tokens} went in.",
        _MORE_ROOM + ", or shorten the note.",
        brief="{tokens} of {original_tokens:# token|# tokens} fit",
    ),
    Reason("outlet", GOOD, "In an outlet",
           "It goes into the outlet {outlet!q} ({tokens:# token|# tokens}), which no limit counts."),
    Reason(
        "over_entry_cap", WARNING, "Over the entry limit",
        "{cap:# entry was|# entries were} in already, and no more may go in.",
        "Raise “Most entries”[ to {new_cap} and “Token budget” to {new_budget}| to {new_cap}| above {cap}]"
        + _EARLIER + ".",
        brief="Limit of {cap:# entry|# entries} was reached",
    ),
    Reason(
        "over_budget", WARNING, "Cut by the budget",
        "{title!q} needs {tokens:# token|# tokens}; {free:# was|# were} left of the budget.",
        _MORE_ROOM + _EARLIER + ".",
        brief="Needs {tokens:# token|# tokens}, {free:# was|# were} left",
    ),
    Reason(
        "behind_cut", WARNING, "Behind the cut",
        "The budget ended at {stopped_by!q}; {title!q} ({tokens:# token|# tokens}) comes after it and was not tried.",
        _MORE_ROOM + _EARLIER + ".",
        brief="{needs:# token|# tokens} short of the budget",
    ),
    Reason("placed", GOOD, "Placed", "It stands {place}."),
)  # fmt: skip

_STAGE: Final = (
    Reason("off", NEUTRAL, "Off", "{setting!w} is off."),
    Reason("no_context", NEUTRAL, "No context", "The chat has no context values, so nothing is filtered by them."),
    Reason("no_folder_filter", NEUTRAL, "No folder filter", "The chat uses all folders."),
    Reason("no_pins_or_blocks", NEUTRAL, "No pins or blocks", "Nothing is pinned or blocked in this chat."),
    Reason(
        "scan_depth_zero", WARNING, "Scan depth 0",
        "“Scan depth” is 0, so only constants and bootstrap entries can match.",
        "Set “Scan depth” to 1 or more.",
    ),
    Reason(
        "log_cleared", NEUTRAL, "Log cleared",
        "The log of recent injections was emptied first ({why!w}), so nothing counts as a duplicate.",
    ),
    Reason("nothing_left", WARNING, "Nothing left", "No entry was left, so the run ended here.",
           "Open the entries that this stage removed to see what each of them needs."),
    Reason(
        "rolled_back", NEUTRAL, "Rolled back",
        "This generation answers the same message again, so the counters went back to before the first answer.",
    ),
    Reason(
        "not_bootstrapping", NEUTRAL, "Chat too long",
        "The chat has {chat_length:# message|# messages}; bootstrap entries come in only up to {threshold}.",
    ),
    Reason("ai_cached", NEUTRAL, "Answer reused", "The AI was not asked again: an earlier answer still held."),
    Reason(
        "ai_error", ERROR, "AI failed", "The AI gave no usable answer[: {error}][. Taken instead: {fallback!w}].",
        "Check the connection and the model; “When the model fails” decides what goes in instead.",
    ),
    Reason(
        "ai_empty", WARNING, "AI chose nothing", "The AI chose no entry[. Taken instead: {fallback!w}].",
        "Lower “Least confidence”; “When the model picks nothing” decides what goes in instead.",
    ),
    Reason("nothing_to_offer", NEUTRAL, "Nothing to offer", "There was no entry for the AI to choose from."),
    Reason("no_client", NEUTRAL, "No model", "No model was connected and no answer was recorded."),
    Reason("prefilter_unchanged", NEUTRAL, "No prefilter", "The category prefilter left the list as it was."),
)  # fmt: skip

_RUN: Final = (
    Reason("quiet_or_disabled", NEUTRAL, "Not run",
           "Nothing was retrieved: DeepLore is off, or this was a quiet generation.",
           "If lore was expected, switch “DeepLore on”."),
    Reason("tool_or_system_tail", NEUTRAL, "Not run",
           "Nothing was retrieved: the last message is a tool call or a system message."),
    Reason("empty_vault", WARNING, "Not run", "Nothing was retrieved: the vault has no entries.",
           "Give notes the tag that “Entry tag” names, and check that the right folder is open."),
)  # fmt: skip


_KEYS: Final = "keywords"
BM25: Final = "BM25"
"""The stage that compares words."""


def nothing_found(trace: Trace) -> str:
    """What the keys were looked for in, and three ways to let more in, as things stand in this run."""
    keywords = trace.stage(_KEYS)
    details = keywords.details if keywords is not None else {}
    messages, characters, depth = (details.get(name) for name in ("messages", "characters", "depth"))
    found = ""
    if trace.ran(_KEYS) and isinstance(messages, int) and isinstance(characters, int):
        found = (
            f"Searched: {plural(messages, 'no message|the last message|the last # messages')} "
            f"({plural(characters, '# character|# characters')}), "
            f"for the keys of {plural(trace.index_size, '# entry|# entries')}. None occurs there. "
        )
    deeper = f"raise the scan depth, which is {depth}" if isinstance(depth, int) and depth else "raise the scan depth"
    off = [name for stage, name in (("recursion", "recursive scan"), (BM25, "fuzzy search")) if _is_off(trace, stage)]
    more = f"switch on {' or '.join(off)}" if off else "make entries constant that are always needed"
    return f"{found}To let more in: {deeper}; give entries keys that the chat uses; or {more}."


def _is_off(trace: Trace, stage: str) -> bool:
    record = trace.stage(stage)
    return record is not None and record.status is StageStatus.SKIPPED and record.note == "off"


_WOULD: Final[Mapping[str, str]] = MappingProxyType({
    "gated_field": "would also be filtered by context: {label} of the note is {entry_value!v}, of the chat"
                   " {context_value!v}",
    "outside_folders": "would also be left out by the folder filter: it is in {folder!q}",
    "blocked": "would also be left out: it is blocked in this chat",
    "replaced_by_pin": "would also give way to a pinned note of the same title",
    "reinjection_pause": "would also pause, because it went in recently: {left:# more generation|# more generations}",
    "missing_requirement": "would also be dropped, because {missing!q} {missing:is|are} not in",
    "excluded_by": "would also be dropped, because it excludes {titles!q}",
    "already_in_context": "would also be stripped, because the same text went in before",
    "over_entry_cap": "would also be cut by the entry limit: {cap:# entry is|# entries are} in before it",
    "over_budget": "would also be cut by the budget[: needs {needs:# more token|# more tokens}]",
    "behind_cut": "would also be cut by the budget[: needs {needs:# more token|# more tokens}]",
    "truncated": "would be shortened by the budget, from {original_tokens:# token|# tokens} to {tokens}",
})  # fmt: skip
"""What later stages would have said of an entry that a run held in."""

_PHRASES: Final = frozenset(
    {
        "high", "medium", "low", "strict", "moderate", "lenient", "exact title", "similar title", "fuzzy",
        "truncated", "over_budget", "AI search temporarily paused", "too few entries or categories",
        "AI calls are paused", "the answer names no category", "it would leave too few", "nothing is cached yet",
        "the candidates or the settings changed", "the cached selection had no conversation",
        "the same conversation and candidates", "the same candidates, whatever was said",
        "no new lines in the conversation", "the conversation is another one", "the vault changed",
        "earlier lines changed or left the window", "the new lines name no entry", "no cached AI selection",
    }
)  # fmt: skip
"""Texts in details that are DeepLore's own words."""


_CUT: Final = "Cut by the budget"
_NEEDS: Final = "{size}[, needs {needs} more tokens than were free|, %s]"

VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(_MATCH, _SELECT, _GATE, _BUDGET, _STAGE, _RUN),
    widening=nothing_found,
    held_back=(
        "Nothing came in: {refused} of {entries:# entry|# entries} {refused:was|were} found "
        + SEARCHED
        + " but held back."
    ),
    origins={
        "constant": ("constant", "bootstrap"),
        "keyword": ("key_hit", "active_character"),
        "recursion": ("recursion",),
        "fuzzy": ("fuzzy",),
        "cascade": ("cascade", "wiki_link"),
        "pinned": ("pinned",),
        "AI": ("ai_pick",),
    },
    unasked=frozenset({"constant", "offered"}),
    key_stage=_KEYS,
    tells_keys=frozenset({"key_hit", "relabeled", "refine_blocked", "refine_logic"}),
    key_lacks={
        "refine_blocked": "None of its refine keys ({refine_keys!q}) is in "
        "[{searched:the scanned text|the last message|the last # messages}|the scanned text]."
    },
    found=frozenset(
        {"refine_blocked", "refine_logic", "cooling_down", "warmup_short", "probability_zero", "probability_lost"}
    ),
    score_stage=BM25,
    whole_stage="whole vault",
    not_chosen=frozenset({"ai_not_selected"}),
    asks={SEARCH: "AI selection", PREFILTER: "category prefilter"},
    offer_stage="manifest",
    no_choice={"nothing_to_offer": NoChoice.NOT_OFFERED, "ai_error": NoChoice.FAILED, "ai_empty": NoChoice.EMPTY},
    unsure=frozenset({"below_confidence"}),
    tidies=frozenset({"bookkeeping"}),
    parts={
        "ai_not_selected": "ai",
        "prefilter_dropped": "ai",
        "below_confidence": "ai",
        "fallback_dropped": "no choice",
        "not_offered": "not offered",
        "nothing_offered": "not offered",
        "over_entry_cap": "entries",
    },
    groups={
        "gated_field": "Filtered by context[: {label}]",
        "over_budget": _CUT,
        "behind_cut": _CUT,
        "truncated": "Shortened by the budget",
    },
    cuts={
        "over_entry_cap": "[the limit of {cap} entries was reached|entry limit reached]",
        "over_budget": _NEEDS % "did not fit",
        "behind_cut": _NEEDS % "the budget had stopped before it",
    },
    budget_ended={
        "over_entry_cap": "the entry limit ended the list",
        **dict.fromkeys(("over_budget", "behind_cut", "truncated"), "the token budget ended the list"),
    },
    counts_all=True,
    would=_WOULD,
    notes={"deeplore_notebook": "notebook", "deeplore_ai_notepad": "AI notepad"},
    modes=frozenset({"keywords-only", "two-stage", "ai-only"}),
    phrases=_PHRASES,
    tags=re.compile(r"deeplore_(override_)?p-?\d+_d[\d.]+_r-?\d+|deeplore_(constants|lore|notebook|ai_notepad)"),
)
