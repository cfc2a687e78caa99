"""The one table of reason codes: what each is called, its sentence, and what to change to get another outcome.

Templates are written as `trace.wording` says. Besides a verdict's own details they may use what a trace knows:

- `title`, `vault`, `priority`, `note_tokens` of the entry the reason is about;
- `place` in words, where the details have position, depth and role;
- `named_message`, the message where the key is in the speaker's name (detail `in_name`), and
  `refine_named_message`, the same of the refine key;
- `alike`, the detail `similarity` in percent;
- `would_label`, the label of the reason code in the detail `would`;
- `needs`, the tokens that a shortened entry was short of; `new_budget`, the token budget that would let the entry in
  whole; `rival` and `rival_priority`, the last injected entry that it could have stood before, and its priority.

Tones: silence that its author asked for (another folder, a cooldown, a guide) is neutral; what looks like a mistake is
a warning and always has a fix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from lorestudio.domain.javascript import Json
from lorestudio.systems.contextwindow.reasons import CONTEXT_WINDOW
from lorestudio.systems.facts.reasons import FACTS
from lorestudio.systems.hybrid.reasons import HYBRID
from lorestudio.systems.recap.reasons import RECAP_REASONS
from lorestudio.systems.worldinfo.reasons import WORLD_INFO
from lorestudio.trace.limits import last_room, positional, rank, token_limit
from lorestudio.trace.model import Outcome, StageRecord, StageStatus, Trace, Verdict
from lorestudio.trace.reason import Explanation, Reason, Tone
from lorestudio.trace.wording import fill, one_line, place, plural

__all__ = ["REASONS", "Explanation", "Reason", "Tone", "explain", "explain_reason", "explain_stage"]

GOOD, NEUTRAL, WARNING, ERROR = Tone.GOOD, Tone.NEUTRAL, Tone.WARNING, Tone.ERROR

_WINDOW: Final = "{messages:the scanned text, which is empty|the last message|the last # messages}"
_MORE_ROOM: Final = "Raise “Token budget”[ to {new_budget}| by {needs:# token|# tokens}]"
_EARLIER: Final = "[, or give {title!q} a priority number below {rival_priority}, that of {rival!q}]"

_MATCH: Final = (
    Reason("constant", GOOD, "Constant", "{title!q} is a constant: it comes in on every generation."),
    Reason(
        "bootstrap", GOOD, "Bootstrap",
        "The chat has {chat_length:# message|# messages}; bootstrap entries come in up to {threshold}.",
        details=("threshold", "chat_length"),
    ),
    Reason(
        "key_hit", GOOD, "Key found",
        "The key {key!q} was found[ in the speaker's name of message #{named_message}| in message #{message}]"
        "[ together with the refine key {refine_key!q}][ in the speaker's name of message #{refine_named_message}"
        "| in message #{refine_message}][ (scan depth {depth})].",
        details=("key", "depth"),
    ),
    Reason(
        "relabeled", NEUTRAL, "Key found too",
        "A bootstrap entry that was already in; the key {key!q} was found as well[ in message #{message}]"
        "[ together with the refine key {refine_key!q}][ in message #{refine_message}] and is now given as its reason.",
        details=("key",),
    ),
    Reason("active_character", GOOD, "Active character", "{title!q} is the entry of the active character, {name!q}.",
           details=("name",)),
    Reason("cascade", GOOD, "Cascade link", "{source!q} came in and names {title!q} among its cascade links.",
           details=("source", "source_id")),
    Reason(
        "recursion", GOOD, "Recursion",
        "The key {key!q} was found in the text of [{source!q}|an entry that had come in]"
        "[ together with the refine key {refine_key!q} in that of {refine_source!q}] (recursion step {step}).",
        details=("key", "step"),
    ),
    Reason(
        "fuzzy", GOOD, "Fuzzy search",
        "The text resembles the recent chat with a score of {score}; {threshold} is enough"
        "[ ({terms:word|words} in common: {terms})].",
        details=("score", "threshold", "terms"),
    ),
    Reason("wiki_link", GOOD, "Linked", "{source!q} matched and links to {title!q}, so the AI may choose it.",
           details=("source", "source_id")),
    Reason(
        "ai_pick", GOOD, "Chosen by the AI",
        "The AI chose {title!q} with {confidence} confidence[: {reason!q}]"
        "[ (it wrote {asked!q}, {alike} % alike)| (its spelling of the title differed: {loose_match} match)].",
        details=("confidence", "reason", "match"),
    ),
    Reason(
        "refine_blocked", NEUTRAL, "Refine keys missing",
        "The key {key!q} was found[ in the speaker's name of message #{named_message}| in message #{message}], but "
        "{refine_keys:its refine key|none of its refine keys} {refine_keys!q} {refine_keys:was not|was}"
        "[ found in {searched:the scanned text, which is empty|the last message|the last # messages}].",
        "Add a refine key that the chat uses, or remove the refine keys so that the key alone is enough.",
        details=("key", "refine_keys"),
    ),
    Reason(
        "warmup_short", NEUTRAL, "Warming up",
        "Its keys occur {found:# times|once|# times}; the warmup asks for {needed}.",
        "Set the note's warmup to {found} or less, or raise “Scan depth” so that more of the chat counts.",
        details=("needed", "found"),
    ),
    Reason(
        "probability_zero", WARNING, "Probability 0",
        "The probability of {title!q} is 0, so a hit never brings it in.",
        "Set the note's probability above 0, or remove the field: then every hit counts.",
    ),
    Reason(
        "probability_lost", NEUTRAL, "Lost the draw",
        "The draw was {roll}; a draw above the probability of {probability} keeps the entry out.",
        "Raise the note's probability; at 1 nothing is drawn.",
        details=("probability", "roll"),
    ),
    Reason(
        "cooling_down", NEUTRAL, "Cooling down",
        "It went in a short while ago; its cooldown has {left:# generation|# generations} left.",
        "Lower the note's cooldown if it should return sooner.",
        details=("left",),
    ),
    Reason(
        "no_key_hit", NEUTRAL, "No key found",
        "None of the keys of [{title!q}|this entry] is in " + _WINDOW + " ({characters:# character|# characters}).",
        "Add a key that the chat uses, or raise “Scan depth”[ (now {depth})] if a key stands further back.",
        details=("messages", "characters"),
    ),
    Reason(
        "no_keys", WARNING, "No keys",
        "{title!q} has no keys, so nothing in the chat can bring it in by itself.",
        "Add keys to the note, or make it a constant.",
    ),
    Reason(
        "guide_hidden", NEUTRAL, "Guide",
        "{title!q} is a guide: it is for the Librarian and not for the story's prompt.",
        "Remove the guide tag (“Guide tag”) if the note should take part.",
    ),
)  # fmt: skip

_SELECT: Final = (
    Reason(
        "ai_not_selected", NEUTRAL, "Not chosen by the AI", "The AI was offered {title!q} and did not choose it.",
        "Say in the note's summary when it matters, or make it a constant.",
    ),
    Reason(
        "prefilter_dropped", NEUTRAL, "Category left out",
        "The category prefilter left out {category!q}, so the AI was not offered {title!q}.",
        "Lower “Largest share removed”, give the note a tag of another category, or switch “Category prefilter” off.",
        details=("category",),
    ),
    Reason("offered", NEUTRAL, "Offered", "In AI-only mode every entry is a candidate for the AI to choose."),
    Reason(
        "not_offered", NEUTRAL, "Without a summary", "{title!q} has no summary, so the AI was not offered it.",
        "Write a summary, or set “Entry descriptions” to prefer summaries.",
    ),
    Reason(
        "prefilter_rescued", GOOD, "Kept for its key",
        "The category prefilter left out {category!q}, but a key of {title!q} is in the conversation.",
        details=("category",),
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
        details=("confidence", "threshold"),
    ),
)  # fmt: skip

_GATE: Final = (
    Reason(
        "gated_field", NEUTRAL, "Filtered by context",
        "{label}: the note has {entry_value!v} and the chat has {context_value!v}, but {operator!w}"
        "[ (tolerance {tolerance})].",
        "Change the note's field {field!q} or the chat's {label}, or make the field less strict in the field"
        " definitions.",
        details=("field", "label", "entry_value", "context_value", "operator", "tolerance"),
    ),
    Reason(
        "outside_folders", NEUTRAL, "Other folder",
        "{title!q} is in the folder {folder!q}; the chat uses only {folders!q}.",
        "Add {folder!q} to the chat's folder filter, or clear the filter.",
        details=("folder", "folders"),
    ),
    Reason("blocked", NEUTRAL, "Blocked", "{title!q} is blocked in this chat.",
           "Remove {title!q} from the chat's blocks."),
    Reason(
        "reinjection_pause", NEUTRAL, "Went in recently",
        "It went in {window:in the last generation|within the last # generations} and pauses for "
        "{left:# more generation|# more generations}.",
        "Lower “Pause after injection” (now {window}); 0 switches it off.",
        details=("left", "window"),
    ),
    Reason(
        "missing_requirement", NEUTRAL, "Required entry missing",
        "{title!q} requires {missing!q}, {missing:which is|which are} not in this generation.",
        "See why {missing!q} {missing:is|are} out, or remove {missing:it|them} from the note's requires.",
        details=("missing",),
    ),
    Reason(
        "excluded_by", NEUTRAL, "Excluded",
        "{title!q} excludes {titles!q}, {titles:which is|which are} in this generation too.",
        "Remove {titles!q} from the note's excludes if they may go in together.",
        details=("titles",),
    ),
    Reason(
        "already_in_context", NEUTRAL, "Already in context",
        "The same text went in within the last {generations:generation|# generations}, and the AI's answer was reused.",
        "Lower “Duplicates looked back”, or switch “Strip duplicates” off.",
        details=("generations",),
    ),
    Reason("pinned", GOOD, "Pinned", "{title!q} is pinned in this chat."),
    Reason("pin_upgraded", GOOD, "Pinned",
           "{title!q} is pinned in this chat, so it counts as a constant of priority {priority}.",
           details=("priority",)),
    Reason(
        "replaced_by_pin", NEUTRAL, "Replaced by a pin",
        "Another note of this vault called {title!q} is pinned and took its place.",
        "Give one of the two notes another title.",
        details=("title",),
    ),
    Reason(
        "exempt", NEUTRAL, "Exempt",
        "This stage would have stopped {title!q} ({would_label}), but {by!w} and so exempt.",
        details=("by", "would"),
    ),
)  # fmt: skip

_BUDGET: Final = (
    Reason("fits", GOOD, "Fits", "It takes {tokens:# token|# tokens}, which makes {total} so far.",
           details=("tokens", "total")),
    Reason(
        "truncated", WARNING, "Shortened",
        "{title!q} has {original_tokens:# token|# tokens}; only the first {tokens} went in.",
        _MORE_ROOM + ", or shorten the note.",
        details=("tokens", "original_tokens"),
    ),
    Reason("outlet", GOOD, "In an outlet",
           "It goes into the outlet {outlet!q} ({tokens:# token|# tokens}), which no limit counts.",
           details=("outlet", "tokens")),
    Reason(
        "over_entry_cap", WARNING, "Over the entry limit",
        "{cap:# entry was|# entries were} in already, and no more may go in.",
        "Raise “Most entries” above {cap}" + _EARLIER + ".",
        details=("cap",),
    ),
    Reason(
        "over_budget", WARNING, "Cut by the budget",
        "{title!q} needs {tokens:# token|# tokens}; {free:# was|# were} left of the budget.",
        _MORE_ROOM + _EARLIER + ".",
        details=("tokens", "free", "needs"),
    ),
    Reason(
        "behind_cut", WARNING, "Behind the cut",
        "The budget ended at {stopped_by!q}; {title!q} ({tokens:# token|# tokens}) comes after it and was not tried.",
        _MORE_ROOM + _EARLIER + ".",
        details=("stopped_by", "tokens", "needs"),
    ),
    Reason("placed", GOOD, "Placed", "It stands {place} (prompt {tag!q}).",
           details=("tag", "position", "depth", "role")),
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
        details=("why",),
    ),
    Reason("nothing_left", WARNING, "Nothing left", "No entry was left, so the run ended here.",
           "Open the entries that this stage removed to see what each of them needs."),
    Reason(
        "rolled_back", NEUTRAL, "Rolled back",
        "This generation answers the same message again, so the counters went back to before the first answer.",
        details=("swipe_key",),
    ),
    Reason(
        "not_bootstrapping", NEUTRAL, "Chat too long",
        "The chat has {chat_length:# message|# messages}; bootstrap entries come in only up to {threshold}.",
        details=("threshold", "chat_length"),
    ),
    Reason("stopped_early", NEUTRAL, "Ended early", "The run had ended early, because no entry was left."),
    Reason("no_prompt", NEUTRAL, "No prompt", "There was no text to hand over."),
    Reason("stage_failed", ERROR, "Failed", "The stage failed: {error}",
           "The message says what went wrong; mend that and run again.", details=("error",)),
    Reason("ai_cached", NEUTRAL, "Answer reused", "The AI was not asked again: an earlier answer still held."),
    Reason(
        "ai_error", ERROR, "AI failed", "The AI gave no usable answer[: {error}][. Taken instead: {fallback!w}].",
        "Check the connection and the model; “When the model fails” decides what goes in instead.",
        details=("error", "fallback"),
    ),
    Reason(
        "ai_empty", WARNING, "AI chose nothing", "The AI chose no entry[. Taken instead: {fallback!w}].",
        "Lower “Least confidence”; “When the model picks nothing” decides what goes in instead.",
        details=("fallback",),
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
    Reason("never_candidate", NEUTRAL, "Not matched", "Nothing in this run brought [{title!q}|this entry] in."),
    Reason("other_source", NEUTRAL, "Not looked at", "This run chose from other things than the notes of the vault.",
           "Choose a system that looks at notes: DeepLore, hybrid retrieval, the context window, or World Info without "
           "a lorebook of its own."),
    Reason("run_ended", WARNING, "Not placed", "The run ended while {title!q} was still a candidate.",
           "Look at the last stage of the run; its message says why nothing went in."),
    Reason("went_in", GOOD, "Injected", "It went in with {tokens:# token|# tokens}.", details=("tokens",)),
)  # fmt: skip

_TABLES: Final = (
    _MATCH, _SELECT, _GATE, _BUDGET, _STAGE, _RUN, CONTEXT_WINDOW, FACTS, HYBRID, RECAP_REASONS, WORLD_INFO,
)  # fmt: skip

REASONS: Final[Mapping[str, Reason]] = MappingProxyType({reason.code: reason for group in _TABLES for reason in group})
"""Every reason by its code."""


def explain(verdict: Verdict, trace: Trace) -> Explanation:
    """The verdict in words. An unknown code becomes its own label; a missing detail leaves the label as sentence."""
    return explain_reason(verdict.reason, verdict.details, trace, verdict.entry)


def explain_reason(code: str, details: Mapping[str, Json], trace: Trace, entry: int | None = None) -> Explanation:
    """A reason code in words, about one entry or about the whole run."""
    reason = REASONS.get(code)
    if reason is None:
        label = one_line(code.replace("_", " ")).capitalize() or "No reason given"
        return Explanation(label, label, "", NEUTRAL)
    known = known_details(details, trace, entry)
    sentence = fill(reason.sentence, known) or reason.label
    return Explanation(reason.label, sentence, fill(reason.fix, known) or "", reason.tone)


def explain_stage(record: StageRecord, trace: Trace) -> str:
    """What a stage did as a whole: its note or error, then who came in and who went on."""
    sentences: list[str] = []
    if record.status is StageStatus.FAILED:
        failure = explain_reason("stage_failed", {"error": record.error or record.note}, trace).sentence
        sentences.append(failure if failure.endswith((".", "!", "?")) else f"{failure}.")
    if record.note and (record.status is not StageStatus.FAILED or record.error):
        sentence = explain_reason(record.note, record.details, trace).sentence
        sentences.append(sentence if sentence.endswith(".") else f"{sentence}.")
    if record.status is StageStatus.RAN or not sentences:
        sentences.append(_movement(record))
    return " ".join(sentences)


def _movement(record: StageRecord) -> str:
    """`8 entries came in, 2 were removed, 6 went on.`"""
    came, went = len(record.entered), len(record.left)
    if record.status is StageStatus.SKIPPED:
        return "Skipped."
    refused = len(record.with_outcome(Outcome.REFUSED))
    changed = len(record.with_outcome(Outcome.CHANGED))
    steps = [
        plural(count, forms)
        for count, forms in (
            (record.added, "# was added|# were added"),
            (record.removed, "# was removed|# were removed"),
            (changed, "# was changed|# were changed"),
            (refused, "# was refused|# were refused"),
        )
        if count
    ]
    if steps:
        return ", ".join([plural(came, "No entry|# entry|# entries") + " came in", *steps, f"{went:,} went on"]) + "."
    return plural(came, "No entry came in.|1 entry went through.|# entries went through.")


def known_details(details: Mapping[str, Json], trace: Trace, entry: int | None) -> Mapping[str, Json]:
    """The details with everything that the trace adds to them; a detail of the same name wins."""
    known: dict[str, Json] = {}
    ref = None if entry is None else trace.entries.get(entry)
    if ref is not None:
        known.update(title=ref.title, vault=ref.vault, priority=ref.priority, note_tokens=ref.tokens)
        known.update(_room(details, trace, entry, ref.tokens))
    known |= details
    position, depth, role = (details.get(name) for name in ("position", "depth", "role"))
    if isinstance(position, int | float) and isinstance(depth, int | float) and isinstance(role, int | float):
        known["place"] = place(position, depth, role)
    would = details.get("would")
    if isinstance(would, str):
        known["would_label"] = REASONS[would].label if would in REASONS else would
    if details.get("in_name") is True:
        known["named_message"] = details.get("message")
    if details.get("refine_in_name") is True:
        known["refine_named_message"] = details.get("refine_message")
    if details.get("match") in ("fuzzy", "similar title"):
        known["loose_match"] = "nearest"
    similarity = details.get("similarity")
    if isinstance(similarity, int | float):
        known["alike"] = round(100 * similarity)
    stopped_by = details.get("stopped_by")
    if isinstance(stopped_by, int) and stopped_by in trace.entries:
        known["stopped_by"] = trace.entries[stopped_by].title
    terms = details.get("terms")
    if isinstance(terms, Sequence) and not isinstance(terms, str):
        known["terms"] = [_first(term) for term in terms]
    return known


def _first(value: Json) -> Json:
    """The word of a term's row of figures."""
    return value[0] if isinstance(value, list | tuple) and value else value


def _room(details: Mapping[str, Json], trace: Trace, entry: int | None, tokens: float) -> Mapping[str, Json]:
    """What would have let the entry in whole, as far as the trace tells."""
    room: dict[str, Json] = {}
    limit = token_limit(trace)
    original, needs = details.get("original_tokens"), details.get("needs")
    if limit is not None and limit.maximum is not None:
        if needs is None and isinstance(original, int | float):
            others = sum(injection.tokens for injection in positional(trace) if injection.entry != entry)
            needs = room["needs"] = others + original - limit.maximum
        if isinstance(needs, int | float):
            room["new_budget"] = limit.maximum + needs
    rival = last_room(trace, tokens)
    if rival is not None and rival.entry != entry:
        room.update(rival=rival.title, rival_priority=rank(rival.priority))
    return room
