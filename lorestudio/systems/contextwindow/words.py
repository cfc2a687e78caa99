"""The reason codes of the context window (rules: context-window 21)."""

from __future__ import annotations

from typing import Final

from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import GOOD, NEUTRAL, WARNING, Reason, Vocabulary, table

_REASONS: Final = (
    Reason(
        "cw_match", GOOD, "Mentioned",
        "{trigger!q} occurs in the text {occurrences:# times|once|# times}[, first in message #{message}].",
    ),
    Reason("cw_link", GOOD, "Linked", "{source!q} links to it."),
    Reason(
        "cw_dependant", GOOD, "Requirements are there",
        "Everything it requires is there: {names!q}. That brings it in, though the text does not mention it.",
    ),
    Reason(
        "cw_unsatisfied", NEUTRAL, "Requirement missing",
        "It requires {names!q}, and no entry that came in is one of that name or alias.",
        "Mention what is required, or take it from the note's requires.",
    ),
    Reason(
        "cw_locked", NEUTRAL, "Blocked", "{title!q} is blocked in this chat, which locks it here.",
        "Take the block away.",
    ),
    Reason(
        "cw_note_locked", NEUTRAL, "Locked", "The note's cw_lock keeps it out.",
        "Take cw_lock out of the note, or name words in cw_passthrough that let it in.",
    ),
    Reason(
        "cw_passthrough", NEUTRAL, "Not let through", "It is let in only where the text holds {words!q}.",
        "Add a word that the chat uses to the note's cw_passthrough, or take the property away.",
    ),
    Reason(
        "cw_page_locked", NEUTRAL, "Page locked", "The page {page!q} is locked, so nothing on it comes in.",
        "Take the page from “Locked pages”, or give the note another cw_page.",
    ),
    Reason(
        "cw_whole", WARNING, "No budget, left whole",
        "[The page {page!q} has no budget. ]What has no budget is left whole: it takes {cost:# token|# tokens}.",
        "Raise the token budget, or set “How pages share” to EQUAL_SPLIT.",
    ),
    Reason(
        "cw_pages", NEUTRAL, "Pages", "The pages share {budget:# token|# tokens}: {words}.",
    ),
    Reason("cw_one_page", NEUTRAL, "One page", "There is only one page, which has the whole budget."),
    Reason(
        "cw_rank", NEUTRAL, "Ranked", "Its weight is {weight}; that makes it number {rank} of {of}.",
    ),
    Reason(
        "cw_taken", GOOD, "Fits",
        "It takes {cost:# token|# tokens}; {used} of {limit} are used with it[ on the page {page!q}][, {total} on all "
        "pages so far].",
    ),
    Reason(
        "cw_no_room", NEUTRAL, "Does not fit",
        "It takes {cost:# token|# tokens}, but only {room} of {limit} are left[ on the page {page!q}]. Smaller entries "
        "behind it may still go in.",
        "Raise the token budget by {needs:# token|# tokens}, or give the note a larger weight.",
    ),
    Reason(
        "cw_filled", GOOD, "Fills the budget",
        "The text does not bring it in; it fills what was left: {cost:# token|# tokens}, {used} of {limit} with it.",
    ),
    Reason(
        "cw_fill_requirement", NEUTRAL, "Requirement not selected",
        "There was room, but what it requires had not been selected when its turn came.",
        "Give what it requires a larger weight, so that it is looked at earlier.",
    ),
    Reason(
        "cw_not_examined", NEUTRAL, "Budget full", "The budget was full before its turn came.",
        "Raise the token budget.",
    ),
    Reason(
        "cw_element", GOOD, "Context element",
        "A constant note is a context element: it takes {cost:# token|# tokens} of the {limit} for elements.",
    ),
    Reason(
        "cw_element_cut", WARNING, "Element cut",
        "The elements have {limit:# token|# tokens}; it takes {cost}: {why}.",
        "Raise the token budget, or make fewer notes constant.",
    ),
    Reason(
        "cw_not_mentioned", NEUTRAL, "Not mentioned",
        "Neither its title nor one of its keys occurs in the text that was looked at.",
        "Add a key that the chat uses, or raise “Messages looked at”.",
    ),
    Reason(
        "cw_turns", NEUTRAL, "Conversation",
        "{kept} of {of:# message|# messages} stay: {used} of {limit:# token|# tokens}.",
    ),
    Reason("cw_no_elements", NEUTRAL, "No elements", "No note is constant, so there are no context elements."),
    Reason("cw_no_turns", NEUTRAL, "No conversation", "The conversation does not share the budget."),
    Reason("cw_no_fill", NEUTRAL, "Not filling", "“Fill” is off, so only what the text brings in is taken."),
    Reason("cw_placed", GOOD, "Placed", "It stands in the context, {place}."),
)  # fmt: skip


VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(_REASONS),
    modes=frozenset({"select", "fill", "fill half"}),
    widening=lambda _trace: (
        "To widen the search: give notes keys and aliases that the chat uses, or let the window read more of the "
        "conversation (Settings of the system)."
    ),
    origins={"constant": ("cw_element", "cw_whole"), "keyword": ("cw_match",), "cascade": ("cw_link", "cw_dependant")},
    key_stage="text match",
    tells_keys=frozenset({"cw_match"}),
)
