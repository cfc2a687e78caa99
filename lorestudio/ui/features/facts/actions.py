"""What can be done with the memories of fact memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from lorestudio.domain.texts import shorten
from lorestudio.studio.project.answering import AnswerKind
from lorestudio.systems.facts import NAME, SOURCE
from lorestudio.trace.journey import FOREIGN_IDS
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.facts.extraction import FAILED, STOPPED, UNREAD, ExtractionWish, MemoryWork
from lorestudio.ui.features.facts.store import MemoryStore
from lorestudio.ui.features.trace.actions import TraceFeature
from lorestudio.ui.shell.actions import Action, Need, Where
from lorestudio.ui.shell.feature import Context, Feature, Leave, late_pane
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.state.choices import short_source
from lorestudio.ui.state.traces import FiringCounts
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.systems.facts.picture import MemoryRow
    from lorestudio.systems.facts.system import FactsSystem
    from lorestudio.ui.features.facts.pane import MemoriesPane, MemoryPage

MENU: Final = "Chat/Memories"
ONE: Final = "Chat/Chosen memory"
"""Where the actions stand in the menus."""

_USED: Final = {MENU, ONE, "pane.memories"}
"""What stands in the menus once the pane was seen, or fact memory was chosen."""

ROW_MENU: Final = (
    "memories.edit", "memories.pin", "memories.delete", "memories.messages", "memories.origin", "memories.in_run",
    "memories.similar", "memories.copy", "memories.copy_all", "memories.undo",
)  # fmt: skip
"""The menu on a memory."""


class MemoriesFeature(Feature):
    """Owns the pane, the memories that are known, and the work of drawing facts out."""

    view_keys: ClassVar = {
        "in the memories": (("Write the memory", "Return"), ("From the field above to the list", "Down"))
    }

    def __init__(
        self, context: Context, chat: ChatPane, trace: TraceFeature, open_settings: Callable[[str], object]
    ) -> None:
        super().__init__(context)
        self._chat, self._open_settings = chat, open_settings
        self.store = MemoryStore(context.session, self)
        self.work = MemoryWork(self.store, self)
        self._goal = ""
        trace.openers.append(self._opener)

    @late_pane("memories", "Memories")
    def pane(self) -> MemoriesPane:
        """The memories, and the work of drawing facts out."""
        from lorestudio.ui.features.facts.pane import MemoriesPane

        context, store, pane = self.context, self.store, MemoriesPane(self.context.theme, self.home("memories"))
        context.commands.attach({Where.MEMORIES: (pane.memories.view,)})
        pane.use_actions(context.commands)
        for told, looks in ((pane.looked_at, True), (pane.looked_away, False)):
            told.connect(partial(store.look, wanted=looks))
            told.connect(partial(context.use, _USED))
        pane.again.connect(store.renew)
        pane.passages.wanted.connect(lambda key, again: self.extract(ExtractionWish(again, key)))
        pane.passages.jump.connect(self._jump)
        self._connect_page(pane.memories)
        return pane

    def _connect_page(self, page: MemoryPage) -> None:
        context, store, detail = self.context, self.store, page.detail
        context.session.traces_changed.connect(lambda _all: self._show_row(page.current))
        context.session.traces_changed.connect(lambda _all: self._show_uses())
        context.selection.generation_changed.connect(lambda: self._show_row(page.current))
        page.bar.searched.connect(store.search)
        page.cleared.connect(store.drop_hits)
        page.bar.scoped.connect(lambda everything: store.show_everything(everything=everything))
        page.chosen.connect(self._show_row)
        page.view.offered = [self.context.action(name) for name in ROW_MENU]
        page.view.look = lambda _row: self.context.update_actions()
        detail.text.gone = lambda key: any(memory.id == key for each in store.deleted for memory in each)
        detail.written.connect(store.write)
        detail.tagged.connect(store.tag)
        detail.pinned.connect(lambda memory, on: store.pin(memory, pinned=on))
        detail.deleted.connect(partial(context.run, "memories.delete"))
        detail.past_wanted.connect(lambda memory: store.ask_past(memory, detail.show_past))
        detail.history.messages_wanted.connect(partial(context.run, "memories.messages"))
        detail.history.run_wanted.connect(partial(context.run, "memories.in_run"))
        detail.history.picked.connect(page.choose)

    def pane_made(self, _name: str) -> None:
        """Show what is known."""
        self._show()
        self._show_hits()
        self._show_uses()

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        store, work = self.store, self.work
        row = Need(lambda: self._row is not None, "Choose a memory in the pane Memories first.")
        known = self.context.has_chat.also(
            lambda: store.chat_known, "Save the chat first: only then is it known again which memories are of it."
        ).also(lambda: not work.busy, "Facts are being drawn out already: wait for them, or stop that first.")
        of_row = partial(Action, where=Where.MEMORIES, when=row)

        def with_row(do: Callable[[MemoryRow], object]) -> Callable[[], object]:
            return lambda: do(found) if (found := self._row) is not None else None

        return (
            Action(
                "memories.extract", "Draw out facts", MENU, 820, self.extract, when=known, icon="play",
                tip="Read the passages of the chat that wait, and keep their facts as memories",
            ),
            Action(
                "memories.stop", "Stop drawing out facts", MENU, 821, work.stop, icon="stop",
                when=Need(lambda: work.busy and not work.under.stopping, "Nothing is under way."),
                tip="Stop; what is kept already stays",
            ),
            Action(
                "memories.again", "Read the whole chat again…", MENU, 822, self._ask_again, when=known,
                tip="Also the passages whose facts are kept already",
            ),
            Action(
                "memories.refresh", "Refresh vectors", MENU, 823, work.refresh, icon="reload",
                when=Need(self._can_refresh, "All vectors are those of the chosen model, or work is under way."),
                tip="Make the vectors anew that another model has made, or none",
            ),
            Action(
                "memories.search", "Search memories by meaning", MENU, 920, self._open_search, icon="search",
                tip="Type what the memories should be about; the most similar ones come first",
            ),
            of_row("memories.similar", "Find memories like this one", ONE, 921, with_row(self._find_similar), ("S",)),
            Action(
                "memories.edit", "Edit the memory", ONE, 1020, with_row(lambda _row: self.pane.memories.detail.edit()),
                when=row, icon="pencil", tip="Write its text; Enter in the list does so, too",
            ),
            of_row(
                "memories.pin", "Pin the memory", ONE, 1021,
                with_row(lambda row: store.pin(row.memory, pinned=not row.memory.pinned)), ("P",), icon="star",
                tip="Pinned memories go into every prompt", text=self._pin_words,
            ),
            of_row(
                "memories.delete", "Delete the memory", ONE, 1022, with_row(lambda row: store.delete([row.memory])),
                ("Del",), icon="trash", tip="It can be taken back",
            ),
            Action(
                "memories.undo", "Take the deletion back", ONE, 1023, store.undo, ("Ctrl+Z",), Where.MEMORIES,
                Need(lambda: bool(store.deleted), "No memory was deleted in this window."), "undo",
            ),
            Action(
                "memories.messages", "Show the messages it came from", ONE, 1120, with_row(self._show_messages), ("M",),
                Where.MEMORIES,
                row.also(lambda: self._row is not None and self._row.own, "It came from another chat."), "chat",
            ),
            of_row(
                "memories.origin", "Show where the memory came from", ONE, 1121,
                with_row(lambda _row: self.pane.memories.detail.show_origin()), ("O",),
            ),
            Action(
                "memories.in_run", "Show the memory in the run", ONE, 1122, with_row(self._show_in_run), ("T",),
                Where.MEMORIES, row.also(
                    lambda: (found := self._row) is not None and self._place_in_run(found) is not None,
                    "Choose a reply that fact memory was run for.",
                ), "trace", "What fact memory did with it before the reply that you look at",
            ),
            of_row("memories.copy", "Copy the memory", ONE, 1220, with_row(self._copy), ("Ctrl+C",), icon="copy"),
            Action(
                "memories.copy_all", "Copy all listed memories", MENU, 1221, self._copy_all, tip="As a Markdown table",
                when=Need(
                    lambda: self.is_made("memories") and bool(self.pane.memories.model.rows),
                    "The pane Memories lists none at the moment.",
                ),
            ),
            Action("memories.reload", "Read the memories again", MENU, 1222, store.renew, icon="reload"),
            Action(
                "memories.settings", "Settings of fact memory…", MENU, 1320, partial(self._open_settings, NAME),
                icon="switches",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Follow what is shown."""
        context, store = self.context, self.store
        store.changed.connect(self._show)
        store.hits_changed.connect(self._show_hits)
        store.altered.connect(partial(context.session.replays.system_changed, NAME))
        self.work.changed.connect(self._show_work)
        self.work.changed.connect(lambda: context.bars.drop(STOPPED) if self.work.busy else None)
        self.work.cleared.connect(lambda: context.bars.drop(FAILED))
        self.work.cleared.connect(lambda: context.bars.drop(UNREAD))
        self.work.cost_known.connect(lambda cost: cost.ask(context.window))
        context.session.choice_changed.connect(self._show_work)
        context.session.choice_changed.connect(
            lambda: context.use(_USED) if context.session.choice.system == NAME else None
        )
        context.session.project_changed.connect(self._show)

    def ask_before_closing(self, close: Leave) -> bool:
        """Ask before texts that are not kept are given up."""
        return self.is_made("memories") and self.pane.ask_before_leaving(close)

    def stop(self) -> None:
        """The window is closed."""
        self.work.stop()
        self.store.stop()

    @property
    def _row(self) -> MemoryRow | None:
        return self.pane.memories.current if self.is_made("memories") else None

    def _can_refresh(self) -> bool:
        picture = self.store.picture
        return not self.work.busy and picture is not None and picture.stale > 0

    def _pin_words(self) -> str:
        row = self._row
        return tr("Unpin the memory") if row is not None and row.memory.pinned else tr("Pin the memory")

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def extract(self, wish: ExtractionWish | None = None) -> None:
        """Draw out what waits, where the chat can be told from others; else the pane says what to do."""
        if self.store.chat_known:
            self.work.extract(wish)
        else:
            self.context.show("memories")

    def show_memory(self, memory: str) -> None:
        """Show a memory in the pane, whichever chat's memories are listed."""
        self._goal = memory
        self.context.show("memories")
        self.pane.tabs.setCurrentWidget(self.pane.memories)
        self._reach_goal()

    def _reach_goal(self) -> None:
        store, page = self.store, self.pane.memories
        if not self._goal or store.picture is None:
            return
        if page.choose(self._goal):
            self._goal = ""
            page.view.setFocus()
        elif not store.everything and not store.picture.everything:
            store.show_everything(everything=True)
        elif store.idle:
            self._goal = ""
            self.context.flash(tr("This memory was deleted since the run."))

    def _ask_again(self) -> None:
        text = tr("Every passage of the chat is read again, also those whose facts are kept.")
        more = tr("Facts that are known already stay as they are; deleted ones come back where they are found again.")
        dialogs.confirm(
            self.context.window, tr("Read the whole chat again"), text, tr("Read again"),
            lambda: self.extract(ExtractionWish(again=True)), more,
        )  # fmt: skip

    def _open_search(self) -> None:
        self.context.show("memories")
        self.pane.open_search()

    def _find_similar(self, row: MemoryRow) -> None:
        self.pane.memories.bar.write(shorten(row.memory.content, 300))
        self.store.search(row.memory.content)

    def _show_messages(self, row: MemoryRow) -> None:
        if row.own and row.memory.origin.first is not None:
            self._jump(row.memory.origin.first)

    def _jump(self, message: int) -> None:
        self.context.show("chat")
        self._chat.choose(message)

    def _show_in_run(self, row: MemoryRow) -> None:
        place = self._place_in_run(row)
        if place is not None:
            self.context.selection.choose_entry(place)
            self.context.show("trace")

    def _opener(self) -> Callable[[], object] | None:
        """What opens the row that is chosen in the trace, None where it is no memory."""
        memory = self._memory_in_trace()
        return partial(self.show_memory, memory) if memory else None

    def _copy(self, row: MemoryRow) -> None:
        self.context.copy(row.memory.content, tr("The memory was copied."))

    def _copy_all(self) -> None:
        from lorestudio.ui.features.facts.table import as_markdown

        rows = self.pane.memories.model.rows

        said = tr("{memories} copied.", memories=count(len(rows), "memory was", "memories were"))
        self.context.session.jobs.start(
            tr("Copying memories"),
            lambda _report: as_markdown(rows),
            done=lambda text: self.context.copy(text, said),
            failed=self.context.failing("memories"),
        )

    # ---- the run that is looked at ----------------------------------------------------------------------------------

    def _place_in_run(self, row: MemoryRow) -> int | None:
        """The number of a memory in the run that is looked at, None where the run says nothing of it."""
        trace = self.context.session.runs.trace(self.context.selection.generation)
        if trace is None or trace.system != NAME:
            return None
        return next((place for place, ref in trace.entries.items() if ref.filename == row.id), None)

    def _memory_in_trace(self) -> str:
        """The id of the memory that is chosen in the trace, "" where none is."""
        selection = self.context.selection
        trace = self.context.session.runs.trace(selection.generation)
        if trace is None or trace.system != NAME or selection.entry is None:
            return ""
        ref = trace.entries.get(selection.entry)
        return ref.filename if ref is not None and ref.vault == SOURCE else ""

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        if not self.is_made("memories"):
            return
        store = self.store
        self.pane.show_picture(
            store.picture, store.problem, chat=store.place.chat is not None, chat_known=store.chat_known
        )
        self._show_work()
        self._reach_goal()

    def _show_hits(self) -> None:
        if not self.is_made("memories"):
            return
        self.pane.memories.show_hits(self.store.hits, self.store.searching)
        self.pane.note_changed.emit(self.pane.memories.note())

    def _show_uses(self) -> None:
        """Count in how many replies of the run memories went; while one is under way, what was shown stays."""
        runs = self.context.session.runs
        if runs.replaying or not self.is_made("memories"):
            return
        simulator, uses = runs.finished(), None
        if simulator is not None and simulator.traces and simulator.system.name == NAME:
            counts, memories = FiringCounts(), cast("FactsSystem", simulator.system).known.memories
            counts.take(simulator.traces, None)
            # Memories are no notes of the vault, so their places in a trace are raised.
            uses = {memories[place % FOREIGN_IDS].id: replies for place, replies in counts.injected().items()}
        self.pane.memories.show_uses(uses)

    def _show_row(self, row: MemoryRow | None) -> None:
        in_run = row is not None and self._place_in_run(row) is not None
        self.pane.memories.detail.show_row(row, in_run=in_run)
        self.pane.note_changed.emit(self.pane.memories.note())
        self.context.actions_changed()

    def _show_work(self) -> None:
        if self.is_made("memories"):
            from lorestudio.ui.features.facts.table import spoken_source

            source = self.work.source
            self.pane.show_work(
                self.work.under, self._idle_words(), short_source(source, tr("Plain rules")), spoken_source(source),
                quotes=source.kind is AnswerKind.STAND_IN,
            )  # fmt: skip
        self.context.actions_changed()

    def _idle_words(self) -> str:
        picture = self.store.picture
        if picture is None or not self.store.chat_known:
            return ""
        failed = sum(bool(row.failures) for row in picture.passages)
        if not picture.waiting:
            return tr("The facts of this chat are kept.") if picture.passages else ""
        text = tr("{waits} to be read.", waits=count(picture.waiting, "passage waits", "passages wait"))
        if not failed:
            return text
        return f"{text} {tr('{failed} failed before: see Passages.', failed=number(failed))}"
