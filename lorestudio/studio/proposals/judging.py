"""From an answer, or from what a person typed, to a proposal: what the note would say, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lorestudio.domain.entry import LeftOutNote
from lorestudio.domain.javascript import fold, length, trim
from lorestudio.llm import ChatReply
from lorestudio.studio.project import Project
from lorestudio.studio.proposals.key_counts import SearchableChat, count_keys
from lorestudio.studio.proposals.model import KeyCount, Material, Passage, Proposal, ProposalKind, Remark, Task, Value
from lorestudio.studio.proposals.note_text import free_path, note_text, title_of
from lorestudio.studio.proposals.reading import (
    LONGEST_KEY,
    SUMMARY_LENGTH,
    one_line,
    read_draft,
    read_keys,
    read_summary,
)
from lorestudio.vault import ParseRules, parse_note
from lorestudio.vault.note_document import NoteDocument, apply_edits

_SAME = "The note says this already. There is nothing to accept."


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges proposals for one project and its open chat. Counting keys goes through the whole chat, so it may wait."""

    project: Project
    chat: SearchableChat

    @classmethod
    def of(cls, project: Project) -> Judge:
        """The judge of a project; prepares its chat for searching."""
        return cls(project, SearchableChat.of(project.chat, project.settings))

    def answered(self, task: Task, reply: ChatReply) -> Proposal:
        """The proposal that an answer makes, or why it makes none; the reply is kept as it came."""
        if isinstance(task.about, Passage):
            made = self._draft(task, task.about, reply)
        elif task.kind is ProposalKind.SUMMARY:
            summary = read_summary(reply)
            made = self._about(task, task.about, summary.text, summary.problem, summary.remarks)
        else:
            keys = read_keys(reply)
            made = self._about(task, task.about, keys.keys, keys.problem, keys.remarks)
            made = replace(made, reasoning=keys.reasoning)
        remarks = (*made.remarks, *(Remark(note) for note in reply.notes))
        return replace(made, remarks=remarks, reply=reply.raw or reply.text, answered_by=reply.source)

    def failed(self, task: Task, problem: str) -> Proposal:
        """The place of a proposal for which no answer came."""
        if isinstance(task.about, Passage):
            return _blank(task, task.about, problem)
        return self._about(task, task.about, _empty(task.kind), problem, ())

    def edited(self, proposal: Proposal, after: Value) -> Proposal:
        """The proposal with what a person made of it."""
        about = proposal.task.about
        if isinstance(about, Material):
            if isinstance(after, str):
                after = one_line(after)
            else:
                after = tuple(dict.fromkeys(key for item in after if (key := trim(item))))
            made = self._about(proposal.task, about, after, "" if after else _nothing(proposal.kind), ())
        else:
            made = self._note(proposal.task, about, after if isinstance(after, str) else "\n".join(after))
        return replace(
            made, reasoning=proposal.reasoning, reply=proposal.reply, answered_by=_edited_by(proposal.answered_by)
        )

    def _about(
        self, task: Task, material: Material, after: Value, problem: str, remarks: tuple[Remark, ...]
    ) -> Proposal:
        before: Value = material.entry.summary if task.kind is ProposalKind.SUMMARY else material.entry.keys
        counts: tuple[KeyCount, ...] = ()
        searched = 0
        if isinstance(after, tuple) and isinstance(before, tuple):
            counts, searched = count_keys(before, after, self.chat), len(self.chat.lines)
            if not problem:
                remarks = (*remarks, *self._about_keys(material, before, after))
        elif isinstance(after, str) and length(after) > SUMMARY_LENGTH:
            text = f"It has {length(after):,} characters; up to {SUMMARY_LENGTH} are read by the model that selects."
            remarks = (*remarks, Remark(text))
        if not problem:
            problem = _SAME if before == after else _why_not(material.text, task.kind.field, after)
        title = material.entry.title
        return Proposal(
            task.kind, material.path, title, before, after, material.text, task,
            problem=problem, remarks=remarks, counts=counts, searched=searched,
        )  # fmt: skip

    def _about_keys(self, material: Material, before: Sequence[str], after: Sequence[str]) -> tuple[Remark, ...]:
        """What should be known before these keys take the place of those."""
        entry = material.entry
        known = "\n".join((entry.title, *material.aliases, *before, entry.content))
        in_note, in_chat = self.chat.occur(after, known), self.chat.found(after)
        strange = [key for key, note, chat in zip(after, in_note, in_chat, strict=True) if not (note or chat)]
        remarks = []
        if len(strange) * 2 > len(after):
            text = f"{_of(len(strange), len(after))} occur neither in the note nor in the chat: {', '.join(strange)}. "
            remarks.append(Remark(text + "They may be in another language than the conversation.", serious=True))
        alike = (lambda key: key) if self.chat.case_sensitive else fold
        kept = set(map(alike, after))
        gone = [key for key in before if alike(key) not in kept]
        for key, messages in zip(gone, self.chat.found(gone), strict=True):
            if messages:
                many = "1 message" if len(messages) == 1 else f"{len(messages)} messages"
                remarks.append(Remark(f"“{key}” would go; it is found in {many} of this chat.", serious=True))
        remarks += [
            Remark(f"Of “{key[:20]}…” only the first {LONGEST_KEY} characters are searched.")
            for key in after
            if length(key) > LONGEST_KEY
        ]
        return tuple(remarks)

    def _draft(self, task: Task, passage: Passage, reply: ChatReply) -> Proposal:
        draft = read_draft(reply)
        if draft.problem:
            return _blank(task, passage, draft.problem)
        settings = self.project.settings
        try:
            text = note_text(
                draft.title, draft.keys, draft.summary, draft.content, settings.lorebook_tag, passage.titles
            )
        except ValueError as error:
            return _blank(task, passage, f"The draft cannot be written as a note: {error}")
        made = self._note(task, passage, text)
        remarks = draft.remarks if draft.keys else (*draft.remarks, Remark("The draft has no keys.", serious=True))
        return replace(made, remarks=(*remarks, *made.remarks))

    def _note(self, task: Task, passage: Passage, text: str) -> Proposal:
        """The proposal of a whole new note."""
        title, path, problem = title_of(text, passage.folder / "Draft.md"), passage.folder / "Draft.md", ""
        rules = ParseRules.from_settings(self.project.settings, self.project.index.fields)
        try:
            path = free_path(passage.folder, title)
        except ValueError as error:
            problem = str(error)
        same = next((name for name in passage.titles if fold(name) == fold(title)), None)
        parsed = parse_note(text, path.name, "", rules, self.project.counter)
        if same is not None:
            problem = f"There is a note called “{same}” already. Give the draft another title, or skip it."
        elif isinstance(parsed, LeftOutNote):
            problem = f"DeepLore would not read this note as an entry: {parsed.message}"
        remarks = [Remark(f"{warning.field}: {warning.message}") for warning in getattr(parsed, "warnings", ())]
        other = self._known_as(title) if same is None else ""
        if other:
            remarks.append(Remark(f"“{title}” is a key of “{other}” already. It may be the same thing.", serious=True))
        return Proposal(task.kind, path, title, "", text, None, task, problem=problem, remarks=tuple(remarks))

    def _known_as(self, name: str) -> str:
        """The title of an entry that has this name among its keys, "" where none has."""
        keyed = (entry.title for entry in self.project.index.entries if fold(name) in map(fold, entry.keys))
        return next(keyed, "")


def changed_text(source: str, name: str, value: Value) -> str:
    """The text of a note with another value of one property; nothing but its lines changes. Raises ValueError."""
    document = NoteDocument(source)
    return apply_edits(source, [document.set(name, list(value) if isinstance(value, tuple) else value)])


def _why_not(source: str, name: str, value: Value) -> str:
    """Why the note cannot hold the value, "" where it can."""
    try:
        changed_text(source, name, value)
    except ValueError as error:
        return str(error)
    return ""


def _blank(task: Task, passage: Passage, problem: str) -> Proposal:
    place: Path = passage.folder / "Draft.md"
    return Proposal(task.kind, place, task.title, "", "", None, task, problem=problem)


def _empty(kind: ProposalKind) -> Value:
    return () if kind is ProposalKind.KEYS else ""


def _nothing(kind: ProposalKind) -> str:
    return "Write at least one key." if kind is ProposalKind.KEYS else "Write a summary."


def _of(part: int, whole: int) -> str:
    return f"All {whole} keys" if part == whole else f"{part} of {whole} keys"


def _edited_by(source: str) -> str:
    return source if source.endswith("by you") else ", ".join(filter(None, (source, "edited by you")))
