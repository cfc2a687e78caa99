"""Scenario presets in the window: the files are read and written in jobs, what is chosen is applied as one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from lorestudio.studio.preset_folder import KnownPresets, PresetFolder
from lorestudio.studio.presets import Preset, apply_preset
from lorestudio.ui.notices import Notice
from lorestudio.ui.presets_dialog import PresetsDialog, SavePresetDialog
from lorestudio.ui.widgets.picker import Choice, Picker
from lorestudio.ui.words import sentence_of, tr

if TYPE_CHECKING:
    from lorestudio.ui.main_window import MainWindow


class PresetWork(QObject):
    """Knows the presets of the folder as it was read last, and does what can be done with them."""

    def __init__(self, window: MainWindow, folder: PresetFolder, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self.folder = window, folder
        self.known = KnownPresets()
        self._dialog: PresetsDialog | None = None
        self._menu: QMenu | None = None

    def fill(self, menu: QMenu) -> None:
        """Keep a menu with the presets and what can be done with them."""
        self._menu = menu
        menu.aboutToShow.connect(self._about_to_show)
        self._fill_menu()

    def load(self, then: Callable[[], object] = lambda: None) -> None:
        """Read the folder again, and then go on."""
        self._do(tr("Reading presets"), lambda: None, then)

    def ask_apply(self) -> None:
        """Show the presets to choose from."""

        def choose() -> None:
            if not self.known.presets:
                text = tr("There are no scenario presets yet. Save what is chosen now as one.")
                self._window.say(Notice(text, actions=("presets.save",), key="presets"))
                return
            choices = [Choice(preset.name, "", "", preset) for _, preset in self.known.presets]
            picker = Picker(
                self._window.theme, tr("Apply a scenario preset"), tr("Type a few letters"), choices, self._window
            )
            picker.picked.connect(self.apply)
            picker.open_over(self._window)

        self.load(choose)

    def ask_save(self) -> None:
        """Ask for the name and the parts of a preset of what is chosen now."""

        def ask() -> None:
            project = self._window.session.project
            if project is not None:
                dialog = SavePresetDialog(project.controls, self.known, self._window)
                dialog.chosen.connect(self._save)
                dialog.open()

        self.load(ask)

    def manage(self) -> None:
        """Show the list of presets."""

        def show() -> None:
            dialog = self._dialog = PresetsDialog(self._window.theme, self.folder, self.known, self._window)
            dialog.wanted.connect(self.apply)
            dialog.renamed.connect(self._rename)
            dialog.deleted.connect(self._delete)
            dialog.finished.connect(self._forget_dialog)
            dialog.open()

        self.load(show)

    def apply(self, preset: object) -> None:
        """Choose what a preset says, as one step; what of it the vault does not have is said."""
        project = self._window.session.project
        if project is None or not isinstance(preset, Preset):
            return
        applied = apply_preset(preset, project.controls, project.index)
        title = tr("preset {name}", name=preset.name)
        if applied.controls == project.controls:
            text = tr("The preset “{name}” is what is chosen already.", name=preset.name)
        else:
            self._window.session.parts.adjust(title, controls=applied.controls)
            text = tr("The preset “{name}” is applied.", name=preset.name)
        if applied.missing:
            text = tr("{said} Not all of it is in this vault: {first}", said=text, first=applied.missing[0])
            details = "\n".join(applied.missing)
            self._window.say(Notice(text, "warning", details, ("adjust.undo",), key="presets"))
        else:
            self._window.status.flash(text)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _save(self, preset: object, replacing: bool) -> None:
        if isinstance(preset, Preset):
            kept = replace(preset, controls=replace(preset.controls, scribe_summary=""))
            said = tr("The preset “{name}” is saved.", name=preset.name)
            self._do(
                tr("Saving the preset"),
                lambda: self.folder.save(kept, replacing=replacing),
                partial(self._window.status.flash, said),
            )

    def _rename(self, name: str, new: str) -> None:
        self._do(tr("Renaming the preset"), lambda: self.folder.rename(name, new), partial(self._show_again, new))

    def _delete(self, name: str) -> None:
        self._do(tr("Deleting the preset"), lambda: self.folder.delete(name), self._show_again)

    def _show_again(self, chosen: str = "") -> None:
        if self._dialog is not None:
            self._dialog.show_presets(self.known, " ".join(chosen.split()))

    def _forget_dialog(self, _result: int) -> None:
        self._dialog = None

    def _do(self, title: str, work: Callable[[], object], then: Callable[[], object]) -> None:
        """Work on the folder in a job, read it again, and go on."""

        def both(_report: object) -> KnownPresets:
            work()
            return self.folder.load()

        def done(known: KnownPresets) -> None:
            self.known = known
            self._fill_menu()
            then()

        self._window.session.jobs.start(title, both, done=done, failed=self._failed)

    def _failed(self, error: Exception) -> None:
        self._window.say(Notice(sentence_of(error), "error", key="presets"))

    def _about_to_show(self) -> None:
        self.load()  # files may have been copied here meanwhile; the menu follows while it is open

    def _fill_menu(self) -> None:
        menu = self._menu
        if menu is None:
            return
        menu.clear()
        for _, preset in self.known.presets:
            menu.addAction(preset.name.replace("&", "&&")).triggered.connect(
                lambda _checked=False, preset=preset: self.apply(preset)
            )
        if self.known.presets:
            menu.addSeparator()
        for name in ("presets.save", "presets.manage"):
            menu.addAction(self._window.commands.actions[name])
