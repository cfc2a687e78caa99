"""What the window does with memories: the pane and the handlers behind its actions, mounted by the main window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from lorestudio.systems.facts.picture import MemoryRow
from lorestudio.systems.facts.system import SOURCE
from lorestudio.ui.features.facts.extraction import MemoryCost, MemoryWork
from lorestudio.ui.features.facts.extraction_worker import FAILED, Wish
from lorestudio.ui.features.facts.pane import ROW_MENU, MemoriesPane
from lorestudio.ui.features.facts.store import SYSTEM, MemoryDesk
from lorestudio.ui.features.facts.table import as_markdown, short_source, spoken_source
from lorestudio.ui.shell.command_group import CommandGroup
from lorestudio.ui.shell.words import Notice, count, number, sentence_of, shorten, tr
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


class MemoryCommands(CommandGroup):
    """Owns the pane, the desk that knows the memories, and the work of drawing facts out."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.pane = MemoriesPane(window.theme)
        self.desk = MemoryDesk(window.session, self)
        self.work = MemoryWork(self.desk, self)
        self._goal = ""

    @property
    def panes(self) -> tuple[MemoriesPane]:
        """The pane, hidden at first."""
        return (self.pane,)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        page, desk = self.pane.memories, self.desk
        return {
            "memories.extract": self.extract,
            "memories.stop": self.work.stop,
            "memories.again": self._ask_again,
            "memories.refresh": self.work.refresh,
            "memories.search": self._open_search,
            "memories.similar": lambda: self._with_row(self._find_similar),
            "memories.edit": lambda: self._with_row(lambda _row: page.detail.edit()),
            "memories.pin": lambda: self._with_row(lambda row: desk.pin(row.memory, pinned=not row.memory.pinned)),
            "memories.delete": lambda: self._with_row(lambda row: desk.delete([row.memory])),
            "memories.undo": desk.undo,
            "memories.messages": lambda: self._with_row(self._show_messages),
            "memories.origin": lambda: self._with_row(lambda _row: page.detail.show_origin()),
            "memories.in_run": lambda: self._with_row(self._show_in_run),
            "memories.copy": lambda: self._with_row(self._copy),
            "memories.copy_all": self._copy_all,
            "memories.reload": desk.renew,
            "memories.settings": partial(self._window.systems.open_settings, SYSTEM),
            "trace.entry": self._open_entry,
        }

    def connect_window(self) -> None:
        """Follow what is shown; call it once the window has its actions."""
        window, desk, pane, page = self._window, self.desk, self.pane, self.pane.memories
        pane.use_actions(window.commands.actions)
        pane.wanted.connect(window.run)
        pane.seen.connect(lambda looks: desk.look(wanted=looks))
        pane.again.connect(desk.renew)
        desk.changed.connect(self._show)
        desk.hits_changed.connect(self._show_hits)
        desk.told.connect(window.say)
        desk.altered.connect(partial(window.session.replays.system_changed, SYSTEM))
        self.work.changed.connect(self._show_work)
        self.work.told.connect(window.say)
        self.work.cleared.connect(lambda: window.bars.drop(FAILED))
        self.work.cost_known.connect(self._ask_cost)
        window.session.choice_changed.connect(self._show_work)
        window.session.project_changed.connect(self._show)
        window.session.traces_changed.connect(lambda _all: self._show_row(page.current))
        window.selection.generation_changed.connect(lambda: self._show_row(page.current))
        page.searched.connect(desk.search)
        page.cleared.connect(desk.drop_hits)
        page.scoped.connect(lambda everything: desk.show_everything(everything=everything))
        page.chosen.connect(self._show_row)
        page.menu_wanted.connect(self._show_menu)
        detail = page.detail
        detail.written.connect(desk.write)
        detail.tagged.connect(desk.tag)
        detail.pinned.connect(lambda memory, on: desk.pin(memory, pinned=on))
        detail.deleted.connect(partial(window.run, "memories.delete"))
        detail.past_wanted.connect(lambda memory: desk.ask_past(memory, detail.show_past))
        detail.history.messages_wanted.connect(partial(window.run, "memories.messages"))
        detail.history.run_wanted.connect(partial(window.run, "memories.in_run"))
        detail.history.picked.connect(page.choose)
        pane.passages.wanted.connect(lambda key: self.extract(Wish(only=key)))
        pane.passages.jump.connect(self._jump)
        self._show()
        self._show_work()

    def update(self, actions: dict[str, QAction]) -> None:
        """Enable what makes sense now."""
        desk, picture, row = self.desk, self.desk.picture, self.pane.memories.current
        idle = not self.work.busy
        enabled = {
            "memories.extract": idle and desk.chat_known,
            "memories.stop": not idle and not self.work.under.stopping,
            "memories.again": idle and desk.chat_known,
            "memories.refresh": idle and picture is not None and picture.stale > 0,
            "memories.copy_all": bool(self.pane.memories.model.rows),
            "memories.undo": bool(desk.deleted),
            "memories.messages": row is not None and row.own,
            "memories.in_run": row is not None and self._place_in_run(row) is not None,
        }
        for name in ("similar", "edit", "pin", "delete", "origin", "copy"):
            enabled[f"memories.{name}"] = row is not None
        for name, on in enabled.items():
            actions[name].setEnabled(on)
        pinned = row is not None and bool(row.memory.pinned)
        actions["memories.pin"].setText(tr("Unpin the memory") if pinned else tr("Pin the memory"))
        if self._memory_in_trace():
            actions["trace.entry"].setEnabled(True)

    def stop(self) -> None:
        """The window is closed."""
        self.work.stop()
        self.desk.stop()

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def extract(self, wish: Wish | None = None) -> None:
        """Draw out what waits, where the chat can be told from others; else the pane says what to do."""
        if self.desk.chat_known:
            self.work.extract(wish)
        else:
            self._window.show_pane("memories")

    def show_memory(self, memory: str) -> None:
        """Show a memory in the pane, whichever chat's memories are listed."""
        self._goal = memory
        self._window.show_pane("memories")
        self.pane.tabs.setCurrentWidget(self.pane.memories)
        self._reach_goal()

    def _reach_goal(self) -> None:
        desk, page = self.desk, self.pane.memories
        if not self._goal or desk.picture is None:
            return
        if page.choose(self._goal):
            self._goal = ""
            page.view.setFocus()
        elif not desk.everything and not desk.picture.everything:
            desk.show_everything(everything=True)
        elif desk.idle:
            self._goal = ""
            self._window.status.flash(tr("This memory was deleted since the run."))

    def _ask_again(self) -> None:
        text = tr("Every passage of the chat is read again, also those whose facts are kept.")
        more = tr("Facts that are known already stay as they are; deleted ones come back where they are found again.")
        dialogs.confirm(
            self._window, tr("Read the whole chat again"), text, tr("Read again"),
            lambda: self.extract(Wish(again=True)), more,
        )  # fmt: skip

    def _open_search(self) -> None:
        self._window.show_pane("memories")
        self.pane.open_search()

    def _find_similar(self, row: MemoryRow) -> None:
        self.pane.memories.bar.write(shorten(row.memory.content, 300))
        self.desk.search(row.memory.content)

    def _show_messages(self, row: MemoryRow) -> None:
        if row.own and row.memory.origin.first is not None:
            self._jump(row.memory.origin.first)

    def _jump(self, message: int) -> None:
        self._window.show_pane("chat")
        self._window.chat.choose(message)

    def _show_in_run(self, row: MemoryRow) -> None:
        place = self._place_in_run(row)
        if place is not None:
            self._window.selection.choose_entry(place)
            self._window.show_pane("trace")

    def _open_entry(self) -> None:
        memory = self._memory_in_trace()
        if memory:
            self.show_memory(memory)
        else:
            self._window.show_pane("entry")

    def _copy(self, row: MemoryRow) -> None:
        QGuiApplication.clipboard().setText(row.memory.content)
        self._window.status.flash(tr("The memory was copied."))

    def _copy_all(self) -> None:
        rows = self.pane.memories.model.rows

        def done(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            amount = count(len(rows), "memory was", "memories were")
            self._window.status.flash(tr("{memories} copied.", memories=amount))

        def failed(error: Exception) -> None:
            self._window.say(Notice(sentence_of(error), "error", key="memories"))

        title = tr("Copying memories")
        self._window.session.jobs.start(title, lambda _report: as_markdown(rows), done=done, failed=failed)

    def _with_row(self, do: Callable[[MemoryRow], object]) -> None:
        row = self.pane.memories.current
        if row is not None:
            do(row)

    def _show_menu(self, where: QPoint) -> None:
        if self.pane.memories.current is None:
            return
        self._window.update_actions()
        menu = QMenu(self.pane)
        for name in ROW_MENU:
            if name:
                menu.addAction(self._window.commands.actions[name])
            else:
                menu.addSeparator()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(where)

    def _ask_cost(self, cost: object) -> None:
        if not isinstance(cost, MemoryCost):
            return
        dialogs.ask_model(self._window, cost.name, cost.sentence, cost.more, lambda yes: cost.go() if yes else None)

    # ---- the run that is looked at ----------------------------------------------------------------------------------

    def _place_in_run(self, row: MemoryRow) -> int | None:
        """The number of a memory in the run that is looked at, None where the run says nothing of it."""
        trace = self._window.session.runs.trace(self._window.selection.generation)
        if trace is None or trace.system != SYSTEM:
            return None
        return next((place for place, ref in trace.entries.items() if ref.filename == row.id), None)

    def _memory_in_trace(self) -> str:
        """The id of the memory that is chosen in the trace, "" where none is."""
        selection = self._window.selection
        trace = self._window.session.runs.trace(selection.generation)
        if trace is None or trace.system != SYSTEM or selection.entry is None:
            return ""
        ref = trace.entries.get(selection.entry)
        return ref.filename if ref is not None and ref.vault == SOURCE else ""

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        desk = self.desk
        self.pane.show_picture(desk.picture, desk.problem, chat=desk.place.chat is not None, chat_known=desk.chat_known)
        self._show_work()
        self._reach_goal()

    def _show_hits(self) -> None:
        self.pane.memories.show_hits(self.desk.hits, self.desk.searching)
        self.pane.note_changed.emit(self.pane.memories.note())

    def _show_row(self, row: object) -> None:
        there = row if isinstance(row, MemoryRow) else None
        in_run = there is not None and self._place_in_run(there) is not None
        self.pane.memories.detail.show_row(there, in_run=in_run)
        self.pane.note_changed.emit(self.pane.memories.note())
        self._window.update_actions()

    def _show_work(self) -> None:
        source = self.work.source
        self.pane.show_work(self.work.under, self._idle_words(), short_source(source), spoken_source(source))
        self._window.update_actions()

    def _idle_words(self) -> str:
        picture = self.desk.picture
        if picture is None or not self.desk.chat_known:
            return ""
        failed = sum(bool(row.failures) for row in picture.passages)
        if not picture.waiting:
            return tr("The facts of this chat are kept.") if picture.passages else ""
        text = tr("{waits} to be read.", waits=count(picture.waiting, "passage waits", "passages wait"))
        if not failed:
            return text
        return f"{text} {tr('{failed} failed before: see Passages.', failed=number(failed))}"
