"""The parts of a project that are changed in the window as steps that can be taken back, and what of them is saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Unpack

from lorestudio.domain.chat import Chat
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.domain.state import ChatControls
from lorestudio.exchange.chats.document import ChatDocument
from lorestudio.exchange.chats.sillytavern import LoadedChat
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.declaration import Section, Value
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.saving import going_on
from lorestudio.studio.project.basis import KeptBasis, basis_path, keep_basis
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.setup import PromptSetup, scripts_of
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.ui.shell.words import Notice, count, sentence_of, tr
from lorestudio.ui.state.choices import RunChoice
from lorestudio.ui.state.replay import Replays
from lorestudio.ui.state.session_state import SessionState
from lorestudio.ui.state.traces import SessionRuns
from lorestudio.ui.state.undo import Adjustment, Adjustments, PartChanges, Parts, SystemStep, UndoStep


class ProjectParts:
    """The one door through which settings, choices for the chat and the chat itself are changed.

    `adjustments` are the steps taken and taken back; `on_disk` is what the files hold, None without a project. Nothing
    here writes a file: others do, and say so (`saved` and what follows it).
    """

    def __init__(
        self,
        session: SessionState,
        steps: Adjustments,
        runs: SessionRuns,
        replays: Replays,
        read_otherwise: Callable[[], None],
    ) -> None:
        """`read_otherwise` follows a change of settings that decide how notes are read."""
        self._session, self._runs, self._replays, self._read_otherwise = session, runs, replays, read_otherwise
        self.adjustments = steps
        self.on_disk: Parts | None = None
        session.project_replaced.connect(self._begin)

    def _begin(self, _before: Project | None, project: Project | None, renewed: str) -> None:
        if not renewed:
            self.adjustments.clear()
            self.on_disk = None
            if project is not None:
                read = replace(project, settings=project.given_settings)
                self.on_disk = Parts.of(self._session.choice.applied(read))

    # ---- changing ---------------------------------------------------------------------------------------------------

    def adjust(self, title: str, **changes: Unpack[PartChanges]) -> None:
        """Change these parts of the project as one step that can be taken back, and run the chat again.

        No file is written. `title` says what was done, as in “Undo {title}”. Where settings decide how notes are read,
        the vaults are read again first.
        """
        project = self._session.project
        if project is None:
            return
        now = Parts.of(project)
        after = replace(now, **changes)
        if after != now:
            self.adjustments.add(Adjustment(title, now, after))
            self._show(project, after, title)

    def configure(self, title: str, system: str, settings: Section) -> None:
        """Give a system these settings as such a step: they are the project's, or its own in every chat."""
        reading = kind_of(system).reading(settings)
        if reading is not None:
            self.adjust(title, settings=reading)
        else:
            self._replays.configure({system: settings}, title)

    def change(self, title: str, values: Mapping[str, Value]) -> None:
        """Give some settings of the chosen system other values as such a step."""
        project = self._session.project
        if project is None:
            return
        now = self._session.choice.deciding(project)
        after = now.settings.model_copy(update=dict(values))
        if after != now.settings:
            self.configure(title, now.kind.name, after)

    def undo(self) -> None:
        """Take the last change of settings, chat or choices for the chat back."""
        step = self.adjustments.undo()
        if step is not None:
            self._take(step.back, tr("undo {title}", title=step.title))

    def redo(self) -> None:
        """Do again what was taken back last."""
        step = self.adjustments.redo()
        if step is not None:
            self._take(step, step.title)

    def _take(self, step: UndoStep, title: str) -> None:
        session = self._session
        if isinstance(step, SystemStep):
            self._replays.configure(step.forward(session.choices.systems))
        elif session.project is not None:
            self._show(session.project, step.forward(Parts.of(session.project)), title)

    def count_with(self, tokenizer: str) -> None:
        """Count tokens so from now on (see `studio.project.tokens`), and run the chat again; it is remembered."""
        session, project = self._session, self._session.project
        if project is None:
            return

        def done(counted: Project) -> None:
            session.set_activity("")
            now = session.project
            if now is None or now.places != project.places:
                return
            if now.index is not project.index or now.chat_path != project.chat_path:
                self.count_with(tokenizer)  # something else was taken in meanwhile
                return
            session.choices.keep_tokenizer(project.places, tokenizer)
            read = replace(now, counter=counted.counter, counting=counted.counting).with_index_of(counted)
            session.set_project(read, renewed=tr("This run is from before tokens were counted otherwise."))
            self._read_otherwise()

        session.set_activity(tr("Counting {notes}…", notes=count(len(project.index.entries), "note", "notes")))
        session.jobs.start(
            session.activity, lambda _report: project.with_tokenizer(tokenizer), done=done, failed=session.fail
        )

    def begin_chat(self, chat: Chat, document: ChatDocument) -> None:
        """Show a chat that is in no file yet, with the same vault, card and persona, and the settings of the files."""

        def show(read: Project) -> None:
            self._session.set_project(
                replace(
                    read, chat=chat, chat_path=None, document=document, controls=ChatControls(), basis=KeptBasis(),
                    behaviour=Behaviour(), problems=(),
                )
            )  # fmt: skip

        project = self._session.project
        if project is not None:
            self._read_by(project, project.given_settings, show)

    def take_setup(self, setup: PromptSetup) -> None:
        """Card, persona and frame of the prompts from now on; runs that look at them are made again.

        In a group every system does: the setup says who speaks next, who is the active character. So it is with regex
        scripts, which change what is searched, and with another context size.
        """
        session, before = self._session, self._session.project
        if before is None:
            return
        session.project = after = replace(before, setup=setup)
        every = after.known_context != before.known_context or any(
            each.setup.group is not None or scripts_of(each.reply_setup) for each in (before, after)
        )
        self._runs.drop(lambda choice: every or KINDS[choice.system].reads_setup, under_way=True)
        session.setup_changed.emit()
        if (every or KINDS[session.choice.system].reads_setup) and self._replays.automatic:
            self._replays.run_all()

    # ---- what stands in files ---------------------------------------------------------------------------------------

    def saved(self, **parts: Unpack[PartChanges]) -> None:
        """These parts stand in their files now, as they are given here (see `on_disk`)."""
        if self.on_disk is not None:
            self.on_disk = replace(self.on_disk, **parts)
            self._session.state_changed.emit()

    def settings_saved(self, values: Mapping[str, Json]) -> None:
        """These settings stand in the project's file now."""
        project, known = self._session.project, self.on_disk
        if project is not None and known is not None:
            self._session.project = replace(project, given=project.given_settings.model_copy(update=values))
            self.saved(settings=known.settings.model_copy(update=values))

    def chat_saved(self, path: Path, document: ChatDocument, chat: Chat, controls: ChatControls) -> None:
        """The chat stands in this file now, as it is given here; what was chosen for its runs stays chosen."""
        session, project = self._session, self._session.project
        if project is not None and project.chat is not None:
            session.project = replace(project, chat_path=path, document=document)
            if path != project.chat_path and project.basis != KeptBasis():
                self._keep_basis(path, project.basis)
            session.choices.save(chat_id(session.project), session.choice)
            self.saved(chat=chat, controls=controls)

    def header_saved(self, loaded: LoadedChat) -> None:
        """The first line of the chat's file was written and read again; where its other lines are those that are known
        here, what is here goes on from it. Else somebody else wrote, too, and saving the chat will say so.
        """
        session, project, known = self._session, self._session.project, self.on_disk
        if project is None or project.chat is None or known is None or known.chat is None:
            return
        if project.document is None or loaded.document.lines[1:] != project.document.lines[1:]:
            return
        header, metadata = loaded.chat.header, loaded.chat.metadata
        chat = replace(project.chat, header=header, metadata=metadata)
        session.project = replace(project, chat=chat, document=loaded.document)
        same = known.chat is project.chat
        self.on_disk = replace(known, chat=chat if same else replace(known.chat, header=header, metadata=metadata))
        session.state_changed.emit()

    def file_written(
        self,
        chat: Chat,
        document: ChatDocument,
        why: str,
        carried: Callable[[Chat, Chat, Chat], Chat],
        alters_runs: Callable[[Chat, Chat], bool],
    ) -> None:
        """A feature wrote the chat's file, which is this chat now; what is not saved here stays.

        `carried` gives a chat that went on from the file's former one what was written. Where that alters runs, the
        chat is run again; `why` says so of the runs until then.
        """
        session, project, known = self._session, self._session.project, self.on_disk
        if project is None or project.chat is None or known is None or known.chat is None:
            return
        before = known.chat
        if len(before.messages) != len(chat.messages):
            return  # somebody else wrote, too; saving the chat will say so
        made: dict[int, Chat] = {}  # one for each, because steps know their chats by identity

        def chat_of(old: Chat) -> Chat:
            if id(old) not in made:
                made[id(old)] = carried(old, before, chat)
            return made[id(old)]

        after = chat_of(project.chat)
        self.adjustments.rebase(chat_of)
        self.on_disk = replace(known, chat=chat_of(before))
        changed = replace(project, chat=after, document=document)
        if alters_runs(project.chat, after):
            session.set_project(changed, renewed=why)
        else:
            session.project = changed
            session.state_changed.emit()

    def chat_went_on(self, project: Project, read: Project, *, alike: bool = False) -> None:
        """Another program wrote the chat's file, as it was `read`: show that, and run what is new.

        With `alike` nothing is, because only what no run looks at was written.
        """
        session, known = self._session, self.on_disk
        if known is not None:
            self.adjustments.rebase(going_on(known.chat, read.chat))
            self.on_disk = replace(known, chat=read.chat, controls=read.controls, basis=read.basis)
        if alike:
            session.project = project
            session.state_changed.emit()
        else:
            session.set_project(project, renewed=tr("The chat went on after this run."))

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self, project: Project, parts: Parts, title: str) -> None:
        self._read_by(project, parts.settings, lambda read: self._show_read(parts, title, read))

    def _read_by(self, project: Project, settings: DeepLoreSettings, then: Callable[[Project], None]) -> None:
        """Go on with the project by these settings, its vaults read again where they say how."""
        session = self._session
        if project.reads_alike(settings):
            then(replace(project, settings=settings))
            return

        def done(read: Project) -> None:
            now = session.project
            if now is not None and now.places == project.places:
                then(replace(now, settings=settings).with_index_of(read))
                self._read_otherwise()

        title = tr("Reading the vault with other settings")
        session.jobs.start(title, lambda _report: project.with_settings(settings), done=done, failed=session.fail)

    def _show_read(self, parts: Parts, title: str, project: Project) -> None:
        session = self._session
        changed = replace(
            project, controls=parts.controls, behaviour=parts.behaviour, chat=parts.chat, basis=parts.basis,
        )  # fmt: skip
        if parts.basis != project.basis and project.chat_path is not None:
            self._keep_basis(project.chat_path, parts.basis)
        own = RunChoice.of(changed)
        session.choices.save(chat_id(changed), replace(session.choice, mode=own.mode, fixed=own.fixed))
        why = tr("This run is from before the change “{title}”.", title=title)
        session.set_project(changed, renewed=why)

    def _keep_basis(self, chat: Path, basis: KeptBasis) -> None:
        """Keep what was said about a chat beside its file; where that fails, and for the demo that comes with the
        program, it holds while the window is open.
        """
        if chat.is_relative_to(resource("demo")):
            return
        self._session.jobs.start(
            tr("Keeping what the answers rest on"),
            lambda _report: keep_basis(basis_path(chat), basis),
            failed=lambda error: self._session.notice.emit(Notice(sentence_of(error), "warning", key="basis")),
        )
