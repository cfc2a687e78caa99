"""The reason codes of recap memory. Candidates are messages, scenes and versions of the running recap.

`excluded_` codes are those of the exclusion tree (rules: recap-memory 8) with that word in front.
"""

from __future__ import annotations

from typing import Final

from lorestudio.trace.model import Trace, token_limit
from lorestudio.trace.vocabulary import GOOD, NEUTRAL, WARNING, Reason, Remark, Vocabulary, table
from lorestudio.trace.wording import fill, number_words, plural

_TREE: Final = (
    Reason("excluded_own_system_message", NEUTRAL, "Its own message", "Recap memory itself has written this message."),
    Reason("excluded_excluded_by_user", NEUTRAL, "Excluded by you",
           "The recap of this message was excluded by hand, or because no attempt at it was sound.",
           "Include it again, or have it recapped once more."),
    Reason("excluded_user_message", NEUTRAL, "Your message", "Your messages do not take part.",
           "Switch “Your messages” on."),
    Reason("excluded_thought", NEUTRAL, "A thought", "Thoughts do not take part."),
    Reason("excluded_hidden_message", NEUTRAL, "Hidden message",
           "The message is hidden from the prompt, and hidden ones do not take part.",
           "Switch “Hidden messages” on, or show the message."),
    Reason("excluded_narrator", NEUTRAL, "Narrator", "The narrator's messages do not take part.",
           "Switch “Narrator” on."),
    Reason("excluded_character_disabled", NEUTRAL, "Character disabled",
           "The character that speaks is switched off in groups.", "Take the character out of “Members left out”."),
    Reason("excluded_too_short", NEUTRAL, "Too short",
           "The message has {tokens:# token|# tokens}; {threshold} are asked for.",
           "Lower “Shortest message” (now {threshold})."),
)  # fmt: skip

_WALK: Final = (
    Reason("recap_no_recap", NEUTRAL, "Not a recap",
           "Recap memory puts in what happened in the chat, in short; notes of the vault take no part.",
           "Choose a system that looks at notes: DeepLore, hybrid retrieval, the context window, or World Info."),
    Reason("recap_in_chat", NEUTRAL, "In the chat", "Message #{index} of the chat."),
    Reason("recap_hidden", NEUTRAL, "Hidden by scenes",
           "It lies before the last {scenes:scene|# scenes}, so it is hidden from the prompt.",
           "Raise “Scenes that stay” (now {scenes}); 0 hides nothing."),
    Reason("recap_shown_again", NEUTRAL, "Shown again",
           "It had been hidden; hiding by scenes shows whatever it does not hide itself."),
    Reason("recap_included", GOOD, "Recap fits",
           "Its recap takes part: {total:# token|# tokens} are collected with it[, {limit} may be]."),
    Reason("recap_no_memory", NEUTRAL, "No recap", "The message has no recap yet.", "Have its recap made."),
    Reason("recap_over_limit", NEUTRAL, "Recap over the limit",
           "With its recap {total:# token|# tokens} would be collected, {over} more than the limit of {limit}; it "
           "closed the walk.",
           "Raise “Room” so that it comes to {total:# token|# tokens}."),
    Reason("recap_after_limit", NEUTRAL, "Behind the limit",
           "An earlier message of the walk, {stopped_by!q}, did not fit, so this one was not tried.",
           "Raise “Room”, or shorten the recaps of newer messages."),
    Reason("recap_flag_only", NEUTRAL, "For reading only",
           "Recaps of messages are for reading; into the prompt goes the running recap alone."),
)  # fmt: skip

_RUNNING: Final = (
    Reason("recap_scene", NEUTRAL, "Scene with a recap",
           "The scene has messages {first} to {last}[ and version {versions} of its recap]."),
    Reason("recap_bookmark", NEUTRAL, "No recap of the scene",
           "The break after message {last} has no recap yet, so the running recap knows nothing of its scene.",
           "Have the recap of the scene made."),
    Reason("recap_scene_covered", GOOD, "In the running recap",
           "The scene is part of version {version} of the running recap."),
    Reason("recap_scene_behind", NEUTRAL, "Not in this version",
           "Version {version} of the running recap reaches to message {reaches}; the scene lies behind.",
           "Work the scene into the running recap, or choose a later version."),
    Reason("recap_scene_alone", NEUTRAL, "No running recap", "There is no running recap that the scene could be in.",
           "Make the running recap."),
    Reason("recap_current", GOOD, "Current version",
           "Version {version} of the running recap is the current one[; it is made of {scenes:# scene|# scenes}]."),
    Reason("recap_other_version", NEUTRAL, "Another version",
           "Version {version} is kept; version {current} is the current one.",
           "Choose version {version} if it should go into the prompt."),
    Reason("recap_placed", GOOD, "Placed", "It stands {where}, as {speaker}[, at depth {depth}]."),
    Reason("recap_nowhere", WARNING, "Placed nowhere",
           "Position {position} means nowhere with the numbers that are chosen.",
           "Set “Position” to another number, or “Numbers of positions” to the other meaning."),
)  # fmt: skip

_STAGES: Final = (
    Reason("recap_off", NEUTRAL, "Recap memory is off", "Recap memory is off for this chat."),
    Reason("recap_no_running", NEUTRAL, "No running recap", "There is no running recap yet, so nothing goes in.",
           "Make recaps of scenes, and the running recap from them."),
    Reason("recap_foreign", WARNING, "Of another chat", "The running recap in the file belongs to another chat.",
           "Open the chat that it belongs to, or make a new one."),
    Reason("recap_adopted", NEUTRAL, "Taken over",
           "The running recap was made in {owner!q} and taken over from there."),
    Reason("recap_nothing_hidden", NEUTRAL, "Nothing hidden",
           "{breaks:There is no scene break|There is # scene break|There are # scene breaks}, and {scenes} stay, "
           "so nothing is hidden."),
    Reason("recap_walk", NEUTRAL, "The walk",
           "{included:No recap fits|1 recap fits|# recaps fit}, {total:# token|# tokens} in all[ of {limit}]."),
)  # fmt: skip

_NONE = "No message has a recap that takes part"
_RECAPS = "{included:# message recap fits|# message recaps fit} ({total:# token|# tokens}[ of {limit}])"


def _sentence(trace: Trace) -> str:
    """How many message recaps fit, how much of the chat is hidden, and what goes into the prompt."""
    parts: list[str] = []
    walk = trace.stage("inclusion walk")
    if walk is not None and walk.note == "recap_off":
        return "Recap memory is off for this chat, so nothing goes into the prompt."
    if walk is not None:
        parts.append((fill(_RECAPS, walk.details) if walk.left else None) or _NONE)
    hiding = trace.stage("auto-hide")
    hidden = sum(verdict.reason == "recap_hidden" for verdict in hiding.verdicts) if hiding is not None else 0
    if hidden:
        parts.append(plural(hidden, "# message is hidden|# messages are hidden"))
    return f"{', '.join(parts)}{', and' if parts else ''} {_injected(trace)}.".lstrip()


def _injected(trace: Trace) -> str:
    if not trace.injections:
        return "no running recap goes into the prompt"
    limit = token_limit(trace)
    room = "" if limit is None or limit.maximum is None else f" of {number_words(limit.maximum)}"
    item = trace.injections[0]
    name = item.title[:1].lower() + item.title[1:].replace(",", "")
    return f"{name} goes into the prompt ({number_words(item.tokens)}{room} tokens)"


def _remarks(trace: Trace) -> tuple[Remark, ...]:
    walk = trace.stage("inclusion walk")
    if walk is None or walk.left or walk.note == "recap_off" or trace.injections:
        return ()
    return (
        Remark(
            "Recap memory puts in what happened in the chat, in short. Have recaps made of it first.",
            (("recap.run", "Make what is due"), ("pane.recap", "Open Recap")),
        ),
    )


VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(_TREE, _WALK, _RUNNING, _STAGES),
    modes=frozenset({"combine", "rebuild"}),
    of_notes=False,
    not_notes="recap_no_recap",
    sentence=_sentence,
    rank_word=lambda _trace: "",
    remarks=_remarks,
    widening=lambda _trace: (
        "Recap memory tells what the chat remembers of itself; nothing was remembered before this reply. Have recaps "
        "made in the Recap pane."
    ),
    origins={"recaps": ("recap_current", "recap_in_chat", "recap_hidden", "recap_shown_again")},
    never=frozenset({"recap_flag_only"}),
    without_text=frozenset({"recap_no_memory"}),
    parts={"recap_no_memory": "not chosen"},  # it is met on the way back through the chat, but no limit keeps it out
)
