"""What is chosen for a chat: pins, blocks, folder filter, context, notes, character and presets, above the chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import is_
from typing import ClassVar, Final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QToolButton

from lorestudio.domain.entry import Entry
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule, has_rule
from lorestudio.domain.texts import shorten
from lorestudio.studio.chat.controls import UNHEEDED, ControlsPart, PresetFolder, toggled, unusable
from lorestudio.studio.project.project import Project
from lorestudio.studio.tryout.control_trials import Change
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.controls.bar import ControlBar
from lorestudio.ui.features.controls.chips import (
    CHANGED,
    NOTE_SETTINGS,
    PART_WORDS,
    UNUSABLE,
    ControlChip,
    EffectWatch,
    Key,
    NotedNames,
    control_chips,
    removals,
    why_unheeded,
)
from lorestudio.ui.features.controls.pickers import ControlPickers
from lorestudio.ui.features.controls.presets import Presets
from lorestudio.ui.features.trace.pane import TracePane
from lorestudio.ui.features.vault.actions import VaultFeature
from lorestudio.ui.features.why_not.pane import WhyView
from lorestudio.ui.shell.actions import Action, Need
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.layout import NARROW
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.rows import passing_menu

MENU: Final = "Chat/Choices for this chat"
PRESETS: Final = "Chat/Scenario presets"
SAVING: Final = ("chat.save", "controls.file", "adjust.undo")
"""What can be done with choices that are not in the chat's file."""

FOREIGN: Final = "The chosen system does not heed it."

ADD: Final = (
    "controls.add_pin", "controls.add_block", "", "controls.context", "controls.folder", "", "controls.notebook",
    "controls.notepad", "controls.character",
)  # fmt: skip
"""What the “+” offers; "" is a line."""


class ControlsFeature(Feature):
    """Owns the bar and the presets. Every change goes through `ProjectParts.adjust` and can be undone."""

    view_keys: ClassVar = {
        "in the choices above the chat": (
            ("Go to the next or previous choice", "Right  Left"),
            ("Go to the first or last choice", "Home  End"),
            ("Take the choice away", "Del"),
            ("Change the choice, or go to its entry", "Return"),
        )
    }

    def __init__(self, context: Context, vault: VaultFeature, chat: ChatPane, trace: TracePane, why: WhyView) -> None:
        super().__init__(context)
        session = context.session
        self._vault, self._chat, self._trace, self._why = vault, chat, trace, why
        self._facts: NotedNames | None = None
        self._chips: tuple[ControlChip, ...] = ()
        self._seen: tuple[object, ...] = (self,) * 4  # what the chips are made of; at first nothing
        self.bar = ControlBar(context.theme, chat)
        self.watch = EffectWatch(session, context.selection, self._removals, self)
        self.pickers = ControlPickers(context, self.watch, self._adjust)
        folder = PresetFolder(session.connections.path.parent / "presets")
        self.presets = Presets(context, folder, self.bar.presets.menu())

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        now, presets, pins, blocks = self.context, self.presets, ControlsPart.PINS, ControlsPart.BLOCKS
        project, choosing = now.has_project, self._choosing
        of_project = partial(Action, when=project)
        return (
            Action(
                "controls.pin", "Pin in this chat", MENU, 400, partial(self.toggle, pins), ("Ctrl+Alt+P",),
                when=now.has_entry.also(partial(self._can_toggle, pins), FOREIGN), icon="star",
                ticked=partial(self._are_all, pins),
                off=partial(self._unheeded, pins),
                tip="Pin the chosen entry, so that it always goes in in this chat; or free it",
            ),
            Action(
                "controls.block", "Block in this chat", MENU, 405, partial(self.toggle, blocks), ("Ctrl+Alt+B",),
                when=now.has_entry.also(partial(self._can_toggle, blocks), FOREIGN), icon="slash",
                ticked=partial(self._are_all, blocks),
                off=partial(self._unheeded, blocks),
                tip="Block the chosen entry, so that it never goes in in this chat; or free it",
            ),
            Action(
                "controls.add_pin", "Pin an entry…", MENU, 410, choosing(partial(self._add_rule, pins)), icon="star",
                when=project.also(lambda: not self._unheeded(pins), FOREIGN), off=partial(self._unheeded, pins),
            ),
            Action(
                "controls.add_block", "Block an entry…", MENU, 415, choosing(partial(self._add_rule, blocks)),
                icon="slash",
                when=project.also(lambda: not self._unheeded(blocks), FOREIGN), off=partial(self._unheeded, blocks),
            ),
            Action(
                "controls.context", "Set the context…", MENU, 500, choosing(self._choose_context), ("Ctrl+Alt+C",),
                when=project.also(partial(self._can_choose, ControlsPart.CONTEXT), FOREIGN),
                off=partial(self._unheeded, ControlsPart.CONTEXT),
                icon="gate", tip="Set era, location, scene or another field, with the values found in the vault",
            ),
            Action(
                "controls.folder", "Filter by folder…", MENU, 505, choosing(self.pickers.folder), ("Ctrl+Alt+F",),
                when=project.also(partial(self._can_choose, ControlsPart.FOLDERS), FOREIGN),
                off=partial(self._unheeded, ControlsPart.FOLDERS),
                icon="folder", tip="Use only entries of some folders in this chat",
            ),
            of_project(
                "controls.notebook", "Author's Notebook…", MENU, 600,
                choosing(partial(self._edit_text, ControlsPart.NOTEBOOK)), ("Ctrl+Alt+N",), icon="pencil",
                tip="Your own text for this chat that goes into every prompt",
            ),
            of_project(
                "controls.notepad", "AI Notepad…", MENU, 605, choosing(partial(self._edit_text, ControlsPart.NOTEPAD)),
                icon="ai", tip="The notes that the writing model keeps in this chat",
            ),
            Action(
                "controls.character", "Active character…", MENU, 610, choosing(self.pickers.character),
                when=project.also(partial(self._can_choose, ControlsPart.CHARACTER), FOREIGN),
                off=partial(self._unheeded, ControlsPart.CHARACTER), icon="chat",
                tip="Whose entry comes in by itself where “Match the active character” is on",
            ),
            of_project(
                "presets.apply", "Apply a scenario preset…", PRESETS, 700, presets.ask_apply, ("Ctrl+Alt+R",),
                icon="list",
            ),
            of_project("presets.save", "Save as a scenario preset…", PRESETS, 705, presets.ask_save, icon="save"),
            of_project("presets.manage", "Scenario presets…", PRESETS, 710, presets.manage),
            of_project(
                "controls.focus", "Go to the choices above the chat", MENU, 800, self.focus_bar, ("Ctrl+Alt+K",),
                tip="Arrow keys walk through them, Delete removes one, Enter changes it",
            ),
            Action(
                "controls.file", "Back to the choices of the chat's file", MENU, 805, self.back_to_file, icon="undo",
                when=Need(
                    lambda: any(chip.key == CHANGED for chip in self._chips),
                    "What is chosen is what the chat's file has."
                ),
                tip="Take what was chosen here back to what the chat's file has",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Take the place above the chat, and follow what is shown."""
        context, chat, session = self.context, self._chat, self.context.session
        chat.fold_away(self.bar)
        context.commands.fill(self.bar.add.menu(), ADD)
        self.presets.load()
        pin, block = context.action("controls.pin"), context.action("controls.block")
        for view in (self._vault.pane.tree, self._vault.pane.table, self._trace.answers):
            view.addActions([pin, block])
        for dock in context.layout.docks.values():  # for the menus of their rows
            dock.addActions([pin, block])
        for action in (pin, block):
            button = QToolButton(self._why)
            button.setDefaultAction(action)
            self._why.add_button(button)
        self.bar.removed.connect(self._remove)
        self.bar.opened.connect(self._open)
        self.watch.changed.connect(self._show)
        session.project_changed.connect(self._show)
        session.state_changed.connect(self._show)
        session.choice_changed.connect(self._show)
        for watched in (context.window, chat):
            watched.installEventFilter(self)
        self._show()

    def _are_all(self, part: ControlsPart) -> bool:
        """Whether the entries that pinning is about are pinned, or blocked."""
        project = self.context.session.project
        rules = getattr(project.controls, part.value) if project is not None else ()
        entries = self.targets if rules else []  # thousands may be selected
        return bool(entries) and all(has_rule(rules, entry) for entry in entries)

    def _can_toggle(self, part: ControlsPart) -> bool:
        """Whether entries can be pinned or blocked; what counts for nothing can still be taken away."""
        return self.context.has_entry() and (self._are_all(part) or not self._unheeded(part))

    def _unheeded(self, part: ControlsPart) -> str:
        """Why a part of the choices counts for nothing, "" where it counts."""
        return why_unheeded(self.context.session.project, self.context.session.choice.system, part)

    def _can_choose(self, part: ControlsPart) -> bool:
        """Whether a part of the choices can be set; what counts for nothing can still be changed and taken away."""
        project = self.context.session.project
        return project is not None and (bool(getattr(project.controls, part.value)) or not self._unheeded(part))

    @property
    def targets(self) -> list[Entry]:
        """The entries that pinning is about: those selected in the vault, else the one that is looked at."""
        return [note for note in self._vault.targets if isinstance(note, Entry)]

    # ---- what the actions do ----------------------------------------------------------------------------------------

    def toggle(self, part: ControlsPart, entries: list[Entry] | None = None) -> None:
        """Pin or block entries, or free them where all of them are pinned or blocked already."""
        project = self.context.session.project
        entries = self.targets if entries is None else entries
        if project is None or not entries:
            return
        pins = part is ControlsPart.PINS
        rules = getattr(project.controls, part.value)
        free = all(has_rule(rules, entry) for entry in entries)
        names = entries[0].title if len(entries) == 1 else count(len(entries), "entry", "entries")
        verb = (tr("unpin") if free else tr("pin")) if pins else (tr("unblock") if free else tr("block"))
        title = tr("{verb} {names}", verb=verb, names=shorten(names, 60))
        self._adjust(title, toggled(project.controls, part, entries, project.index))

    def _add_rule(self, part: ControlsPart, project: Project) -> None:
        """Ask for an entry to pin or block."""
        self.pickers.entry(project, part, lambda entry: self.toggle(part, [entry]))

    def _choose_context(self, project: Project) -> None:
        """Ask for a field of the context, then for its value."""
        if self._facts is not None:
            self.pickers.field(project, self._facts)

    def _choosing(self, picker: Callable[[Project], object]) -> Callable[[], None]:
        """What asks for something of the project that is open."""

        def choose() -> None:
            if self.context.session.project is not None:
                picker(self.context.session.project)

        return choose

    def _edit_text(self, part: ControlsPart, project: Project) -> None:
        from lorestudio.ui.features.controls.chat_dialogs import ChatTextDialog

        dialog = ChatTextDialog(project, part, self._unheeded(part), self.context.window)
        dialog.saved.connect(partial(self._take_text, part))
        dialog.open()

    def focus_bar(self) -> None:
        """Give the keyboard to the bar."""
        self.context.uncover("chat")
        self._chat.run_line.setChecked(True)
        self.bar.focus_chip()

    def back_to_file(self) -> None:
        """Choose what the chat's file says, as one step."""
        project, file = self.context.session.project, self.context.session.parts.on_disk
        if project is not None and file is not None:
            controls = replace(
                file.controls, character=project.controls.character, scribe_summary=project.controls.scribe_summary
            )
            self._adjust(tr("back to the chat's file"), controls)

    # ---- following --------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: in a narrow window the bar keeps to one line."""
        if event.type() is QEvent.Type.Resize:
            self.bar.set_narrow(self.context.window.width() < NARROW)
            self.bar.set_room(self._chat.height())
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        session = self.context.session
        project = session.project
        seen, self._seen = self._seen, (project, session.parts.on_disk, self.watch.effects, session.choice)
        if all(map(is_, seen, self._seen)):
            return  # what else is told of happens a dozen times while a chat is opened
        self.bar.setVisible(project is not None)
        if project is None:
            self._chips = ()
            return
        if self._facts is None or self._facts.index is not project.index:
            self._facts = NotedNames(project)
        file = (
            session.parts.on_disk.controls if session.parts.on_disk is not None and project.chat is not None else None
        )
        unheeded = {part: self._unheeded(part) for part in UNHEEDED}
        chips = control_chips(project, self._facts, file, self.watch.effects, unheeded)
        before, self._chips = self._chips, chips
        if [_shown(chip) for chip in chips] != [_shown(chip) for chip in before]:
            self.bar.set_chips(chips)
        self._chat.count_choices(sum(chip.change is not None for chip in chips))

    def _removals(self) -> dict[Key, Change]:
        """What the watch is to find out about, of the project as it is now."""
        self._show()
        return removals(self._chips)

    def _remove(self, key: object) -> None:
        chip = next((chip for chip in self._chips if chip.key == key), None)
        project = self.context.session.project
        if chip is not None and chip.change is not None and project is not None:
            self._adjust(chip.undo, chip.change(project.controls))

    def _open(self, key: object) -> None:
        """Change what a chip stands for, or go to its entry."""
        project = self.context.session.project
        if project is None or self._facts is None or not isinstance(key, tuple):
            return
        if key == UNUSABLE:
            text = "\n".join(unusable(project))
            dialogs.show_text(self.context.window, tr("In the chat's file and not usable"), text)
        elif key == CHANGED:
            self._changed_menu()
        elif key[0] in {ControlsPart.PINS, ControlsPart.BLOCKS}:
            entries = self._facts.fitting(EntryRule(key[1], key[2] or None))
            if entries:
                self.context.selection.choose_entry(entries[0].id)
        elif key[0] == ControlsPart.CONTEXT and key[1] in self._facts.fields:
            self.pickers.value(project, self._facts.fields[key[1]])
        elif key[0] == ControlsPart.CONTEXT:
            self.pickers.field(project, self._facts)
        else:
            does: dict[str, Callable[[], object]] = {
                ControlsPart.FOLDERS: partial(self.pickers.folder, project),
                ControlsPart.NOTEBOOK: partial(self._edit_text, ControlsPart.NOTEBOOK, project),
                ControlsPart.NOTEPAD: partial(self._edit_text, ControlsPart.NOTEPAD, project),
                ControlsPart.CHARACTER: partial(self.pickers.character, project),
            }
            does[key[0]]()

    def _changed_menu(self) -> None:
        menu = passing_menu(self.bar)
        self.context.commands.fill(menu, SAVING)
        chip = next((button for button in self.bar.chips if button.chip.key == CHANGED), None)
        menu.popup(chip.mapToGlobal(chip.rect().bottomLeft()) if chip is not None else QCursor.pos())

    def _take_text(self, part: ControlsPart, text: str, on: bool) -> None:
        project = self.context.session.project
        if project is None:
            return
        notebook = part is ControlsPart.NOTEBOOK
        controls = replace(project.controls, notebook=text) if notebook else replace(project.controls, notepad=text)
        settings = project.settings.model_copy(update={f"{NOTE_SETTINGS[part]}_enabled": on})
        self.context.session.parts.adjust(tr(PART_WORDS[part]), settings=settings, controls=controls)

    def _adjust(self, title: str, controls: ChatControls) -> None:
        self.context.session.parts.adjust(title, controls=controls)
        self.context.flash_step(title)


def _shown(chip: ControlChip) -> tuple[object, ...]:
    """What a person sees of a chip."""
    return chip.key, chip.icon, chip.text, chip.tip, chip.detail, chip.tone, chip.change is None
