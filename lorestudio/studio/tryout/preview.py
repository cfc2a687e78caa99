"""A generation run again with unsaved texts or other settings, or with an entry held in that a stage stopped.

So one sees what the texts or settings would do, and what later stages would have done with the entry. Everything else
is the same: chat, state before it, seed, answers. Nothing is written, no provider and no model is asked, and the
simulator's own traces and states stay what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from lorestudio.domain.chat import Generation
from lorestudio.domain.entry import Entry, LeftOutNote, VaultIndex
from lorestudio.domain.lifecycle import CancelToken
from lorestudio.domain.records import Terse, replace
from lorestudio.llm.recorded_answers import RecordedAnswers
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.settings.sections import SettingChange, differences
from lorestudio.studio.replay.rerun import Rerun
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Hold, StopBetweenStages
from lorestudio.trace.found_keys import WouldMatch
from lorestudio.trace.held_run import WouldAlso, would_also
from lorestudio.trace.journey import Fate, FateState, Journeys
from lorestudio.trace.model import Phase, Trace
from lorestudio.vault.edited_vaults import EditedVaults, NoteText


class InjectedText(Terse, frozen=True):
    """An entry as it stands in the prompt, or as it would.

    `tokens` are those that the budget counts, `whole_tokens` those of `text` with its template. Only one that went in
    can be `truncated`.
    """

    unprinted = ("text",)

    text: str
    tokens: int
    whole_tokens: int
    truncated: bool = False


class EntryOutcome(Struct, frozen=True):
    """What the run says of an entry: whether it goes in, and the sentence on what brought it in or kept it out."""

    goes_in: bool
    sentence: str


class EditedNote(Struct, frozen=True):
    """A note with its new text: the entry that it is, or why it is none; both None for a note that would be gone.

    An entry that another one of the same title displaces has neither (setting `multiVaultConflictResolution`).
    `match` and `injected` are None where the system cannot tell.
    """

    note: NoteText
    entry: Entry | None = None
    left_out: LeftOutNote | None = None
    match: WouldMatch | None = None
    injected: InjectedText | None = None
    outcome: EntryOutcome | None = None


class Preview(Terse, frozen=True):
    """What came of the run. `before` is the trace of the same generation without the edits.

    `settings` are those that were tried out, with both values. `remarks` are sentences on where the answers of a model
    came from and on what the run lacked, each once.
    """

    unprinted = ("before", "trace", "index")

    generation: Generation
    before: Trace
    trace: Trace
    index: VaultIndex
    notes: tuple[EditedNote, ...] = ()
    settings: tuple[SettingChange, ...] = ()
    remarks: tuple[str, ...] = ()


class Previewer:
    """Previews of one generation, each from the saved vault with other texts or settings.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread; a new
    project, another generation or another run of it needs a new one. `recorded` are answers that were read already.
    Questions that are new fail, except where the stand-in answers anyway. Raises ValueError for a generation that was
    not run, and where the project does not know what its index was made of.
    """

    def __init__(self, simulator: Simulator, generation: Generation, recorded: RecordedAnswers | None = None) -> None:
        self._rerun = Rerun.of(simulator, generation, recorded)
        self.generation = generation
        self.before = self._rerun.before
        self._project = simulator.project
        if not self._project.of_books:
            _ = self._project.known_state
        self._reread: tuple[DeepLoreSettings, EditedVaults | None] | None = None

    @cached_property
    def _vaults(self) -> EditedVaults | None:
        return self._project.edited_vaults()

    def takes(self, settings: Section) -> bool:
        """Whether these are settings of the system that decides here."""
        return type(settings) is self._rerun.system.kind.settings

    def _vaults_with(self, settings: DeepLoreSettings) -> EditedVaults | None:
        """The vaults as these settings read them; where they decide that, the notes are read from the disk again."""
        if self._project.of_books or self._project.reads_alike(settings):
            return self._vaults
        known = self._reread
        if known is not None and replace(self._project, settings=known[0]).reads_alike(settings):
            return known[1]
        made = self._project.with_settings(settings).edited_vaults()
        self._reread = settings, made
        return made

    def preview(
        self, notes: Sequence[NoteText], cancel: CancelToken | None = None, settings: Section | None = None
    ) -> Preview:
        """Run the generation with these texts, and with other settings where some are given.

        For a worker thread, since it may take more than a moment. Raises Cancelled between two stages after a request
        to stop, VaultError for a text that belongs nowhere or a vault that cannot be read again, InputError for
        settings that cannot be used, and TypeError for those of another system.
        """
        stop = StopBetweenStages(cancel or CancelToken())
        known = self._rerun.system.settings
        settings = settings or known
        if not self.takes(settings):
            raise TypeError(f"{type(settings).__name__} are no settings of {self._rerun.system.title}")
        rerun = self._edited(notes, settings)
        vault = rerun.moment.index
        stop.look()
        ran = rerun.named(f"edited {vault.digest} {settings.model_dump_json()}").run(stop)
        stop.look()
        journeys = Journeys(ran.trace)
        edited = tuple(_edited(note, vault, journeys, rerun) for note in notes)
        changes, remarks = differences(known, settings), tuple(dict.fromkeys((*ran.answers, *ran.lacks)))
        return Preview(self.generation, self.before, ran.trace, vault, edited, changes, remarks)

    def _edited(self, notes: Sequence[NoteText], settings: Section) -> Rerun:
        """The run with these texts and settings; over its own entries where neither makes a difference to them."""
        reading = self._rerun.system.kind.reading(settings) or self._project.settings
        if not notes and (self._project.of_books or self._project.reads_alike(reading)):
            return self._rerun.with_settings(settings)
        return self._rerun.with_project(self._project.with_texts(notes, self._vaults_with(reading)), settings)


def _edited(note: NoteText, index: VaultIndex, journeys: Journeys, ran: Rerun) -> EditedNote:
    def is_it(item: Entry | LeftOutNote) -> bool:
        return item.filename == note.filename and item.vault == note.vault

    entry = next(filter(is_it, index.entries), None)
    if entry is None:
        return EditedNote(note, left_out=next(filter(is_it, index.left_out), None))
    match = ran.system.would_match(ran.moment, ran.state, entry)
    return EditedNote(note, entry, None, match, _injected(entry, journeys.trace, ran), _outcome(entry, journeys))


def _injected(entry: Entry, trace: Trace, ran: Rerun) -> InjectedText | None:
    """The text out of the prompt where it went in, else as it would stand there."""
    count = ran.moment.counter.count
    injection = next((injection for injection in trace.injections if injection.entry == entry.id), None)
    if injection is None:
        text = ran.system.entry_text(ran.moment, entry)
        return None if text is None else InjectedText(text, entry.tokens, count(text))
    places = ((block, part) for block in trace.prompt for part in block.parts if part.entry == entry.id)
    text = next((block.text[part.start : part.end] for block, part in places), "")
    return InjectedText(text, injection.tokens, count(text), truncated=injection.truncated)


def _outcome(entry: Entry, journeys: Journeys) -> EntryOutcome:
    return EntryOutcome(journeys.fate(entry.id).state.went_in, journeys.told(entry.id).sentence)


_ASKABLE = frozenset({FateState.REMOVED, FateState.REFUSED, FateState.NEVER})
_LAST = frozenset({Phase.BUDGET, Phase.INJECT})


class HeldRuns:
    """Asks about single entries of one generation.

    It takes what it needs from the simulator when it is made, at once, and may then be used in any thread. With a
    `preview` the questions are about that run with its unsaved texts. Raises ValueError for a generation that was not
    run.

    `not_held` says why the system can hold no entry in, "" where it can; then `of` knows nothing.
    """

    def __init__(self, simulator: Simulator, generation: Generation, preview: Preview | None = None) -> None:
        rerun = Rerun.of(simulator, generation)
        if preview is not None:
            rerun = replace(rerun.at(index=preview.index), before=preview.trace)
        self._rerun = rerun
        self.trace: Trace = rerun.before
        self.not_held = rerun.system.kind.not_held

    @cached_property
    def _journeys(self) -> Journeys:
        return Journeys(self.trace)

    def of(self, entry: int, cancel: CancelToken | None = None) -> WouldAlso | None:
        """What became of the entry behind the stage that stopped it; None where no stage is behind it.

        That is so for one that went in, one that the budget cut, one that never takes part, as what its keys would
        have found nobody knows, and in a run that was skipped. Raises Cancelled between two stages after a request to
        stop.
        """
        end, index = self._journeys.fate(entry), self._rerun.moment.index
        known = not self.trace.skip_reason and 0 <= entry < len(index.entries)
        if self.not_held or not known or not _is_askable(end):
            return None
        held = Hold(entry, end.stage if end.state is FateState.REMOVED else "")
        return would_also(self._rerun.at(held=held).named(f"held {entry} {index.digest}").run(cancel).trace)


def _is_askable(end: Fate) -> bool:
    if end.state is FateState.REFUSED and end.phase is Phase.LOAD:
        return False
    return end.state in _ASKABLE and not (end.state is FateState.REMOVED and end.phase in _LAST)
