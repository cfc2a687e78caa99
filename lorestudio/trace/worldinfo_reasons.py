"""The reason codes of World Info (spec: deeplore-ai-and-tools 5.6)."""

from __future__ import annotations

from typing import Final

from lorestudio.trace.reason import Reason, Tone

GOOD, NEUTRAL, WARNING = Tone.GOOD, Tone.NEUTRAL, Tone.WARNING

WORLD_INFO: Final = (
    Reason("wi_key", GOOD, "Key found",
           "The key {key!q} was found[ in message #{message}| in the text of {source!q}][, and of its secondary keys "
           "{found!q}].", details=("key",)),
    Reason("wi_secondary", NEUTRAL, "Secondary keys",
           "The key {key!q} was found, but its secondary keys {secondary!q} do not fit: the rule is {rule}.",
           "Change the secondary keys, or the rule they follow.", details=("key", "secondary", "rule")),
    Reason("wi_constant", GOOD, "Constant", "{title!q} is always active."),
    Reason("wi_decorator", GOOD, "Decorator", "Its text begins with @@activate, so it is always active."),
    Reason("wi_never", NEUTRAL, "Decorator", "Its text begins with @@dont_activate, so keys never bring it in.",
           "Take that line away."),
    Reason("wi_sticky", GOOD, "Sticky", "It came in some messages ago and sticks."),
    Reason("wi_disabled", NEUTRAL, "Switched off", "It is switched off, or blocked in this chat.",
           "Switch the entry on, or take the block away."),
    Reason("wi_character", NEUTRAL, "Other character", "It is bound to characters: {names!q}.",
           "Change the entry's character filter.", details=("names",)),
    Reason("wi_delay", NEUTRAL, "Delayed", "It waits until the chat has {delay:# message|# messages}.",
           "Lower the entry's delay.", details=("delay",)),
    Reason("wi_cooling", NEUTRAL, "Cooling down", "It rests until the chat has {until:# message|# messages}.",
           "Lower the entry's cooldown.", details=("until",)),
    Reason("wi_only_recursion", NEUTRAL, "Waits for recursion",
           "It only comes in by the text of other entries, at level {level}.",
           "Take the entry's delay until recursion away.", details=("level",)),
    Reason("wi_no_recursion", NEUTRAL, "Not by recursion", "The texts of other entries do not bring it in."),
    Reason("wi_no_key", NEUTRAL, "No key found",
           "None of its keys was found in the last {messages:# message|# messages} or in the texts of active entries.",
           "Add a key that the chat uses, or raise “Scan depth”.", details=("messages",)),
    Reason("wi_pattern", WARNING, "Pattern unusable", "{problem}.", "Correct the pattern.", details=("problem",)),
    Reason("wi_group_sticky", NEUTRAL, "Group", "Another entry of the group {group!q} sticks.", details=("group",)),
    Reason("wi_group_timed", NEUTRAL, "Group", "In the group {group!q} it rests or waits.", details=("group",)),
    Reason("wi_group_score", NEUTRAL, "Group",
           "Others of the group {group!q} had {most:# key|# keys} found, it had {score}.",
           "Add keys that the chat uses.", details=("group", "most", "score")),
    Reason("wi_group_active", NEUTRAL, "Group", "An entry of the group {group!q} is active already.",
           details=("group",)),
    Reason("wi_group_lost", NEUTRAL, "Group", "Of the group {group!q} another entry was taken[: {winner!q}].",
           "Raise the entry's weight in the group, or give it priority.", details=("group",)),
    Reason("wi_group_drawn", GOOD, "Drawn", "Of {of:# entry|# entries} of the group {group!q} it was drawn.",
           details=("group", "of")),
    Reason("wi_group_priority", GOOD, "Group priority", "It has priority in the group {group!q}.",
           details=("group",)),
    Reason("wi_lost", NEUTRAL, "Lost the draw",
           "The draw was {roll}; a draw above its probability of {probability} % keeps it out.",
           "Raise the entry's probability.", details=("roll", "probability")),
    Reason("wi_fits", GOOD, "Fits", "With it {used} of {budget:# token|# tokens} are used.",
           details=("used", "budget")),
    Reason("wi_over_budget", WARNING, "Over budget",
           "With it {used:# token|# tokens} would be used, and {budget} are the limit. The scan ends here.",
           "Raise “Context share”, or give the entry a higher order.", details=("used", "budget")),
    Reason("wi_behind_budget", NEUTRAL, "Behind the budget", "The budget was full before its turn came.",
           "Raise “Context share”, or give the entry a higher order."),
    Reason("wi_placed", GOOD, "Placed", "It stands {place}.", details=("position", "depth", "role")),
    Reason("wi_other_slot", GOOD, "Placed", "It stands {slot}.", details=("slot",)),
)  # fmt: skip
