"""What a window works on: the project, its simulator, the traces made so far, and the jobs that make them."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.state import AiState, ChatControls
from lorestudio.exchange.chat_document import ChatDocument
from lorestudio.exchange.sillytavern_chat import LoadedChat
from lorestudio.settings import Behaviour, DeepLoreSettings
from lorestudio.settings.declaration import Section
from lorestudio.studio.answering import (
    Connections,
    ProfileFile,
    Question,
    Source,
    default_profiles_path,
)
from lorestudio.studio.generation import Generation
from lorestudio.studio.jobs import Cancelled, Progress
from lorestudio.studio.keeping import ChatRuns, chat_id
from lorestudio.studio.library import LibraryNews, changes_text
from lorestudio.studio.modes import Mode
from lorestudio.studio.places import keep_key
from lorestudio.studio.preview import Preview, Previewer, Previews
from lorestudio.studio.project import Project, demo_project, open_project, place_names
from lorestudio.studio.prompt_setup import PromptSetup
from lorestudio.studio.ranges import MessageRange
from lorestudio.studio.recap.merging import alters_runs, with_recaps
from lorestudio.studio.run_causes import RunSide
from lorestudio.studio.run_sides import side_of
from lorestudio.studio.scoring import Scorer
from lorestudio.studio.simulator import Simulator, Superseded, generations
from lorestudio.studio.system_preview import SystemPreviewer
from lorestudio.studio.system_simulator import SystemSimulator
from lorestudio.studio.systems import kind_of
from lorestudio.studio.trace_book import TraceBook
from lorestudio.studio.world_info import WORLD_INFO
from lorestudio.trace.journey import Journeys
from lorestudio.trace.model import Trace
from lorestudio.trace.text import turn_words
from lorestudio.ui.adjusting import Adjustment, Adjustments, Parts, SystemStep, first_difference
from lorestudio.ui.choices import ChoiceStore, RunChoice
from lorestudio.ui.following import Opened, VaultFollower
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.live import LiveBoard, LiveRun
from lorestudio.ui.notices import Notice
from lorestudio.ui.replaying import (
    MOST_EARLIER,
    Finished,
    MakeSimulator,
    Replay,
    Replayer,
    ReplayNews,
    Tallied,
    Wanted,
    Withdrawn,
)
from lorestudio.ui.selection import same_numbers
from lorestudio.ui.words import count, sentence_of, tr
from lorestudio.vault import read_note
from lorestudio.vault.edited import EditedVaults, NoteText
from lorestudio.vault.incremental import VaultState, changes_between
from lorestudio.vault.triggers import RefreshReason

logger = logging.getLogger(__name__)

REST_MS: Final = 10
"""Between two reports the window has at least this long for everything else."""

LOOK_MS: Final = 100
"""While a replay runs, the window looks at the run under way this often."""


class Session(QObject):
    """Glue between the studio and the panes; it decides nothing about lore.

    All state changes on the GUI thread. Reading a vault and replaying run as jobs on snapshots, one at a time.
    """

    project_changed = Signal()
    traces_changed = Signal(object)  # the generations that have a new trace, or None for "all of them"
    preview_changed = Signal()
    state_changed = Signal()
    choice_changed = Signal()
    configured = Signal()  # settings of systems beside DeepLore
    profiles_changed = Signal()
    live_changed = Signal()
    setup_changed = Signal()
    progress = Signal(object)  # Progress
    replayed = Signal(object)  # Tallied: a replay that a person asked for has come to its end
    news = Signal(object)  # ReplayNews: before `progress`, with what else is known
    notice = Signal(object)  # Notice
    question = Signal(object)  # Question: a person is to answer
    withdrawn = Signal(object)  # Question: nobody waits for its answer any more
    cost_known = Signal(object)  # Finished: a person has to agree before this replay begins

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        make_simulator: MakeSimulator = Simulator,
        connections: Connections | None = None,
        keep_in: Path | None = None,
        cache_file: Path | None = None,
    ) -> None:
        """`keep_in` is the folder where runs survive the window; without it nothing is kept.

        The places of graphs are kept beside it. `cache_file` is the cache of parsed vaults; without it vaults are read
        whole and not followed.
        """
        super().__init__(parent)
        self.jobs = Jobs(self)
        self.keep_in = keep_in
        self.graphs_in = keep_in.parent / "graphs" if keep_in is not None else None
        self.connections = connections or Connections(default_profiles_path())
        self.profiles = ProfileFile()
        self.choices = ChoiceStore()
        self.choice = RunChoice()
        self.live: LiveRun | None = None
        self.project: Project | None = None
        self.traces = TraceBook()
        self.generations: tuple[Generation, ...] = ()
        self._journeys: Journeys | None = None
        self._known: frozenset[Generation] = frozenset()
        self.stale = ""
        self.activity = ""
        self.auto_replay = True
        self._follower = VaultFollower(self.jobs, self.connections, cache_file, self) if cache_file else None
        if self._follower is not None:
            self._follower.changed.connect(self._vaults_changed)
            self._follower.failed.connect(self._vault_failed)
        self._simulators: dict[RunChoice, ChatRuns] = {}
        self._made_as: dict[Generation, RunChoice] = {}
        self._older: frozenset[Generation] = frozenset()
        self._older_why = ""
        self.adjustments = Adjustments()
        self.on_disk: Parts | None = None
        self._preview: Preview | None = None
        self.preview_shown = True
        self.renewed = False
        self._earlier: tuple[Simulator, ...] = ()
        self.tally: Tallied | None = None
        self._replay: Replay | None = None
        self._next: Wanted | None = None
        self._board = LiveBoard()
        self._replayer = Replayer(make_simulator, self.connections, keep_in, self._board)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._hear)
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self._look_at_run)

    # ---- what there is ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a job of the session runs."""
        return bool(self.activity)

    @property
    def replaying(self) -> bool:
        """Whether the running job is one that can be cancelled."""
        return self._replay is not None

    def outdated(self, generation: Generation | None) -> str:
        """Why the trace of a generation is not what a run would give now, "" where it is."""
        if generation in self._older:
            return self._older_why
        made_as = self._made_as.get(generation) if generation is not None else None
        if made_as is None or made_as == self.choice.effective:
            return self.stale
        if made_as.title != self.choice.title:
            text = tr("This run was made with: {before}. Chosen now: {now}.")
            return text.format(before=made_as.title, now=self.choice.title)
        if not made_as.is_deeplore:
            return tr("This run was made with other settings of {system}.", system=made_as.title)
        return tr("This run was made with other behaviour switches than are chosen now.")

    def ai_before(self, generation: Generation | None) -> AiState | None:
        """Circuit breaker and AI counters as they stood before a generation, None where it was not run as chosen."""
        simulator = self._simulators.get(self.choice.effective)
        if simulator is None or isinstance(simulator, SystemSimulator) or generation not in simulator.traces:
            return None
        place = simulator.generations.index(generation)
        return simulator.states[place - 1].ai if place else AiState()

    def trace(self, generation: Generation | None) -> Trace | None:
        """The trace of a generation, None until it was run; with unsaved texts where these are tried out."""
        if generation is None:
            return None
        preview = self.preview_of(generation)
        return preview.trace if preview is not None and self.preview_shown else self.traces.get(generation)

    def preview_of(self, generation: Generation | None) -> Preview | None:
        """What unsaved texts would do to a generation, None where nothing is tried out."""
        return self._preview if self._preview is not None and self._preview.generation == generation else None

    def previewer(self, generation: Generation | None) -> Previews | None:
        """Tries out other texts and settings on a generation, None where it was not run as is chosen now."""
        runs = self.system_runs(generation)
        simulator = self.simulator(generation)
        made = runs or simulator
        if made is None or generation is None or made.project.vault_state is None:
            return None
        if runs is None or self.choice.settings is None:
            return Previewer(simulator, generation) if simulator is not None else None
        return SystemPreviewer(runs, generation, kind_of(self.choice.system), self.choice.settings)

    def simulator(self, generation: Generation | None) -> Simulator | None:
        """DeepLore's simulator that ran a generation as is chosen now.

        None where nothing has, where another system is chosen, or a replay is under way.
        """
        simulator = self._simulators.get(self.choice.effective)
        if simulator is None or isinstance(simulator, SystemSimulator):
            return None
        if self.replaying or generation is None or generation not in simulator.traces:
            return None
        return simulator

    def system_runs(self, generation: Generation | None) -> SystemSimulator | None:
        """Another system's runs, where one is chosen and has run a generation as is chosen now.

        None also while a replay is under way.
        """
        simulator = self._simulators.get(self.choice.effective)
        if not isinstance(simulator, SystemSimulator) or self.replaying or generation not in simulator.traces:
            return None
        return simulator

    def scorer(self, generation: Generation | None) -> Scorer | None:
        """Explains the scores of a generation, None where it was not run as is chosen now."""
        simulator = self.simulator(generation)
        return Scorer(simulator, generation) if simulator is not None and generation is not None else None

    def finished_run(self) -> Simulator | None:
        """The simulator whose traces are shown.

        None while it runs, where nothing was run as is chosen now, and where another system than DeepLore is chosen.
        """
        simulator = self._simulators.get(self.choice.effective)
        return None if self.replaying or isinstance(simulator, SystemSimulator) else simulator

    def complete(self, choice: RunChoice) -> ChatRuns | None:
        """Who ran the whole chat as this choice says, None where nobody has, or a replay is under way."""
        found = self._simulators.get(choice.effective)
        done = found is not None and not self.replaying and len(found.traces) == len(self.generations)
        return found if done else None

    def side(self, generation: Generation | None, title: str = "") -> RunSide | None:
        """The run of a generation for comparing, None where there is none; with its inputs if it is as chosen now."""
        trace = self.traces.get(generation) if generation is not None else None
        if trace is None or generation is None:
            return None
        simulator = self._simulators.get(self.choice.effective)
        if simulator is not None and simulator.traces.get(generation) is trace:
            try:
                return side_of(simulator, generation, title)
            except ValueError:  # its inputs cannot be had any more
                pass
        return RunSide(title or turn_words(trace.turn), trace)

    def journeys(self, trace: Trace) -> Journeys:
        """A trace, read so that entries can be asked about; the panes share that of the trace that is shown."""
        if self._journeys is None or self._journeys.trace is not trace:
            self._journeys = Journeys(trace)
        return self._journeys

    def shown(self, message: int) -> Generation | None:
        """The generation of a message's active swipe, None where the message is not a reply."""
        chat = self.project.chat if self.project is not None else None
        if chat is None:
            return None
        swipe = chat.messages[message].swipe if message < len(chat.messages) else 0
        generation = Generation(message, swipe)
        return generation if generation in self._known else None

    def note_path(self, note: Entry | LeftOutNote) -> Path | None:
        """The file of a note, None where its vault has no folder in the project."""
        if self.project is None or note.vault not in self.project.index.vaults:
            return None
        folder = self.project.vault_folders[self.project.index.vaults.index(note.vault)]
        return folder / note.filename if folder is not None else None

    def note_at(self, path: Path) -> Entry | LeftOutNote | None:
        """The note of a file, None where the file gave none."""
        if self.project is None:
            return None
        index = self.project.index
        for vault, folder in zip(index.vaults, self.project.vault_folders, strict=False):
            if folder is not None and path.is_relative_to(folder):
                filename = path.relative_to(folder).as_posix()
                notes: tuple[Entry | LeftOutNote, ...] = (*index.entries, *index.left_out)
                return next((note for note in notes if (note.filename, note.vault) == (filename, vault)), None)
        return None

    def entry(self, entry: int | None) -> Entry | None:
        """The entry with that id, None where there is none."""
        entries = self.project.index.entries if self.project is not None else ()
        return entries[entry] if entry is not None and 0 <= entry < len(entries) else None

    def generation_for(self, message: int) -> Generation | None:
        """The generation to show for a message: its own, or for any other message that of the reply after it."""
        own = self.shown(message)
        if own is not None:
            return own
        later = next((item for item in self.generations if item.message >= message), None)
        return (self.shown(later.message) or later) if later is not None else None

    def swipes(self, message: int) -> tuple[Generation, ...]:
        """All generations of one reply."""
        return tuple(item for item in self.generations if item.message == message)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def show_preview(self, preview: Preview | None) -> None:
        """Show what unsaved texts would do instead of the trace that was made; None goes back to that.

        A text that makes an entry of a note, or makes it none, shifts the numbers of the others and is not shown.
        """
        if preview is not None and (self.project is None or not same_numbers(self.project.index, preview.index)):
            preview = None
        if preview is not self._preview:
            self._preview = preview
            self.preview_changed.emit()

    def toggle_preview(self) -> None:
        """Show the run before the unsaved texts, or again the one with them."""
        self.preview_shown = not self.preview_shown
        self.preview_changed.emit()

    def open(
        self, vaults: Sequence[Path | str], chat: Path | None = None, settings: Path | None = None, key: str = ""
    ) -> None:
        """Read vaults, and a chat and settings where given, off the GUI thread; then show them.

        What is in the cache is shown at once and compared with the disk afterwards. `key` is kept for a vault behind
        Obsidian's plugin.
        """
        places = place_names(vaults)

        def work() -> Project | Opened:
            if key:
                keep_key(places[0], key, self.connections.keys)
            if self._follower is None:
                return open_project(vaults, chat, settings)
            return self._follower.open(places, chat, settings)

        self._read(", ".join(Path(place).name for place in places), work)

    def follow(self) -> None:
        """Notice from now on what changes in the vaults of the project that is shown."""
        if self.project is not None and self._follower is not None:
            self._follower.follow(self.project)

    def open_demo(self) -> None:
        """Show the vault and chat that come with the program."""
        self._read(tr("the demo"), demo_project)

    def open_chat(self, path: Path) -> None:
        """Show another chat with the same vault."""
        if self.project is not None:
            project = self.project
            self._read(path.name, lambda: project.with_chat(path))

    def reload(self) -> None:
        """Read the same files again; what was changed here and is in no file yet stays, as one step."""
        project, on_disk = self.project, self.on_disk
        if project is None or on_disk is None:
            return
        kept = Adjustment(tr("what was changed before reading again"), on_disk, Parts.of(project))

        def done() -> None:
            now = self.project
            if now is not None and kept.before != kept.after:
                parts = kept.forward(Parts.of(now))
                self.adjust(
                    kept.title,
                    settings=parts.settings,
                    controls=parts.controls,
                    behaviour=parts.behaviour,
                    chat=parts.chat,
                )

        self._read(project.name, project.reloaded, done)

    def notes_written(self, paths: Collection[Path]) -> None:
        """Take in notes that were written, made, moved or removed from here, and run the chat again with them."""
        project = self.project
        if project is None or not paths:
            return
        names = ", ".join(sorted(path.name for path in paths))
        self.stale = tr("{names} was saved after this replay. The results below are from before.", names=names)
        self.state_changed.emit()
        state = project.vault_state
        if state is None:  # nobody knows what the index was made of
            return

        def work() -> VaultState:
            return EditedVaults(state, project.settings, project.counter).with_texts(_texts(project, paths))

        self.jobs.start(
            tr("Taking in what was saved"),
            lambda _report: work(),
            done=lambda after: self._renew(paths, project, after),
            failed=self._failed,
        )

    def _renew(self, paths: Collection[Path], project: Project, state: VaultState) -> None:
        now = self.project
        if now is None or now.places != project.places:
            return  # another vault is shown by now
        if now.vault_state is not project.vault_state:
            self.notes_written(paths)  # something else was taken in meanwhile
            return
        why = tr("Notes were saved after this run. The results below are from before.")
        self.set_project(replace(now, index=state.index, vault_state=state), renewed=why)

    def adjust(
        self,
        title: str,
        *,
        settings: DeepLoreSettings | None = None,
        controls: ChatControls | None = None,
        behaviour: Behaviour | None = None,
        chat: Chat | None = None,
    ) -> None:
        """Change these parts of the project as one step that can be taken back, and run the chat again.

        No file is written. `title` says what was done, as in “Undo {title}”. Where settings decide how notes are read,
        the vaults are read again first.
        """
        project = self.project
        if project is None:
            return
        now = Parts.of(project)
        after = Parts(
            now.settings if settings is None else settings,
            now.controls if controls is None else controls,
            now.behaviour if behaviour is None else behaviour,
            now.chat if chat is None else chat,
        )
        if after != now:
            self.adjustments.add(Adjustment(title, now, after))
            self._show_parts(after, title)

    def undo_adjustment(self) -> None:
        """Take the last change of settings, chat or choices for the chat back."""
        step = self.adjustments.undo()
        if isinstance(step, SystemStep):
            self.configure(step.back(self.choices.systems))
        elif step is not None and self.project is not None:
            self._show_parts(step.back(Parts.of(self.project)), tr("undo {title}", title=step.title))

    def redo_adjustment(self) -> None:
        """Do again what was taken back last."""
        step = self.adjustments.redo()
        if isinstance(step, SystemStep):
            self.configure(step.forward(self.choices.systems))
        elif step is not None and self.project is not None:
            self._show_parts(step.forward(Parts.of(self.project)), step.title)

    def saved(
        self,
        *,
        settings: DeepLoreSettings | None = None,
        controls: ChatControls | None = None,
        chat: Chat | None = None,
    ) -> None:
        """These parts stand in their files now, as they are given here (see `on_disk`)."""
        known = self.on_disk
        if known is not None:
            self.on_disk = Parts(
                known.settings if settings is None else settings,
                known.controls if controls is None else controls,
                known.behaviour,
                known.chat if chat is None else chat,
            )
            self.state_changed.emit()

    def begin_chat(self, chat: Chat, document: ChatDocument) -> None:
        """Show a chat that is in no file yet, with the same vault, card and persona."""
        project = self.project
        if project is not None:
            self.set_project(
                replace(project, chat=chat, chat_path=None, document=document, controls=ChatControls(), problems=())
            )

    def take_setup(self, setup: PromptSetup) -> None:
        """Card, persona and frame of the prompts from now on. Of all runs only World Info's look at them."""
        if self.project is None:
            return
        self.project = replace(self.project, setup=setup)
        for choice in [choice for choice in self._simulators if choice.system == WORLD_INFO]:
            del self._simulators[choice]
        self.setup_changed.emit()
        if self.choice.system == WORLD_INFO and self.auto_replay:
            self.replay()

    def chat_saved(self, path: Path, document: ChatDocument, chat: Chat, controls: ChatControls) -> None:
        """The chat stands in this file now, as it is given here; what was chosen for its runs stays chosen."""
        project = self.project
        if project is not None and project.chat is not None:
            self.project = replace(project, chat_path=path, document=document)
            self.choices.save(chat_id(self.project), self.choice)
            self.saved(chat=chat, controls=controls)

    def header_saved(self, loaded: LoadedChat) -> None:
        """The first line of the chat's file was written and read again; where its other lines are those that are known
        here, what is here goes on from it. Else somebody else wrote, too, and saving the chat will say so.
        """
        project, known = self.project, self.on_disk
        if project is None or project.chat is None or known is None or known.chat is None:
            return
        if project.document is None or loaded.document.lines[1:] != project.document.lines[1:]:
            return
        header, metadata = loaded.chat.header, loaded.chat.metadata
        chat = replace(project.chat, header=header, metadata=metadata)
        self.project = replace(project, chat=chat, document=loaded.document)
        same = known.chat is project.chat
        self.on_disk = replace(known, chat=chat if same else replace(known.chat, header=header, metadata=metadata))
        self.state_changed.emit()

    def recaps_written(self, chat: Chat, document: ChatDocument, why: str) -> None:
        """Recap memory wrote the chat's file, which is this chat now; what is not saved here stays.

        Where other messages are hidden than before, the chat is run again; `why` says so of the runs until then.
        """
        project, known = self.project, self.on_disk
        if project is None or project.chat is None or known is None or known.chat is None:
            return
        before = known.chat
        if len(before.messages) != len(chat.messages):
            return  # somebody else wrote, too; saving the chat will say so
        made: dict[int, Chat] = {}  # one for each, because steps know their chats by identity

        def chat_of(old: Chat) -> Chat:
            if id(old) not in made:
                made[id(old)] = with_recaps(old, before, chat)
            return made[id(old)]

        after = chat_of(project.chat)
        self.adjustments.rebase(chat_of)
        self.on_disk = replace(known, chat=chat_of(before))
        changed = replace(project, chat=after, document=document)
        if alters_runs(project.chat, after):
            self.set_project(changed, renewed=why)
        else:
            self.project = changed
            self.state_changed.emit()

    def _show_parts(self, parts: Parts, title: str) -> None:
        project = self.project
        if project is None:
            return
        if project.reads_alike(parts.settings):
            self._take_parts(parts, title, replace(project, settings=parts.settings))
            return

        def done(read: Project) -> None:
            now = self.project
            if now is not None and now.places == project.places:
                self._take_parts(parts, title, replace(now, index=read.index, vault_state=read.vault_state))
                if self._follower is not None:
                    self._follower.take(None)
                    self.follow()

        self.jobs.start(
            tr("Reading the vault with other settings"),
            lambda _report: project.with_settings(parts.settings),
            done=done,
            failed=self._failed,
        )

    def _take_parts(self, parts: Parts, title: str, project: Project) -> None:
        changed = replace(
            project, settings=parts.settings, controls=parts.controls, behaviour=parts.behaviour, chat=parts.chat
        )
        own = RunChoice.of(changed)
        self.choices.save(chat_id(changed), replace(self.choice, mode=own.mode, fixed=own.fixed))
        why = tr("This run is from before the change “{title}”.", title=title)
        self.set_project(changed, renewed=why)

    def set_project(self, project: Project, *, renewed: str = "") -> None:
        """Show a project that was read already; its chat is replayed unless the session is told not to.

        `renewed` says of the traces there are why they are results from before, where it is the same project with
        something changed: then what is looked at stays, and so do the traces until newer ones are there. Of a changed
        chat only the runs up to the first changed message stay.
        """
        before = self.project
        told = before.problems if before is not None else ()
        self._preview = None
        self.renewed, self._older_why = bool(renewed), renewed
        keep = bool(renewed) and before is not None and same_numbers(before.index, project.index)
        if not renewed:
            self.adjustments.clear()
        self.choice = self.choices.load(chat_id(project)) or RunChoice.of(project)
        self.project = project = self.choice.applied(project)
        same_chat = before is not None and chat_id(before) == chat_id(project)
        ran = [each for each in reversed(self._simulators.values()) if not isinstance(each, SystemSimulator)]
        known = (*ran, *self._earlier) if same_chat else ()
        self._earlier = known[:MOST_EARLIER]
        self._simulators, self._made_as, self.live, self.tally = {}, {}, None, None
        self.generations = ()
        if not renewed:
            self.on_disk = Parts.of(project)
        self.traces = TraceBook(self.traces) if keep else TraceBook()
        if before is not None and before.chat is not project.chat:
            same = first_difference(before.chat, project.chat)
            self.traces = self.traces.part([item for item in self.traces if item.message <= same])
        self.stale = ""
        if project.chat is not None:
            self.generations = generations(project.chat)
        self._known = frozenset(self.generations)
        self.traces = self.traces.part([item for item in self.traces if item in self._known])
        self._older = frozenset(self.traces)
        self.project_changed.emit()
        self.choice_changed.emit()
        self.traces_changed.emit(None)
        self.state_changed.emit()
        for problem in project.problems:
            if problem not in told:
                self.notice.emit(Notice(problem, "warning"))
        if self.auto_replay:
            self._start(Wanted(self.choice.effective, asked=False))

    def choose(
        self,
        *,
        mode: Mode | None = None,
        source: Source | None = None,
        fixed: Sequence[str] | None = None,
        system: str | None = None,
    ) -> None:
        """Run the project in another way from now on, and replay it; the traces made so far stay until then."""
        before = self.choice
        choice = RunChoice(
            before.mode if mode is None else mode,
            before.source if source is None else source,
            before.fixed if fixed is None else tuple(fixed),
            before.system if system is None else system,
        )
        self._choose(self.choices.with_settings(choice))

    def configure(self, settings: Mapping[str, Section], title: str = "") -> None:
        """Systems by their names have these settings from now on; the chat is replayed where one of them is chosen.

        With a `title` that is one step that can be taken back, as `adjust` makes them.
        """
        if title:
            before = {name: self.choices.systems.get(name) or type(each)() for name, each in settings.items()}
            self.adjustments.add(SystemStep(title, before, dict(settings)))
        self.choices.systems.update(settings)
        self.configured.emit()
        self._choose(self.choices.with_settings(self.choice))

    def system_changed(self, system: str) -> None:
        """What a system beside DeepLore knows is other than it was: its runs are made again where it is chosen."""
        under_way = self._replay.wanted.choice if self._replay is not None else None
        for choice in [each for each in self._simulators if each.system == system and each != under_way]:
            del self._simulators[choice]
        if self.choice.system == system:
            self.replay(fresh=True)

    def _choose(self, choice: RunChoice) -> None:
        before = self.choice
        if self.project is None or choice == before:
            return
        self.choice = choice
        self.choices.save(chat_id(self.project), choice)
        self.project = choice.applied(self.project)
        self.choice_changed.emit()
        self.state_changed.emit()
        if choice.effective != before.effective:
            self.replay()

    def replay(self, *, fresh: bool = False) -> None:
        """Run every generation of the chat, in order; with `fresh`, all anew and also what has a recorded answer.

        A replay that costs something begins once `begin` agrees to what `cost_known` says.
        """
        self._start(Wanted(self.choice.effective, fresh=fresh))

    def run_to(self, generation: Generation) -> None:
        """Run one generation, and before it what it builds on."""
        if generation in self.generations:
            self._start(Wanted(self.choice.effective, generation))

    def replay_range(self, messages: MessageRange) -> None:
        """Run the replies from one message to another, and before them what they build on where it is missing.

        Raises ValueError, with a sentence, where no reply stands there.
        """
        part = messages.part(self.generations)
        first, last = self.generations[part.start], self.generations[part.stop - 1]
        self._start(Wanted(self.choice.effective, last, first))

    def begin(self, finished: Finished) -> None:
        """Start the replay whose cost was asked about."""
        if finished.wanted.choice == self.choice.effective:
            self._start(replace(finished.wanted, agreed=True))

    def cancel(self) -> None:
        """Stop the replay, also in the middle of a question; the traces made so far stay."""
        self._next = None
        self._stop()

    def load_profiles(self) -> None:
        """Read the provider profiles again."""
        self.jobs.start(
            tr("Reading profiles"),
            lambda _report: self.connections.load(),
            done=self._profiles_read,
            failed=lambda error: self.notice.emit(Notice(sentence_of(error), "warning", key="profiles")),
        )

    def take_profiles(self, file: ProfileFile) -> None:
        """These are the profiles from now on; they were read or written by somebody else."""
        before, self.profiles = self.profiles, file
        for choice in list(self._simulators):
            name = choice.source.profile
            running = self._replay is not None and self._replay.wanted.choice == choice
            known = before.find(name)
            if known is not None and known != file.find(name) and not running:
                del self._simulators[choice]  # it talks as the profile was
        self.profiles_changed.emit()

    def close(self) -> None:
        """End all jobs; nothing of the session runs afterwards."""
        replay = self._replay
        self.cancel()
        self._look.stop()
        self._rest.stop()
        self.jobs.wait()
        if replay is not None and replay.tally.begun:  # nobody hears any more that it has ended
            simulator = replay.simulators.get(replay.wanted.choice)
            if simulator is not None:
                self._replayer.save(simulator)
        if self._follower is not None:
            self._follower.close()

    # ---- jobs -------------------------------------------------------------------------------------------------------

    def _start(self, wanted: Wanted) -> None:
        project = self.project
        if project is None or not self.generations:
            return
        if self.replaying:
            self._next = wanted
            self._stop()
            return
        if self.busy:
            return
        replay = self._replay = Replay(wanted, self._simulators, earlier=self._earlier)
        replay.heard.set()
        self._board.follow(lambda: None)
        self._set_activity(tr("Replaying the chat…"))
        self._look.start()

        def do(report: Callable[[object], None]) -> Finished:
            replay.report = report
            return self._replayer.work(project, replay)

        self.jobs.start(self.activity, do, done=self._ran, failed=self._run_failed, reported=self._news)

    def _stop(self) -> None:
        if self._replay is not None:
            self._replay.stop()

    # ---- the window's side ------------------------------------------------------------------------------------------

    def _vaults_changed(self, news: LibraryNews) -> None:
        """The vaults are not as they were read: taken in at once while they are only being opened, else said."""
        project = self.project
        if project is None or not news.confirmed or not news.changed or news.index.digest == project.index.digest:
            return
        if news.reason is RefreshReason.OPENED and not self.busy:
            self.set_project(replace(project, index=news.index, vault_state=news.state))
            return
        changes = changes_text(changes_between(project.index, news.index)) or tr("notes have changed")
        self.stale = tr("The vault has changed on disk: {changes}. The results below are from before.", changes=changes)
        self.state_changed.emit()

    def _vault_failed(self, sentence: str) -> None:
        self.notice.emit(Notice(sentence, "warning"))

    def _read(self, name: str, work: Callable[[], Project | Opened], done: Callable[[], None] = lambda: None) -> None:
        if self.busy:
            return

        def opened(project: Project | Opened) -> None:
            self._opened(project)
            done()

        self._set_activity(tr("Reading {name}…", name=name))
        self.jobs.start(self.activity, lambda _report: work(), done=opened, failed=self._failed)

    def _opened(self, opened: Project | Opened) -> None:
        self._set_activity("")
        follower = self._follower
        if isinstance(opened, Opened):
            self.set_project(opened.project)
            if follower is not None:
                follower.take(opened.library)
            return
        if follower is not None and (self.project is None or opened.places != self.project.places):
            follower.take(None)
        self.set_project(opened)
        self.follow()

    def _failed(self, error: Exception) -> None:
        logger.error("a job failed: %s", error, exc_info=error)
        self._set_activity("")
        self.notice.emit(Notice(sentence_of(error), "error", details="".join(traceback.format_exception(error))))

    def _profiles_read(self, file: ProfileFile) -> None:
        self.take_profiles(file)
        for problem in file.problems:
            self.notice.emit(Notice(problem, "warning"))

    def _look_at_run(self) -> None:
        self.live = self._board.look() if self.replaying else None
        self.live_changed.emit()

    def _news(self, news: object) -> None:
        if isinstance(news, ReplayNews):
            self._replay_news(news)
        elif isinstance(news, Question):
            self._look_at_run()  # whoever shows it says which reply it is for
            self.question.emit(news)
        elif isinstance(news, Withdrawn):
            self.withdrawn.emit(news.question)

    def _replay_news(self, news: ReplayNews) -> None:
        replay, choice = self._replay, self.choice.effective
        if replay is not None and replay.wanted.choice == choice and replay.simulators is self._simulators:
            self.traces.take(news.traces)
            self._made_as.update(dict.fromkeys(news.traces, choice))
            self._older -= news.traces.keys()
            if news.traces:
                self.traces_changed.emit(tuple(news.traces))
            self.news.emit(news)
            self.progress.emit(news.progress)
        if replay is not None:
            replay.seen.set()
            self._rest.start()

    def _hear(self) -> None:
        """The window has had its rest and takes more news."""
        if self._replay is not None:
            self._replay.heard.set()

    def _ran(self, finished: Finished) -> None:
        self._ended(finished.problems)
        if self._next is not None:
            self._go_on()
        elif not finished.cost:
            if finished.wanted.asked and self.tally is not None:
                self.replayed.emit(self.tally)
        elif finished.wanted.asked:
            self.cost_known.emit(finished)
        else:
            text = tr("{cost} It begins when you say so.", cost=finished.cost)
            self.notice.emit(Notice(text, actions=("replay.all",), key="replay"))

    def _run_failed(self, error: Exception) -> None:
        problems = tuple(self._replay.problems) if self._replay is not None else ()
        self._ended(problems)
        if self._next is not None:
            self._go_on()
        elif isinstance(error, Cancelled | Superseded):
            done = count(len(self._current_traces()), "reply", "replies")
            text = tr("The replay was stopped. {done} done; the rest can be run again.", done=done)
            self.notice.emit(Notice(text, actions=("replay.all",), key="replay"))
        else:
            self._failed(error)

    def _ended(self, problems: Sequence[str]) -> None:
        """Nothing runs any more: take what was made, keep it, and say what went wrong beside it."""
        replay, self._replay = self._replay, None
        self._rest.stop()
        if replay is not None:
            self.tally = replay.tally
            self._keep(replay)
        self._look.stop()
        self.live = None
        self._take()
        self._set_activity("")
        self.live_changed.emit()
        self._tell(problems)

    def _keep(self, replay: Replay) -> None:
        """Keep the runs for the next start, beside whatever comes next."""
        simulator = replay.simulators.get(replay.wanted.choice)
        if simulator is not None and replay.tally.begun and self._replayer.keeps:
            self.jobs.start(
                tr("Keeping the runs"),
                lambda _report: self._replayer.save(simulator),
                done=self._tell,
                failed=lambda error: self._tell((sentence_of(error),)),
            )

    def _tell(self, problems: Sequence[str]) -> None:
        for problem in problems:
            self.notice.emit(Notice(problem, "warning"))

    def _go_on(self) -> None:
        wanted, self._next = self._next, None
        if wanted is not None:
            self._start(wanted)

    def _current_traces(self) -> Mapping[Generation, Trace]:
        simulator = self._simulators.get(self.choice.effective)
        return simulator.traces if simulator is not None else {}

    def _take(self) -> None:
        current = self._current_traces()
        self.traces = TraceBook(self.traces)
        changed = self.traces.take(current)
        self._made_as.update(dict.fromkeys(current, self.choice.effective))
        self._older -= current.keys()
        if self._simulators:
            self.progress.emit(Progress(len(current), len(self.generations)))
            self.traces_changed.emit(changed)

    def _set_activity(self, text: str) -> None:
        self.activity = text
        self.state_changed.emit()


def _texts(project: Project, paths: Collection[Path]) -> list[NoteText]:
    """What stands in the files now, None for one that is gone. Raises VaultError where one cannot be read."""
    found = []
    for path in paths:
        for vault, folder in zip(project.index.vaults, project.vault_folders, strict=True):
            if folder is not None and path.is_relative_to(folder) and path.suffix.lower() == ".md":
                text = read_note(path)[0] if path.exists() else None
                found.append(NoteText(vault, path.relative_to(folder).as_posix(), text))
    return found
