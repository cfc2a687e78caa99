"""The reasons of the toy, and the words in which its runs are told."""

from __future__ import annotations

from typing import Final

from lorestudio.trace.model import Trace
from lorestudio.trace.vocabulary import Reason, Tone, Vocabulary, table

VOCABULARY: Final[Vocabulary[Trace]] = Vocabulary(
    reasons=table(
        (
            Reason("toy_said", Tone.GOOD, "Said", "The title {title!q} was said."),
            Reason("toy_unsaid", Tone.NEUTRAL, "Not said", "Nobody said the title [{title!q}|of this entry].",
                   "Say it, or raise “Messages read”."),
            Reason("toy_blocked", Tone.NEUTRAL, "Blocked", "{title!q} is blocked in this chat."),
            Reason("toy_late", Tone.WARNING, "One too many", "There was no place left for {title!q}.",
                   "Raise “Most notes”."),
            Reason("toy_placed", Tone.GOOD, "Placed", "It went in with {tokens:# token|# tokens}."),
        )
    ),
    key_stage="titles",
    modes=frozenset({"titles"}),
)  # fmt: skip
