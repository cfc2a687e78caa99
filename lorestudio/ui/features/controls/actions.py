"""What is chosen for the chat, in the window: the bar above the chat, its actions, presets and the test bench.

The actions of what is chosen for a chat: pins, blocks, folder filter, context, notes, character, presets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QCursor
from PySide6.QtWidgets import QMenu, QToolButton

from lorestudio.domain.entry import Entry
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.studio.chat.controls import ControlsPart, has_rule, toggled, unusable
from lorestudio.studio.chat.presets import PresetFolder
from lorestudio.studio.tryout.control_trials import Change
from lorestudio.ui.features.bench.pane import BenchPane
from lorestudio.ui.features.controls.bar import ControlBar
from lorestudio.ui.features.controls.chat_dialogs import ChatTextDialog
from lorestudio.ui.features.controls.chips import (
    CHANGED,
    UNUSABLE,
    ControlChip,
    EffectWatch,
    Key,
    VaultFacts,
    control_chips,
    removals,
)
from lorestudio.ui.features.controls.pickers import ControlPickers
from lorestudio.ui.features.controls.presets import PresetWork
from lorestudio.ui.shell import layout
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.command_group import CommandGroup, Situation
from lorestudio.ui.shell.words import count, shorten, tr
from lorestudio.ui.widgets import dialogs

if TYPE_CHECKING:
    from lorestudio.ui.shell.main_window import MainWindow


def _project(now: Situation) -> bool:
    return now.project


def _entry(now: Situation) -> bool:
    return now.entry


CONTROL_ACTIONS: Final[tuple[Action, ...]] = (
    Action(
        "controls.pin",
        "Pin in this chat",
        "Chat",
        ("Ctrl+Alt+P",),
        enabled_when=_entry,
        icon="star",
        tip="Pin the chosen entry, so that it always goes in in this chat; or free it",
        checkable=True,
        separator_before=True,
    ),
    Action(
        "controls.block",
        "Block in this chat",
        "Chat",
        ("Ctrl+Alt+B",),
        enabled_when=_entry,
        icon="slash",
        tip="Block the chosen entry, so that it never goes in in this chat; or free it",
        checkable=True,
    ),
    Action("controls.add_pin", "Pin an entry…", "Chat", enabled_when=_project, icon="star"),
    Action("controls.add_block", "Block an entry…", "Chat", enabled_when=_project, icon="slash"),
    Action(
        "controls.context",
        "Set the context…",
        "Chat",
        ("Ctrl+Alt+C",),
        enabled_when=_project,
        icon="gate",
        tip="Set era, location, scene or another field, with the values found in the vault",
        separator_before=True,
    ),
    Action(
        "controls.folder",
        "Filter by folder…",
        "Chat",
        ("Ctrl+Alt+F",),
        enabled_when=_project,
        icon="folder",
        tip="Use only entries of some folders in this chat",
    ),
    Action(
        "controls.notebook",
        "Author's Notebook…",
        "Chat",
        ("Ctrl+Alt+N",),
        enabled_when=_project,
        icon="pencil",
        tip="Your own text for this chat that goes into every prompt",
        separator_before=True,
    ),
    Action(
        "controls.notepad",
        "AI Notepad…",
        "Chat",
        enabled_when=_project,
        icon="ai",
        tip="The notes that the writing model keeps in this chat",
    ),
    Action(
        "controls.character",
        "Active character…",
        "Chat",
        enabled_when=_project,
        icon="chat",
        tip="Whose entry comes in by itself where “Match the active character” is on",
    ),
    Action(
        "presets.apply",
        "Apply a scenario preset…",
        "Chat",
        ("Ctrl+Alt+R",),
        enabled_when=_project,
        icon="list",
        separator_before=True,
    ),
    Action("presets.save", "Save as a scenario preset…", "Chat", enabled_when=_project, icon="save"),
    Action("presets.manage", "Scenario presets…", "Chat", enabled_when=_project),
    Action(
        "controls.focus",
        "Go to the choices above the chat",
        "Chat",
        ("Ctrl+Alt+K",),
        enabled_when=_project,
        tip="Arrow keys walk through them, Delete removes one, Enter changes it",
        separator_before=True,
    ),
    Action(
        "controls.file",
        "Back to the choices of the chat's file",
        "Chat",
        enabled_when=_project,
        icon="undo",
        tip="Take what was chosen here back to what the chat's file has",
    ),
)
"""Saving the choices into the chat's file is the action `chat.save`, which belongs to whoever writes chats."""


ADD: Final = (
    "controls.add_pin", "controls.add_block", "", "controls.context", "controls.folder", "", "controls.notebook",
    "controls.notepad", "controls.character",
)  # fmt: skip
"""What the “+” offers; "" is a line."""

SAVE: Final = "chat.save"
"""The action that writes a chat's file, where the window has one."""


class ControlCommands(CommandGroup):
    """Owns the bar, the presets and the bench. Every change goes through `ProjectParts.adjust` and can be undone."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        session, selection = window.session, window.selection
        self._facts: VaultFacts | None = None
        self._chips: tuple[ControlChip, ...] = ()
        self.bar = ControlBar(window.theme, window.chat)
        self.watch = EffectWatch(session, selection, self._removals, self)
        self.pickers = ControlPickers(window, self.watch, self._adjust)
        self.presets = PresetWork(window, PresetFolder(session.connections.path.parent / "presets"), self)
        self.bench = BenchPane(window.theme, session, selection)
        self.bench.opened.connect(partial(window.show_pane, "entry"))

    @property
    def panes(self) -> tuple[BenchPane]:
        """The pane that is hidden at first."""
        return (self.bench,)

    def handlers(self) -> dict[str, Callable[[], object]]:
        """What each action does."""
        return {
            "controls.pin": partial(self.toggle, ControlsPart.PINS),
            "controls.block": partial(self.toggle, ControlsPart.BLOCKS),
            "controls.add_pin": partial(self.add_rule, ControlsPart.PINS),
            "controls.add_block": partial(self.add_rule, ControlsPart.BLOCKS),
            "controls.context": self.choose_context,
            "controls.folder": self.choose_folder,
            "controls.notebook": partial(self.edit_text, ControlsPart.NOTEBOOK),
            "controls.notepad": partial(self.edit_text, ControlsPart.NOTEPAD),
            "controls.character": self.choose_character,
            "controls.focus": self.focus_bar,
            "controls.file": self.back_to_file,
            "presets.apply": self.presets.ask_apply,
            "presets.save": self.presets.ask_save,
            "presets.manage": self.presets.manage,
        }

    def connect_window(self) -> None:
        """Take the place above the chat, and follow what is shown; call it once the window has its actions."""
        window, session = self._window, self._window.session
        actions = window.commands.actions
        column = window.chat.column
        column.insertWidget(column.indexOf(window.chat.modes) + 1, self.bar)
        for name in ADD:
            if name:
                self.bar.add.menu().addAction(actions[name])
            else:
                self.bar.add.menu().addSeparator()
        self.presets.fill(self.bar.presets.menu())
        self.presets.load()
        pin, block = actions["controls.pin"], actions["controls.block"]
        for view in (window.vault.tree, window.vault.table, window.trace.journey):
            separator = QAction(view)
            separator.setSeparator(True)
            view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
            view.addActions([pin, block, separator])  # what else there is to do with a note comes below
        for action in (pin, block):
            button = QToolButton(window.why)
            button.setDefaultAction(action)
            window.why.add_button(button)
        self.bar.removed.connect(self._remove)
        self.bar.opened.connect(self._open)
        self.watch.changed.connect(self._show)
        window.vault.chosen_changed.connect(window.actions_changed)
        session.project_changed.connect(self._show)
        session.state_changed.connect(self._show)
        for watched in (window, window.chat):
            watched.installEventFilter(self)
        self._show()

    def update(self, actions: dict[str, QAction]) -> None:
        """Tick what is pinned or blocked."""
        project, entries = self._window.session.project, self.targets
        for name, part in (("controls.pin", ControlsPart.PINS), ("controls.block", ControlsPart.BLOCKS)):
            rules = getattr(project.controls, part.value) if project is not None else ()
            actions[name].setChecked(bool(entries) and all(has_rule(rules, entry) for entry in entries))
        actions["controls.file"].setEnabled(any(chip.key == CHANGED for chip in self._chips))

    def stop(self) -> None:
        """The window is closed."""
        self.watch.stop()
        self.bench.stop()

    @property
    def targets(self) -> list[Entry]:
        """The entries that pinning is about: those selected in the vault, else the one that is looked at."""
        return [note for note in self._window.vault_commands.targets if isinstance(note, Entry)]

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def toggle(self, part: ControlsPart, entries: list[Entry] | None = None) -> None:
        """Pin or block entries, or free them where all of them are pinned or blocked already."""
        project = self._window.session.project
        entries = self.targets if entries is None else entries
        if project is None or not entries:
            return
        pins = part is ControlsPart.PINS
        rules = project.controls.pins if pins else project.controls.blocks
        free = all(has_rule(rules, entry) for entry in entries)
        names = entries[0].title if len(entries) == 1 else count(len(entries), "entry", "entries")
        verb = (tr("unpin") if free else tr("pin")) if pins else (tr("unblock") if free else tr("block"))
        title = tr("{verb} {names}", verb=verb, names=shorten(names, 60))
        self._adjust(title, toggled(project.controls, part, entries, project.index))

    def add_rule(self, part: ControlsPart) -> None:
        """Ask for an entry to pin or block."""
        project = self._window.session.project
        if project is not None:
            self.pickers.entry(project, part, lambda entry: self.toggle(part, [entry]))

    def choose_context(self) -> None:
        """Ask for a field of the context, then for its value."""
        project, facts = self._window.session.project, self._facts
        if project is not None and facts is not None:
            self.pickers.field(project, facts)

    def choose_folder(self) -> None:
        """Ask for a folder."""
        project = self._window.session.project
        if project is not None:
            self.pickers.folder(project)

    def choose_character(self) -> None:
        """Ask for the active character."""
        project = self._window.session.project
        if project is not None:
            self.pickers.character(project)

    def edit_text(self, part: ControlsPart) -> None:
        """Edit the notebook or the notepad."""
        project = self._window.session.project
        if project is None:
            return
        dialog = ChatTextDialog(project, part, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(partial(self._take_text, part))
        dialog.open()

    def focus_bar(self) -> None:
        """Give the keyboard to the bar."""
        self._window.raise_pane("chat")
        self.bar.focus_chip()

    def back_to_file(self) -> None:
        """Choose what the chat's file says, as one step."""
        project, file = self._window.session.project, self._window.session.parts.on_disk
        if project is not None and file is not None:
            controls = replace(
                file.controls,
                character=project.controls.character,
                scribe_summary=project.controls.scribe_summary,
            )
            self._adjust(tr("back to the chat's file"), controls)

    # ---- following --------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: in a narrow window the bar keeps to one line."""
        if event.type() is QEvent.Type.Resize:
            self.bar.set_narrow(self._window.width() < layout.NARROW)
            self.bar.set_room(self._window.chat.height())
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        session = self._window.session
        project = session.project
        self.bar.setVisible(project is not None)
        if project is None:
            self._chips = ()
            return
        if self._facts is None or self._facts.index is not project.index:
            self._facts = VaultFacts(project)
        file = (
            session.parts.on_disk.controls if session.parts.on_disk is not None and project.chat is not None else None
        )
        chips = control_chips(project, self._facts, file, self.watch.effects)
        if [_shown(chip) for chip in chips] != [_shown(chip) for chip in self._chips]:
            self._chips = chips
            self.bar.set_chips(chips)
        self._chips = chips

    def _removals(self) -> dict[Key, Change]:
        """What the watch is to find out about, of the project as it is now."""
        self._show()
        return removals(self._chips)

    def _remove(self, key: object) -> None:
        chip = next((chip for chip in self._chips if chip.key == key), None)
        project = self._window.session.project
        if chip is not None and chip.change is not None and project is not None:
            self._adjust(chip.undo, chip.change(project.controls))

    def _open(self, key: object) -> None:
        """Change what a chip stands for, or go to its entry."""
        project = self._window.session.project
        if project is None or self._facts is None or not isinstance(key, tuple):
            return
        if key == UNUSABLE:
            text = "\n".join(unusable(project))
            dialogs.show_text(self._window, tr("In the chat's file and not usable"), text)
        elif key == CHANGED:
            self._changed_menu()
        elif key[0] in {ControlsPart.PINS, ControlsPart.BLOCKS}:
            entries = self._facts.fitting(EntryRule(key[1], key[2] or None))
            if entries:
                self._window.selection.choose_entry(entries[0].id)
        elif key[0] == ControlsPart.CONTEXT and key[1] in self._facts.fields:
            self.pickers.value(project, self._facts.fields[key[1]])
        elif key[0] == ControlsPart.CONTEXT:
            self.pickers.field(project, self._facts)
        else:
            does: dict[str, Callable[[], object]] = {
                ControlsPart.FOLDERS: self.choose_folder,
                ControlsPart.NOTEBOOK: partial(self.edit_text, ControlsPart.NOTEBOOK),
                ControlsPart.NOTEPAD: partial(self.edit_text, ControlsPart.NOTEPAD),
                ControlsPart.CHARACTER: self.choose_character,
            }
            does[key[0]]()

    def _changed_menu(self) -> None:
        actions = self._window.commands.actions
        menu = QMenu(self.bar)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in (SAVE, "controls.file", "adjust.undo"):
            if name in actions:
                menu.addAction(actions[name])
        chip = next((button for button in self.bar.chips if button.chip.key == CHANGED), None)
        menu.popup(chip.mapToGlobal(chip.rect().bottomLeft()) if chip is not None else QCursor.pos())

    def _take_text(self, part: ControlsPart, text: str, on: bool) -> None:
        project = self._window.session.project
        if project is None:
            return
        settings = project.settings
        if part is ControlsPart.NOTEBOOK:
            controls, name = replace(project.controls, notebook=text), "notebook_enabled"
        else:
            controls, name = replace(project.controls, notepad=text), "ai_notepad_enabled"
        if getattr(settings, name) != on:
            settings = settings.model_copy(update={name: on})
        title = tr("Author's Notebook") if part is ControlsPart.NOTEBOOK else tr("AI Notepad")
        self._window.session.parts.adjust(title, settings=settings, controls=controls)

    def _adjust(self, title: str, controls: ChatControls) -> None:
        self._window.session.parts.adjust(title, controls=controls)
        self._window.status.flash(tr("Done: {title}. Undo takes it back (Ctrl+Z in the chat).", title=title))


def _shown(chip: ControlChip) -> tuple[object, ...]:
    """What a person sees of a chip."""
    return chip.key, chip.icon, chip.text, chip.tip, chip.detail, chip.tone, chip.change is None
