"""Scenario presets: saving what is chosen now under a name, and the list of those that there are.

Files are read and written in jobs; what is chosen is applied as one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QMenu, QPushButton, QWidget

from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.settings.files import SettingsError, of_name
from lorestudio.studio.chat.controls import (
    ControlsPart,
    KeptPreset,
    Preset,
    PresetFolder,
    apply_preset,
    checked_preset_name,
    part_words,
)
from lorestudio.ui.features.controls.chips import PART_WORDS
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, sentence_case, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, label, named, row
from lorestudio.ui.widgets.picker import Choice
from lorestudio.ui.widgets.record_table import RecordTable, RecordView


class SavePresetDialog(Dialog):
    """`chosen` carries the preset, and whether it takes the place of one of that name."""

    chosen = Signal(object, bool)

    def __init__(self, controls: ChatControls, known: Sequence[KeptPreset], parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Save as a scenario preset"), (520, 380))
        self._controls, self._known = controls, known
        intro = tr(
            "A preset holds the ticked parts; where it is applied, the others stay as they are. It names entries "
            "by title, so it fits any vault that has them."
        )
        self.name = QLineEdit(self, placeholderText=tr("such as Storm night"))
        form = QFormLayout()
        form.addRow(tr("Name"), named(self.name, tr("Name of the preset")))
        self.parts: dict[ControlsPart, QCheckBox] = {}
        for part in ControlsPart:
            text = part_words(controls, part)
            words = sentence_case(tr(PART_WORDS[part]))
            box = QCheckBox(tr("{part}: {content}", part=words, content=text or _nothing(part)), self)
            box.setChecked(bool(text) and part is not ControlsPart.NOTEPAD)
            box.toggled.connect(self._show)
            self.parts[part] = box
        self.told = label(self, kind="small")
        self.take = QPushButton(tr("Replace"), self)
        self.take.setMinimumWidth(self.take.sizeHint().width() + 12)  # so that either word fits
        column(label(self, intro), form, *self.parts.values(), self.told, 1, self.answers(self.take), of=self)
        self.name.textChanged.connect(self._show)
        self._show()

    def accept(self) -> None:
        """Qt: hand the preset over and close."""
        parts = frozenset(part for part, box in self.parts.items() if box.isChecked())
        self.chosen.emit(Preset(checked_preset_name(self.name.text()), self._controls, parts), self._taken is not None)
        super().accept()

    @property
    def _taken(self) -> str | None:
        found = of_name(self._known, self.name.text())
        return found.name if found is not None else None

    def _show(self) -> None:
        try:
            checked_preset_name(self.name.text())
        except SettingsError as error:
            problem = str(error) if self.name.text() else ""
            ready = False
        else:
            ready = any(box.isChecked() for box in self.parts.values())
            problem = "" if ready else tr("Tick at least one part.")
        taken = self._taken
        if not problem and taken is not None:
            problem = tr("There is a preset “{name}”; it will be replaced.", name=taken)
        self.told.setText(problem)
        self.take.setText(tr("Replace") if taken is not None else tr("Save"))
        able(self.take, ready, problem or tr("Give it a name first."))


def _nothing(part: ControlsPart) -> str:
    if part is ControlsPart.CHARACTER:
        return tr("the chat's own")
    several = part in {ControlsPart.PINS, ControlsPart.BLOCKS}
    return tr("none; applying it empties them") if several else tr("none; applying it empties it")


def _called(kept: KeptPreset) -> str:
    return kept.name if kept.preset is not None else tr("{file} cannot be used", file=kept.path.name)


class PresetsDialog(Dialog):
    """The presets with what they hold. What is to be done is told by signals; whoever does it calls `show_presets`."""

    wanted = Signal(object)  # Preset: apply it
    renamed = Signal(str, str)
    deleted = Signal(str)
    wanted_new = Signal()

    def __init__(
        self, theme: Theme, folder: PresetFolder, known: Sequence[KeptPreset], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, tr("Scenario presets"), (520, 360))
        columns = [Column("", _called, icon=lambda each: None if each.preset is not None else ("warning", "warning"))]
        self.model = RecordTable(columns, theme=theme, key=attrgetter("path"), parent=self)
        self.list = RecordView(theme, self.model, tr("Scenario presets"), self)
        self.list.horizontalHeader().hide()
        self.told = label(self, selectable=True)
        where = tr("One file each in {folder}; copy them to share them.", folder=folder.folder)
        self.rename = button(self, tr("Rename…"), self._ask_name)
        self.delete = button(self, tr("Delete…"), self._ask_delete)
        self.apply = button(self, tr("Apply"), self._apply, kind="primary")
        self.save = button(self, tr("Save what is chosen now…"), self._save)
        ends = row(self.save, self.rename, self.delete, 1, self.apply, self.answers())
        column((self.list, 1), self.told, label(self, where, "small", selectable=True), ends, of=self)
        self.list.chosen.connect(self._show)
        self.list.pressed.connect(lambda _preset: self._apply())
        self.show_presets(known)

    def show_presets(self, known: Sequence[KeptPreset], chosen: str = "") -> None:
        """Show what there is now; `chosen` is the one to go to."""
        rows = sorted(known, key=lambda each: each.preset is None)
        self.model.set_rows(rows)
        wanted = (each.path for each in rows if each.preset is not None and each.name == chosen)
        self.list.choose(next(wanted, rows[0].path if rows else None))

    def _show(self, now: KeptPreset | None) -> None:
        preset = now.preset if now is not None else None
        for each in (self.rename, self.delete, self.apply):
            able(each, preset is not None, tr("Choose a preset that can be read first."))
        if preset is not None:
            lines = [
                f"{sentence_case(tr(PART_WORDS[part]))}: {part_words(preset.controls, part) or _nothing(part)}"
                for part in ControlsPart
                if part in preset.parts
            ]
            self.told.setText("\n".join(lines))
        elif now is not None:
            self.told.setText(now.problem)
        else:
            self.told.setText(
                tr("There are no presets yet. One keeps pins, blocks, context and the other choices for a chat.")
            )

    def _apply(self) -> None:
        now = self.list.current
        if now is not None and now.preset is not None:
            self.wanted.emit(now.preset)
            self.accept()

    def _save(self) -> None:
        self.reject()
        self.wanted_new.emit()

    def _ask_name(self) -> None:
        now = self.list.current
        if now is not None:
            name = now.name
            dialogs.ask_name(self, tr("Rename the preset"), tr("Name"), name, lambda new: self.renamed.emit(name, new))

    def _ask_delete(self) -> None:
        now = self.list.current
        if now is not None:
            name = now.name
            text = tr("Delete the preset “{name}”? Its file is removed.", name=name)
            dialogs.confirm(self, tr("Delete preset"), text, tr("Delete"), lambda: self.deleted.emit(name))


class Presets(QObject):
    """Knows the presets of the folder as it was read last, and does what can be done with them; a menu has both."""

    def __init__(self, context: Context, folder: PresetFolder, menu: QMenu) -> None:
        super().__init__(context)
        self._context, self.folder, self._menu = context, folder, menu
        self.known: tuple[KeptPreset, ...] = ()
        self._dialog: PresetsDialog | None = None
        self._asked: Callable[[], object] | None = None
        menu.aboutToShow.connect(self.load)  # files may have been copied here; the menu follows while open

    @property
    def presets(self) -> list[Preset]:
        """Those that can be applied."""
        return [each.preset for each in self.known if each.preset is not None]

    def load(self, then: Callable[[], object] | None = None) -> None:
        """Read the folder again, and then go on: of what is asked while it is read, with the last alone."""
        self._asked = then or self._asked
        self._do(tr("Reading presets"), lambda: None, lambda: then is not None and then is self._asked and then())

    def ask_apply(self) -> None:
        """Show the presets to choose from."""

        def choose() -> None:
            if not self.presets:
                text = tr("There are no scenario presets yet. Save what is chosen now as one.")
                self._context.say(Notice(text, actions=("presets.save",), key="presets"))
                return
            items = [Choice(preset.name, "", "", preset) for preset in self.presets]
            self._context.pick(tr("Apply a scenario preset"), tr("Type a few letters"), items, self.apply)

        self.load(choose)

    def ask_save(self) -> None:
        """Ask for the name and the parts of a preset of what is chosen now."""

        def ask() -> None:
            project = self._context.session.project
            if project is not None:
                dialog = SavePresetDialog(project.controls, self.known, self._context.window)
                dialog.chosen.connect(self._save)
                dialog.open()

        self.load(ask)

    def manage(self) -> None:
        """Show the list of presets."""

        def show() -> None:
            dialog = self._dialog = PresetsDialog(self._context.theme, self.folder, self.known, self._context.window)
            dialog.wanted.connect(self.apply)
            dialog.wanted_new.connect(self.ask_save)
            dialog.renamed.connect(self._rename)
            dialog.deleted.connect(self._delete)
            dialog.finished.connect(lambda _result: setattr(self, "_dialog", None))
            dialog.open()

        self.load(show)

    def apply(self, preset: object) -> None:
        """Choose what a preset says, as one step; what of it the vault does not have is said."""
        project = self._context.session.project
        if project is None or not isinstance(preset, Preset):
            return
        chosen, missing = apply_preset(preset, project.controls, project.index)
        title = tr("preset {name}", name=preset.name)
        if chosen == project.controls:
            text = tr("The preset “{name}” is what is chosen already.", name=preset.name)
        else:
            self._context.session.parts.adjust(title, controls=chosen)
            text = tr("The preset “{name}” is applied.", name=preset.name)
        if missing:
            text = tr("{said} Not all of it is in this vault: {first}", said=text, first=missing[0])
            details = "\n".join(missing)
            self._context.say(Notice(text, "warning", details, ("adjust.undo",), key="presets"))
        else:
            self._context.flash(text)

    def _save(self, preset: object, replacing: bool) -> None:
        if isinstance(preset, Preset):
            kept = replace(preset, controls=replace(preset.controls, scribe_summary=""))
            said = tr("The preset “{name}” is saved.", name=preset.name)
            done = partial(self._context.flash, said)
            self._do(tr("Saving the preset"), lambda: self.folder.save(kept, replacing=replacing), done)

    def _rename(self, name: str, new: str) -> None:
        self._do(tr("Renaming the preset"), lambda: self.folder.rename(name, new), partial(self._show_again, new))

    def _delete(self, name: str) -> None:
        self._do(tr("Deleting the preset"), lambda: self.folder.delete(name), self._show_again)

    def _show_again(self, chosen: str = "") -> None:
        if self._dialog is not None:
            self._dialog.show_presets(self.known, " ".join(chosen.split()))

    def _do(self, title: str, work: Callable[[], object], then: Callable[[], object]) -> None:
        """Work on the folder in a job, read it again, and go on."""

        def both(_report: object) -> tuple[KeptPreset, ...]:
            work()
            return self.folder.all()

        def done(known: tuple[KeptPreset, ...]) -> None:
            self.known = known
            self._fill_menu()
            then()

        self._context.session.jobs.start(title, both, done=done, failed=self._context.failing("presets"))

    def _fill_menu(self) -> None:
        menu = self._menu
        menu.clear()
        for preset in self.presets:
            menu.addAction(preset.name.replace("&", "&&")).triggered.connect(
                lambda _checked=False, preset=preset: self.apply(preset)
            )
        if self.presets:
            menu.addSeparator()
        for name in ("presets.save", "presets.manage"):
            menu.addAction(self._context.action(name))
