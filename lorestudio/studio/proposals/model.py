"""Proposals as data: what was asked about which note, what came back, and what the note would say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from lorestudio.domain.entry import Entry
from lorestudio.llm.messages import DRAFT, KEYS, SUMMARY, ChatRequest

Value: TypeAlias = str | tuple[str, ...]
"""What a proposal is about: a summary or the text of a note, or a list of keys."""


class ProposalKind(StrEnum):
    """What is proposed; the names are those of the requests."""

    SUMMARY = SUMMARY
    KEYS = KEYS
    DRAFT = DRAFT

    @property
    def field(self) -> str:
        """The property that changes; "" where a note is made."""
        return _FIELDS.get(self, "")


_FIELDS: Final[Mapping[ProposalKind, str]] = {ProposalKind.SUMMARY: "summary", ProposalKind.KEYS: "keys"}


@dataclass(frozen=True, slots=True)
class Material:
    """A note as it is on disk when a proposal is made: its whole text, and what DeepLore reads in it."""

    path: Path
    entry: Entry
    text: str = field(repr=False)
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftPassage:
    """What a draft is written from. `numbers` are the indices of the messages in the chat file.

    `path` is the folder that the note goes to, inside its vault; `titles` are those that exist, `focus` is what the
    person wants to have written about.
    """

    folder: Path
    numbers: tuple[int, ...]
    titles: tuple[str, ...] = field(default=(), repr=False)
    focus: str = ""


class ProposalTask(Struct, frozen=True):
    """One proposal that is to be made. `about` is the note, or for a draft the passage."""

    kind: ProposalKind
    about: Material | DraftPassage
    request: ChatRequest

    @property
    def place(self) -> Path:
        """The note's file; for a draft the folder that it goes to."""
        return self.about.path if isinstance(self.about, Material) else self.about.folder

    @property
    def title(self) -> str:
        """The note, or the messages, for people."""
        if isinstance(self.about, Material):
            return self.about.entry.title
        numbers = self.about.numbers
        return f"#{numbers[0]}" if len(numbers) == 1 else f"#{numbers[0]} to #{numbers[-1]}"


class Skipped(Struct, frozen=True):
    """A note that nothing is proposed for, and why."""

    filename: str
    title: str
    reason: str


class ProposalPlan(Struct, frozen=True):
    """What is to be asked, and which notes are left out. Nothing was asked yet."""

    kind: ProposalKind
    tasks: tuple[ProposalTask, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class ProposalRemark(Struct, frozen=True):
    """Something to know about a proposal. A serious one keeps it from being accepted together with others unseen."""

    text: str
    serious: bool = False


class KeyCount(Struct, frozen=True):
    """The messages of the open chat that a key is found in, by their indices in the chat file, each counted alone.

    `now` and `proposed` say on which side the key is.
    """

    key: str
    messages: tuple[int, ...]
    now: bool
    proposed: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a note would say, beside what it says.

    `path` is the file that would change or, for a draft, be made. `source` is the note's whole text that the proposal
    was made from, None for a draft. With a `problem` it cannot be accepted as it stands; it says why and what to do.
    `reply` is the answer as it came. `searched` is how many messages the counts of keys went through.
    """

    kind: ProposalKind
    path: Path
    title: str
    before: Value
    after: Value
    source: str | None = field(repr=False)
    task: ProposalTask = field(repr=False)
    reasoning: str = ""
    reply: str = field(default="", repr=False)
    answered_by: str = ""
    problem: str = ""
    remarks: tuple[ProposalRemark, ...] = ()
    counts: tuple[KeyCount, ...] = field(default=(), repr=False)
    searched: int = 0

    @property
    def acceptable(self) -> bool:
        """Whether it can be accepted."""
        return not self.problem

    @property
    def doubtful(self) -> bool:
        """Whether it should be looked at before it is accepted."""
        return any(remark.serious for remark in self.remarks)
