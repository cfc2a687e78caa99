"""From an answer, or from what a person typed, to a proposal, and from accepted ones to undoable changes of notes.

A proposal has what the note would say, and what speaks against it. Keys are counted in the messages of the open chat as
the main system finds them; a draft becomes the text of a new note and the file it goes to (rules: deeplore-tools 2.1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import LeftOutNote, NoteKey
from lorestudio.domain.file_names import underscored_name
from lorestudio.domain.javascript import fold, length, trim
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.llm.messages import ChatReply
from lorestudio.studio.notes.book_entries import entry_texts, file_changes, is_book_entry
from lorestudio.studio.notes.changes.change_set import ChangedMeanwhileError, ChangeSet, NoteFileChange
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.project.project import Project
from lorestudio.studio.proposals.model import (
    DraftPassage,
    KeyCount,
    Material,
    Proposal,
    ProposalKind,
    ProposalRemark,
    ProposalTask,
    Value,
    is_locked,
    is_locked_itself,
    property_of,
)
from lorestudio.studio.proposals.reading import (
    LONGEST_KEY,
    SUMMARY_LENGTH,
    ReadDraft,
    one_line,
    read_drafts,
    read_keys,
    read_summary,
)
from lorestudio.systems.base import Deciding, KeySearch
from lorestudio.trace.wording import plural
from lorestudio.vault import cleaning
from lorestudio.vault.entries import ParseRules, parse_note
from lorestudio.vault.lint.keyforms import KeyRules
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import apply_edits


class SearchableChat(Struct, frozen=True):
    """The searched lines of a chat: each message alone, as a scan reads it (rules: deeplore 3.3)."""

    lines: tuple[tuple[int, str], ...] = ()
    search: KeySearch = field(default_factory=KeySearch)

    @classmethod
    def of(cls, chat: Chat | None, search: KeySearch) -> SearchableChat:
        """The chat as it would be searched; hidden, system, narrator and tool messages are left out."""
        messages = enumerate(chat.messages if chat is not None else ())
        return cls(tuple((number, line) for number, message in messages if (line := search.line(message))), search)

    def found(self, keys: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """For each key the indices of the messages that it is found in."""
        return self._found(keys, self.lines)

    def occur(self, keys: Sequence[str], text: str) -> tuple[bool, ...]:
        """For each key whether it is found in `text`, by the same rules."""
        return tuple(bool(hits) for hits in self._found(keys, [(0, self.search.line(Message("", text)))]))

    def _found(self, keys: Sequence[str], lines: Iterable[tuple[int, str]]) -> tuple[tuple[int, ...], ...]:
        found_in = self.search.finder(keys)
        places: list[list[int]] = [[] for _ in keys]
        for number, text in lines:
            for key in found_in(text):
                places[key].append(number)
        return tuple(map(tuple, places))


def count_keys(now: Sequence[str], proposed: Sequence[str], chat: SearchableChat) -> tuple[KeyCount, ...]:
    """Every key of either side with its messages: the proposed ones in their order, then those that would go."""
    keys = list(dict.fromkeys([*proposed, *now]))
    before, after = set(now), set(proposed)
    found = chat.found(keys)
    return tuple(
        KeyCount(key, messages, key in before, key in after) for key, messages in zip(keys, found, strict=True)
    )


PRIORITY: Final = 50
"""What DeepLore gives to notes that were suggested."""
_MOST_NAMESAKES: Final = 1000

_TEMPLATER: Final = re.compile(r"<%(?:(?!<%).)*?%>", re.DOTALL)
_RUN_AT_ONCE: Final = re.compile(
    r"^([ \t]*[`~]{3,}[ \t]*)(?:dataview(?:js)?|templater|button|tasks)\b.*$", re.MULTILINE
)
_INLINE_QUERY: Final = re.compile(r"`\$?=")
_RULE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"\A#[ \t]([^\n]*)\n+")
_EMBED: Final = re.compile(r"!(?=\[\[)")
_LINK: Final = re.compile(r"\[\[((?:[^\[\]|\n]|\[(?!\[))+)(?:\|((?:[^\[\]\n]|\[(?!\[))+))?\]\]")


def note_text(title: str, keys: Sequence[str], summary: str, content: str, tag: str, titles: Collection[str]) -> str:
    """A whole note: tags, keys, summary and priority above the heading and the content.

    `titles` are those of notes that exist: links to others become plain text. What Obsidian's plugins would carry out
    becomes plain text too. Raises ValueError where a property cannot hold its value.
    """
    from lorestudio.vault.note.yaml_handler import compose_note  # noqa: PLC0415  # most proposals are no whole note

    title = trim(_not_run(title.replace("[[", "").replace("]]", "").lstrip("# \t"))) or "Draft"
    said = {"summary": _not_run(summary)} if summary else {}
    properties = {"tags": [tag], "keys": [*map(_not_run, keys)], "priority": PRIORITY, **said}
    return compose_note(properties, f"# {title}\n\n{harmless(content, title, titles)}\n", alike=True)


def harmless(content: str, title: str, titles: Collection[str]) -> str:
    """The content as a note may have it: nothing that a plugin runs, no second heading, no links to nowhere."""
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    text = _not_run(text).replace("%%", "")
    text = _INLINE_QUERY.sub("` =", _RUN_AT_ONCE.sub(r"\1text", text))
    heading = _HEADING.match(text)
    if heading and fold(trim(heading[1])) == fold(title):
        text = text[heading.end() :]
    known = {fold(name) for name in titles}

    def shown(link: re.Match[str]) -> str:
        return link[0] if fold(trim(link[1])) in known else (link[2] or link[1])

    text = _LINK.sub(shown, _EMBED.sub("", text))
    return trim(_RULE.sub("- - -", text))


def _not_run(text: str) -> str:
    """The text without what Templater would carry out anywhere in a note's file."""
    return _TEMPLATER.sub("", text).replace("<%", "< %")


def title_of(text: str, path: Path) -> str:
    """The title that DeepLore reads in the text of a note."""
    return cleaning.title(NoteDocument(text).body, path.name)


def free_path(folder: Path, title: str, taken: Collection[Path] = ()) -> Path:
    """A file for a note of this title that no file, nor one to be made, stands in the way of, if need be with a number.

    Raises ValueError where there are too many of the same name. Looks at the disk.
    """
    name = underscored_name(title, "Entry")
    for number in range(1, _MOST_NAMESAKES):
        path = folder / (f"{name}.md" if number == 1 else f"{name} {number}.md")
        if path not in taken and not path.exists():
            return path
    raise ValueError(f"“{folder}” has too many notes called “{name}”. Give the draft another title.")


_SAME = "The note says this already. There is nothing to accept."


class Judge(Struct, frozen=True):
    """Judges proposals for one project and its open chat. Counting keys goes through the whole chat, so it may wait."""

    project: Project
    chat: SearchableChat
    ways: Mapping[NoteKey, KeyRules] = {}
    """How the keys of a lorebook's entries are searched."""

    @classmethod
    def of(cls, project: Project, by: Deciding | None = None) -> Judge:
        """The judge of a project; prepares its chat for searching. `by` decides, None for the project's own system."""
        by, ways = project.searching(by), {}
        if project.of_books and by.kind.books is not None:
            scene = project.read_for(by.kind).scene()
            checked = by.kind.books.checked(by.settings, scene, project.known_context, None)
            ways = {key: entry.keys for key, entry in checked.notes.items()}
        return cls(project, SearchableChat.of(project.chat, by.key_search), ways)

    def _chat_for(self, material: Material) -> SearchableChat:
        """The chat as the keys of this note or entry are looked for in it."""
        rules = self.ways.get(material.entry.note_key)
        if rules is None:
            return self.chat
        return replace(self.chat, search=self.chat.search.of(rules))

    def answered(self, task: ProposalTask, reply: ChatReply) -> Proposal:
        """The proposal that an answer makes, or why it makes none; the reply is kept as it came."""
        if isinstance(task.about, DraftPassage):
            first, *more = self._drafts(task, task.about, reply)
            made = replace(first, more=tuple(self._told(each, reply) for each in more))
        elif task.kind is ProposalKind.SUMMARY:
            summary = read_summary(reply)
            made = self._about(task, task.about, summary.text, summary.problem, summary.remarks)
        else:
            keys = read_keys(reply)
            made = self._about(task, task.about, keys.keys, keys.problem, keys.remarks)
            made = replace(made, reasoning=keys.reasoning)
        return self._told(made, reply)

    @staticmethod
    def _told(made: Proposal, reply: ChatReply) -> Proposal:
        remarks = (*made.remarks, *(ProposalRemark(note) for note in reply.notes))
        return replace(made, remarks=remarks, reply=reply.raw or reply.text, said=reply.text, answered_by=reply.source)

    def failed(self, task: ProposalTask, problem: str) -> Proposal:
        """The place of a proposal for which no answer came."""
        if isinstance(task.about, DraftPassage):
            return _blank(task, task.about, problem)
        return self._about(task, task.about, () if task.kind is ProposalKind.KEYS else "", problem, ())

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
            made,
            reasoning=proposal.reasoning,
            reply=proposal.reply,
            said=proposal.said,
            answered_by=_edited_by(proposal.answered_by),
        )

    def _about(
        self, task: ProposalTask, material: Material, after: Value, problem: str, remarks: tuple[ProposalRemark, ...]
    ) -> Proposal:
        before: Value = material.entry.summary if task.kind is ProposalKind.SUMMARY else material.entry.keys
        counts: tuple[KeyCount, ...] = ()
        searched = 0
        if isinstance(after, tuple) and isinstance(before, tuple):
            counts, searched = count_keys(before, after, self._chat_for(material)), len(self.chat.lines)
            if not problem:
                remarks = (*remarks, *self._about_keys(material, before, after))
        elif isinstance(after, str) and length(after) > SUMMARY_LENGTH:
            text = f"It has {length(after):,} characters; up to {SUMMARY_LENGTH} are read by the model that selects."
            remarks = (*remarks, ProposalRemark(text))
        if not problem:
            name = property_of(task.kind, material.path)
            problem = _SAME if before == after else _why_not(material.text, name, after)
        title = material.entry.title
        return Proposal(
            task.kind, material.path, title, before, after, material.text, task,
            problem=problem, remarks=remarks, counts=counts, searched=searched,
        )  # fmt: skip

    def _about_keys(
        self, material: Material, before: Sequence[str], after: Sequence[str]
    ) -> tuple[ProposalRemark, ...]:
        """What should be known before these keys take the place of those."""
        entry, searched = material.entry, self._chat_for(material)
        known = "\n".join((entry.title, *material.aliases, *before, entry.content))
        in_note, in_chat = searched.occur(after, known), searched.found(after)
        strange = [key for key, note, chat in zip(after, in_note, in_chat, strict=True) if not (note or chat)]
        remarks = []
        if len(strange) * 2 > len(after):
            text = f"{_of(len(strange), len(after))} occur neither in the note nor in the chat: {', '.join(strange)}. "
            remarks.append(
                ProposalRemark(text + "They may be in another language than the conversation.", serious=True)
            )
        alike = (lambda key: key) if searched.search.rules.case_sensitive else fold
        kept = set(map(alike, after))
        gone = [key for key in before if alike(key) not in kept]
        for key, messages in zip(gone, searched.found(gone), strict=True):
            if messages:
                many = plural(len(messages), "# message|# messages")
                remarks.append(ProposalRemark(f"“{key}” would go; it is found in {many} of this chat.", serious=True))
        remarks += [
            ProposalRemark(f"Of “{key[:20]}…” only the first {LONGEST_KEY} characters are searched.")
            for key in after
            if length(key) > LONGEST_KEY and not is_book_entry(material.path)
        ]
        return tuple(remarks)

    def _drafts(self, task: ProposalTask, passage: DraftPassage, reply: ChatReply) -> list[Proposal]:
        made: list[Proposal] = []
        for draft in read_drafts(reply):
            made.append(self._draft(task, passage, draft, [other.path for other in made]))
        return made

    def _draft(self, task: ProposalTask, passage: DraftPassage, draft: ReadDraft, taken: Collection[Path]) -> Proposal:
        if draft.problem:
            return _blank(task, passage, draft.problem)
        settings = self.project.settings
        try:
            text = note_text(
                draft.title, draft.keys, draft.summary, draft.content, settings.lorebook_tag, passage.titles
            )
        except ValueError as error:
            return _blank(task, passage, f"The draft cannot be written as a note: {error}")
        made = self._note(task, passage, text, taken)
        remarks = (
            draft.remarks if draft.keys else (*draft.remarks, ProposalRemark("The draft has no keys.", serious=True))
        )
        return replace(made, remarks=(*remarks, *made.remarks))

    def _note(self, task: ProposalTask, passage: DraftPassage, text: str, taken: Collection[Path] = ()) -> Proposal:
        """The proposal of a whole new note, at none of the paths that others of the answer take."""
        title, path, problem = title_of(text, passage.folder / "Draft.md"), passage.folder / "Draft.md", ""
        rules = ParseRules.from_settings(self.project.settings, self.project.index.fields)
        try:
            path = free_path(passage.folder, title, taken)
        except ValueError as error:
            problem = str(error)
        same = next((name for name in passage.titles if fold(name) == fold(title)), None)
        parsed = parse_note(text, path.name, "", rules, self.project.counter)
        if same is not None:
            problem = f"There is a note called “{same}” already. Give the draft another title, or skip it."
        elif isinstance(parsed, LeftOutNote):
            problem = f"DeepLore would not read this note as an entry: {parsed.message}"
        remarks = [ProposalRemark(f"{warning.field}: {warning.message}") for warning in getattr(parsed, "warnings", ())]
        other = self._known_as(title) if same is None else ""
        if other:
            remarks.append(
                ProposalRemark(f"“{title}” is a key of “{other}” already. It may be the same thing.", serious=True)
            )
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


def _blank(task: ProposalTask, passage: DraftPassage, problem: str) -> Proposal:
    place: Path = passage.folder / "Draft.md"
    return Proposal(task.kind, place, task.title, "", "", None, task, problem=problem)


def _nothing(kind: ProposalKind) -> str:
    return "Write at least one key." if kind is ProposalKind.KEYS else "Write a summary."


def _of(part: int, whole: int) -> str:
    return f"All {whole} keys" if part == whole else f"{part} of {whole} keys"


def _edited_by(source: str) -> str:
    return source if source.endswith("by you") else ", ".join(filter(None, (source, "edited by you")))


CHANGED: Final = "The note has changed since the proposal was made. Make the proposal again."
TAKEN: Final = "A file of this name was made meanwhile. Make the draft again, or give it another title."


class AcceptedProposals(Struct, frozen=True):
    """What became of accepted proposals: what was written, and for each file that was not, why.

    `changes` is None where nothing was written.
    """

    changes: ChangeSet | None
    written: tuple[Path, ...] = ()
    refused: tuple[tuple[Path, str], ...] = ()


def change_of(proposal: Proposal) -> NoteFileChange:
    """The change of one note's file, or of a lorebook's entry: the lines of the one property, or the new note.

    Raises InputError where the proposal cannot be accepted, or its note locks itself.
    """
    if proposal.problem:
        raise InputError(proposal.title, proposal.problem)
    if proposal.source is None:
        return NoteFileChange(proposal.path, None, str(proposal.after))
    if is_locked_itself(proposal.source):
        raise InputError(proposal.path.name, "the note is locked, so nothing is written.")
    try:
        text = changed_text(proposal.source, property_of(proposal.kind, proposal.path), proposal.after)
    except ValueError as error:
        raise InputError(proposal.path.name, str(error)) from error
    return NoteFileChange(proposal.path, proposal.source, text)


def change_set(proposals: Sequence[Proposal], locked: Collection[str] = frozenset()) -> ChangeSet:
    """One undoable step of all of them; `locked` is what `NoteLocks.load` gave. Raises InputError, also for a locked
    note.
    """
    for proposal in proposals:
        if is_locked(proposal.path, locked):
            raise InputError(proposal.path.name, "the note is locked in the studio, so nothing is written.")
    return ChangeSet(_title(proposals), file_changes([change_of(proposal) for proposal in proposals]))


def write_accepted(
    log: ChangeLog, proposals: Sequence[Proposal], locked: Collection[str] = frozenset()
) -> AcceptedProposals:
    """Write the proposals whose notes are still what they were made from, in one step; the others are named.

    Raises InputError, VaultError, and what `ChangeLog.apply` raises but for changed notes.
    """
    now = entry_texts([proposal.path for proposal in proposals if is_book_entry(proposal.path)])
    refused = {
        proposal.path: CHANGED
        for proposal in proposals
        if is_book_entry(proposal.path) and now.get(proposal.path) != proposal.source
    }
    left = [proposal for proposal in proposals if proposal.path not in refused]
    while left:
        changes = change_set(left, locked)
        try:
            log.apply(changes)
        except ChangedMeanwhileError as error:
            stale = set(error.paths)
            if not stale & {proposal.path for proposal in left}:
                raise
            for proposal in left:
                if proposal.path in stale:
                    refused[proposal.path] = TAKEN if proposal.source is None else CHANGED
            left = [proposal for proposal in left if proposal.path not in stale]
        else:
            return AcceptedProposals(changes, tuple(proposal.path for proposal in left), tuple(refused.items()))
    return AcceptedProposals(None, (), tuple(refused.items()))


def _title(proposals: Sequence[Proposal]) -> str:
    kind = proposals[0].kind if proposals else ProposalKind.SUMMARY
    one, many = _TITLES[kind]
    return one.format(proposals[0].title) if len(proposals) == 1 else many.format(len(proposals))


_TITLES: Final = {
    ProposalKind.SUMMARY: ("Summary of {}", "Summaries of {} notes"),
    ProposalKind.KEYS: ("Keys of {}", "Keys of {} notes"),
    ProposalKind.DRAFT: ("New note {}", "{} new notes"),
}
