"""What a retrieval system says about itself in the traces of its runs, so that no view has to ask which one it was.

A reason is an entry of the table of reason codes. Templates are written as `trace.wording` says. Besides a verdict's
own details they may use what a trace knows:

- `title`, `vault`, `priority`, `note_tokens` of the entry the reason is about;
- `place` in words, where the details have position, depth and role;
- `named_message`, the message where the key is in the speaker's name (detail `in_name`), and
  `refine_named_message`, the same of the refine key;
- `alike`, the detail `similarity` in percent;
- `would_label`, the label of the reason code in the detail `would`;
- `needs`, the tokens that a shortened entry was short of; `new_budget`, the token budget that would let the entry in
  whole; `new_cap`, the limit of entries that it takes besides; `rival` and `rival_priority`, the last injected entry
  that it could have stood before, and its priority.

Tones: silence that its author asked for (another folder, a cooldown, a guide) is neutral; what looks like a mistake is
a warning and always has a fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field

from lorestudio.trace.wording import one_line


class Tone(StrEnum):
    """How a reason is meant."""

    GOOD = "good"
    NEUTRAL = "neutral"
    WARNING = "warning"
    ERROR = "error"


GOOD, NEUTRAL, WARNING, ERROR = Tone


class NoChoice(StrEnum):
    """Why a model that was to choose entries chose none."""

    NOT_OFFERED = "not offered"
    FAILED = "failed"
    EMPTY = "empty"


class Reason(Struct, frozen=True):
    """One reason code: `label` for a cell, templates of the sentence and the fix.

    `brief` is the template of the sentence for a table, beside the entry's title; "" where the sentence is short.
    """

    code: str
    tone: Tone
    label: str
    sentence: str
    fix: str = ""
    brief: str = ""


class Explanation(Struct, frozen=True):
    """A reason filled in for one decision; `fix` is empty where there is nothing to change, `brief` for a table."""

    label: str
    sentence: str
    fix: str
    tone: Tone
    brief: str = ""


class Remark(Struct, frozen=True):
    """What to know about a run besides its outcome; `actions` of the window, each with its title, do something about
    it.
    """

    text: str
    actions: tuple[tuple[str, str], ...] = ()


SEARCHED: Final = (
    "in {messages:an empty text|the last message|the last # messages}[ ({characters:# character|# characters})]"
)
"""Where keys were looked for, filled from the details of the key stage."""

OTHER_SOURCE: Final = "other_source"
"""Says of a note of the vault that its run chose from something else."""

_COMMON: Final = (
    Reason("constant", GOOD, "Constant", "{title!q} is a constant: it comes in on every generation.",
           brief="Constant, always in"),
    Reason(
        "guide_hidden", NEUTRAL, "Guide",
        "{title!q} is a guide: it is for the Librarian and not for the story's prompt.",
        "Remove its guide tag if it should take part.",
        brief="A guide: not for the story's prompt",
    ),
    Reason("no_prompt", NEUTRAL, "No prompt", "There was no text to hand over."),
    Reason("stage_failed", ERROR, "Failed", "The stage failed: {error}",
           "The message says what went wrong; mend that and run again."),
    Reason("stopped_early", NEUTRAL, "Ended early", "The run had ended early, because no entry was left."),
    Reason("never_candidate", NEUTRAL, "Not matched",
           "Nothing in this run brought [{title!q}|this entry] in."),
    Reason(OTHER_SOURCE, NEUTRAL, "Not looked at",
           "This run chose from other things than the notes of the vault.",
           "Choose a system that looks at the notes of the vault."),
    Reason("run_ended", WARNING, "Not placed", "The run ended while {title!q} was still a candidate.",
           "Look at the last stage of the run; its message says why nothing went in."),
    Reason("went_in", GOOD, "Injected", "It went in with {tokens:# token|# tokens}."),
)  # fmt: skip
"""What runs of any system may say."""


def table(*groups: Iterable[Reason]) -> Mapping[str, Reason]:
    """Reasons by their codes, with those common to all. Raises ValueError where a code would mean two things."""
    found: dict[str, Reason] = {}
    for group in (_COMMON, *groups):
        for reason in group:
            if reason.code in found:
                raise ValueError(f"the reason {reason.code} is there twice")
            found[reason.code] = reason
    return MappingProxyType(found)


COMMON: Final = table()
"""The reasons common to all systems by their codes."""

Run = TypeVar("Run")
"""The trace of a run. What a trace is rests on its vocabulary, so it is left open here."""


class Vocabulary(Struct, Generic[Run], frozen=True, kw_only=True, eq=False):
    """A system's own words. A system says only what is its own; what is left out reads well for any.

    `reasons` is its table, to which the other fields refer by codes. Words about runs:

    - `candidates` are what the run chooses from, for `wording.plural`; `of_notes` says that these are notes of the
      vault. Of a note in a run over something else `not_notes` says so, or the reason in `elsewhere` where a stage has
      the note that it is given for;
    - `sentence` is the run in one sentence ("" to count its entries instead), `remarks` what else to know about it,
      `widening` what to do where nothing came in question, and `held_back` the sentence where all was refused (details
      `entries`, `refused`, and those of the key stage);
    - `rank_word` is what the number is called by which its entries are put in order, "" where they have none.

    What its reasons mean to a view:

    - `origins`: which of them brought an entry in, by the word of the origin in the budget bar;
    - `unasked`: they let an entry in whatever the chat says; `key_stage` looks for keys in the chat, and the reasons
      `tells_keys` name one that was found, those in `key_lacks` with a template of what was missing besides;
    - `found`: they keep an entry out that was found: a key of it was, but not all that it takes besides;
    - `unsearched`: they keep an entry out before its keys are looked for, so they are the same whatever the chat says;
    - `never`: they are of entries that are not for the prompt at all;
    - `rank_stage` chooses by likeness, and the reasons `ranked` are its choice; `score_stage` by words in common;
    - `whole_stage` puts every entry forward, of which a model chooses some, and the reasons `not_chosen` are of those
      that it passed over;
    - `asks`: the stages that ask a model, by the kinds of their requests; `offer_stage` lists what it may choose from,
      `no_choice` says what notes of such a stage mean for the choice, and the reasons `unsure` that the model was less
      sure than the detail `threshold`;
    - `tidies`: stages that have nothing to say about entries;
    - `parts`: the part of the summary's sentence that counts the entry, where its phase does not say that; an entry
      of the part “gate” or “not chosen” counts everywhere as one that a gate took out or nobody chose;
    - `groups`: the name under which the flow shows them, where it is not their label (a template);
    - `cuts`: why the budget kept an entry out, for the budget bar (a template; `size` and `needs` are known);
      `budget_ended` says what ended the intake, by the first reason of it that a run has; `without_text`: the reasons
      of entries that had nothing to put in; `counts_all`: its limit of entries counts all that goes in;
      `counts_outlets`: its limits count what goes into outlets, too;
    - `would`: what a later stage would have said (a template).

    In the prompt: `of_host` says that its texts are World Info of the host itself, which the host's scripts change, and
    `notes` names the texts besides the lore by their tags.

    What is no word of a person's and may stand in a redacted trace: `modes`, the texts in details `phrases`, and the
    `tags` of places.
    """

    reasons: Mapping[str, Reason] = field(default_factory=lambda: COMMON)
    candidates: str = "entry|entries"
    of_notes: bool = True
    not_notes: str = OTHER_SOURCE
    elsewhere: Mapping[str, str] = {}
    sentence: Callable[[Run], str] = lambda _run: ""
    remarks: Callable[[Run], tuple[Remark, ...]] = lambda _run: ()
    widening: Callable[[Run], str] = lambda _run: ""
    held_back: str = "Nothing came in: {refused} of {entries:# entry|# entries} {refused:was|were} kept out."
    rank_word: Callable[[Run], str] = lambda _run: "priority"
    origins: Mapping[str, tuple[str, ...]] = {}
    unasked: frozenset[str] = frozenset()
    key_stage: str = ""
    tells_keys: frozenset[str] = frozenset()
    key_lacks: Mapping[str, str] = {}
    found: frozenset[str] = frozenset()
    unsearched: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    rank_stage: str = ""
    ranked: frozenset[str] = frozenset()
    score_stage: str = ""
    whole_stage: str = ""
    not_chosen: frozenset[str] = frozenset()
    asks: Mapping[str, str] = {}
    offer_stage: str = ""
    no_choice: Mapping[str, NoChoice] = {}
    unsure: frozenset[str] = frozenset()
    tidies: frozenset[str] = frozenset()
    parts: Mapping[str, str] = {}
    groups: Mapping[str, str] = {}
    cuts: Mapping[str, str] = {}
    budget_ended: Mapping[str, str] = {}
    without_text: frozenset[str] = frozenset()
    counts_all: bool = False
    counts_outlets: bool = False
    would: Mapping[str, str] = {}
    of_host: bool = False
    notes: Mapping[str, str] = {}
    modes: frozenset[str] = frozenset()
    phrases: frozenset[str] = frozenset()
    tags: re.Pattern[str] | None = None

    def label(self, code: str) -> str:
        """A reason's label, or the code itself in words."""
        reason = self.reasons.get(code)
        if reason is not None:
            return reason.label
        return one_line(code.replace("_", " ")).capitalize() or "No reason given"

    @property
    def takes_no_part(self) -> frozenset[str]:
        """The reasons of notes and other entries that no change of settings or of the note could bring in."""
        return frozenset({OTHER_SOURCE, self.not_notes, *self.elsewhere.values()}) | self.never


PLAIN: Final[Vocabulary[Any]] = Vocabulary()
"""For the trace of a system that nobody knows: codes are shown as they are."""


def plain(_system: str) -> Vocabulary[Any]:
    """The plain words, whatever the system is called."""
    return PLAIN
