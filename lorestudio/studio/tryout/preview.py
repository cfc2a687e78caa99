"""A generation run again with texts that are not saved yet or other settings, so that one sees what they would do.

Everything comes from a run: same chat, same state before it, same seed, same answers. Nothing is written, no provider
is asked, and the simulator's own traces and states stay what they are.

What differs between two traces of one generation: who comes in, who leaves, who takes more or less room.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.differences import SettingChange, differences
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.rerun import Rerun, run_offline
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.offline_answers import SENTENCES, Answered, Unanswered
from lorestudio.systems.context import RunContext, StopBetweenStages
from lorestudio.systems.deeplore.index import DeepLoreIndex
from lorestudio.systems.deeplore.key_places import KeyMatch, WouldMatch, would_match
from lorestudio.systems.deeplore.stages.placement import entry_text
from lorestudio.trace.model import EntryRef, Injection, Trace
from lorestudio.vault.edited_vaults import EditedVaults, NoteText
from lorestudio.vault.index_refresh import VaultState

__all__ = [
    "EditedNote",
    "EntryOutcome",
    "InjectedText",
    "KeyMatch",
    "NoteText",
    "Preview",
    "Previewer",
    "Previews",
    "Unanswered",
    "WouldMatch",
]


@dataclass(frozen=True, slots=True)
class InjectedText:
    """An entry as it stands in the prompt, or as it would.

    `tokens` are those that the budget counts, `whole_tokens` those of `text` with its template. `injected` is whether
    it went in in this generation; only then can it be `truncated`.
    """

    text: str = field(repr=False)
    tokens: int
    whole_tokens: int
    injected: bool
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """What the run says of an entry: whether it goes in, and the sentence on what brought it in or kept it out."""

    goes_in: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class EditedNote:
    """A note with its new text: the entry that it is, or why it is none; both None for a note that would be gone.

    An entry that another one of the same title displaces has neither (setting `multiVaultConflictResolution`).
    `match` and `injected` are told by DeepLore, `outcome` by the systems beside it.
    """

    note: NoteText
    entry: Entry | None = None
    left_out: LeftOutNote | None = None
    match: WouldMatch | None = None
    injected: InjectedText | None = None
    outcome: EntryOutcome | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What came of the run. `before` is the trace of the same generation without the edits.

    `settings` are those that were tried out, with both values. `answered` says for each question to a model where its
    answer came from. `seconds` is the time from the texts to here. `warnings` are sentences on what this run lacked.
    """

    generation: Generation
    before: Trace = field(repr=False)
    trace: Trace = field(repr=False)
    index: VaultIndex = field(repr=False)
    notes: tuple[EditedNote, ...] = ()
    answered: tuple[Answered, ...] = ()
    seconds: float = 0.0
    settings: tuple[SettingChange, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on where the answers of a model came from, and on what the run lacked, each once."""
        return tuple(dict.fromkeys((*(SENTENCES[answered] for answered in self.answered), *self.warnings)))


class Previews(Protocol):
    """Whoever makes previews of one generation, by DeepLore or by another system."""

    def takes(self, settings: Section) -> bool:
        """Whether these are settings of the system that decides here."""
        ...

    def preview(
        self, notes: Sequence[NoteText], cancel: CancelToken | None = None, settings: Section | None = None
    ) -> Preview:
        """Run the generation with these texts and settings; see `Previewer.preview`."""
        ...


class Previewer:
    """Previews of one generation, each from the saved vault with other texts or settings.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread; a new
    project, another generation or another run of it needs a new one. `recorded` are answers that were read already.
    Without a word on it, questions that are new fail, except where the stand-in answers anyway. Raises ValueError for a
    generation that was not run, and where the project does not know what its index was made of.
    """

    def __init__(
        self,
        simulator: Simulator,
        generation: Generation,
        recorded: RecordedAnswers | None = None,
        unanswered: Unanswered | None = None,
    ) -> None:
        self._rerun = Rerun.of(simulator, generation, recorded, unanswered)
        self.generation = generation
        self.before = self._rerun.before
        self._project = simulator.project
        self._state = state_of(simulator.project)
        self._context = self._rerun.context
        self._reread: tuple[DeepLoreSettings, EditedVaults] | None = None

    @cached_property
    def _vaults(self) -> EditedVaults:
        return EditedVaults(self._state, self._project.settings, self._project.counter)

    def takes(self, settings: Section) -> bool:
        """Whether these are DeepLore's settings."""
        return isinstance(settings, DeepLoreSettings)

    def _vaults_with(self, settings: DeepLoreSettings) -> EditedVaults:
        """The vaults as these settings read them; where they decide that, the notes are read from the disk again."""
        if self._project.reads_alike(settings):
            return self._vaults
        known = self._reread
        if known is not None and replace(self._project, settings=known[0]).reads_alike(settings):
            return known[1]
        made = EditedVaults(state_of(self._project.with_settings(settings)), settings, self._project.counter)
        self._reread = settings, made
        return made

    def prepare(self) -> None:
        """Build what all previews share, so that the first one is as quick as the others.

        For a worker: after a replay was restored and not run, it takes a second or two on 5,000 notes.
        """
        self._vaults.with_texts(())
        self.preview(())

    def preview(
        self,
        notes: Sequence[NoteText],
        cancel: CancelToken | None = None,
        settings: Section | None = None,
    ) -> Preview:
        """Run the generation with these texts, and with other settings where some are given.

        For a worker thread, since it may take more than a moment. Raises Cancelled between two stages after a request
        to stop, VaultError for a text that belongs nowhere or a vault that cannot be read again, and TypeError for
        settings of another system.
        """
        begun = time.perf_counter()
        stop = StopBetweenStages(cancel or CancelToken())
        settings = settings or self._project.settings
        if not isinstance(settings, DeepLoreSettings):
            raise TypeError(f"{type(settings).__name__} are no settings of DeepLore")
        vault = self._index(notes, settings)
        stop.look()
        answers = self._rerun.answers()
        known = self._context.index
        ctx = self.context(known if vault is known.vault else DeepLoreIndex(vault, known), settings)
        stop.look()
        trace = run_offline(ctx, answers, stop)
        stop.look()
        edited = tuple(_edited(note, vault, trace, ctx) for note in notes)
        return Preview(
            self.generation,
            self.before,
            trace,
            vault,
            edited,
            tuple(answers.answered),
            time.perf_counter() - begun,
            differences(self._project.settings, settings),
        )

    def _index(self, notes: Sequence[NoteText], settings: DeepLoreSettings) -> VaultIndex:
        """The vault with these texts, as these settings read it; the run's own where neither makes a difference."""
        if not notes and self._project.reads_alike(settings):
            return self._context.index.vault
        return self._vaults_with(settings).with_texts(notes).index

    def context(self, index: DeepLoreIndex, settings: DeepLoreSettings | None = None) -> RunContext:
        """The inputs of the generation with another index or other settings, under a digest of their own."""
        settings = settings or self._project.settings
        digests = self._rerun.digests(f"edited {index.vault.digest} {settings.model_dump_json()}")
        return replace(self._context, index=index, settings=settings, digests=digests)


def state_of(project: Project) -> VaultState:
    """What the project's index was made of. Raises ValueError where nobody knows."""
    state = project.vault_state
    if state is None or state.index is not project.index:
        message = "The project does not say what its index was made of, so no note can be tried out."
        raise ValueError(message)
    return state


def _edited(note: NoteText, index: VaultIndex, trace: Trace, ctx: RunContext) -> EditedNote:
    def is_it(item: Entry | LeftOutNote) -> bool:
        return item.filename == note.filename and item.vault == note.vault

    entry = next(filter(is_it, index.entries), None)
    if entry is None:
        return EditedNote(note, left_out=next(filter(is_it, index.left_out), None))
    return EditedNote(note, entry, None, would_match(ctx, entry), _injected(entry, trace, ctx))


def _injected(entry: Entry, trace: Trace, ctx: RunContext) -> InjectedText:
    """The text out of the prompt where it went in, else as the same template makes it."""
    injection = next((injection for injection in trace.injections if injection.entry == entry.id), None)
    if injection is None:
        text = entry_text(entry, ctx.settings, literal=ctx.is_fixed("template_patterns"))
        return InjectedText(text, entry.tokens, ctx.counter.count(text), injected=False)
    places = ((block, part) for block in trace.prompt for part in block.parts if part.entry == entry.id)
    text = next((block.text[part.start : part.end] for block, part in places), "")
    count = ctx.counter.count(text)
    return InjectedText(text, injection.tokens, count, injected=True, truncated=injection.truncated)


@dataclass(frozen=True, slots=True)
class Resized:
    """An entry that goes in both times, with the tokens of the part that goes in."""

    entry: EntryRef
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class PromptChanges:
    """What an edit does to the injections. Entries that left are named as the trace before names them.

    `tokens_before` and `tokens_after` are those of all injections, outlets included.
    """

    entered: tuple[EntryRef, ...]
    left: tuple[EntryRef, ...]
    resized: tuple[Resized, ...]
    tokens_before: int
    tokens_after: int

    def __bool__(self) -> bool:
        return bool(self.entered or self.left or self.resized)


def prompt_changes(before: Trace, after: Trace) -> PromptChanges:
    """The changes, in injection order. Entries are the same when vault and file name are."""
    old, new = _by_file(before), _by_file(after)
    return PromptChanges(
        tuple(after.entries[item.entry] for name, item in new.items() if name not in old),
        tuple(before.entries[item.entry] for name, item in old.items() if name not in new),
        tuple(
            Resized(after.entries[item.entry], old[name].tokens, item.tokens)
            for name, item in new.items()
            if name in old and old[name].tokens != item.tokens
        ),
        before.total_tokens,
        after.total_tokens,
    )


def _by_file(trace: Trace) -> dict[tuple[str, str], Injection]:
    files = ((trace.entries[item.entry], item) for item in trace.injections)
    return {(entry.vault, entry.filename): item for entry, item in files}
