"""The scenes: where they end, their recaps in versions, and what locks them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal

from lorestudio.studio.recap.overview import SceneRow
from lorestudio.studio.recap.picture import RecapPicture
from lorestudio.ui.models.row_table import RowColumn
from lorestudio.ui.recap.page import Page
from lorestudio.ui.recap.text_field import RecapText
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import shorten, tr


class ScenePage(Page):
    """All signals carry the position of the message that ends the scene.

    `written` has a text with it, `turned` by how many versions to go on.
    """

    written = Signal(int, str)
    turned = Signal(int, int)
    wanted = Signal(int)
    combined = Signal(int)
    toggled = Signal(int)
    deleted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        columns = (
            RowColumn("Messages", lambda row: tr("#{first} to #{last}", first=row.where[0], last=row.where[1])),
            RowColumn("Recap", _state, icon=_icon),
            RowColumn("Version", lambda row: row.versions, numeric=True),
            RowColumn("Scene", lambda row: shorten(row.name, 120)),
        )
        super().__init__(
            theme, columns, lambda row: row.index, lambda row: shorten(row.recap or row.name, 400), tr("Scenes"),
            (96, 116, 58),
        )  # fmt: skip
        self.empty.say(
            tr("No scenes yet"),
            tr("Set a break where a scene ends: choose that message in the chat and press D. Or have one looked for."),
            (("recap.search", tr("Look for a break")),),
        )
        self.text = RecapText(tr("Recap of the scene"), self)
        self.below.addWidget(self.text, 1)
        self.text.left.connect(self.view.setFocus)
        self.before = self.small_button(tr("‹ Version"), tr("Use the version before"))
        self.after = self.small_button(tr("Version ›"), tr("Use the next version"))
        self.make = self.small_button(tr("Make its recap"), tr("Ask for the recap of the scene, as another version"))
        self.combine = self.small_button(tr("Into the running recap"), tr("Work its recap into the running recap"))
        self.hide_break = self.small_button(tr("Remove the break"), tr("Take the break away; its recap is kept (D)"))
        self.delete = self.small_button(tr("Delete scene…"), tr("Take out the break, its recap and what reaches to it"))
        self.add_row(self.before, self.after, self.make)
        self.add_row(self.combine, self.hide_break, self.delete)
        self.text.written.connect(lambda key, text: self.written.emit(int(key), text))
        for button, act in (
            (self.before, lambda row: self.turned.emit(row.index, -1)),
            (self.after, lambda row: self.turned.emit(row.index, 1)),
            (self.make, lambda row: self.wanted.emit(row.index)),
            (self.combine, lambda row: self.combined.emit(row.index)),
            (self.hide_break, lambda row: self.toggled.emit(row.index)),
            (self.delete, lambda row: self.deleted.emit(row.index)),
        ):
            button.clicked.connect(lambda _on=False, act=act: self._with_row(act))
        self.view.chosen.connect(self._show)
        self._show(None)

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the scenes of a chat."""
        self.forget_others(picture, self.text)
        self.model.set_rows(picture.scenes if picture is not None else ())

    def _with_row(self, do: Callable[[SceneRow], object]) -> None:
        row = self.view.current
        if isinstance(row, SceneRow):
            do(row)

    def _show(self, row: object) -> None:
        there = row if isinstance(row, SceneRow) else None
        locked = there is not None and there.lock.locked
        number, _, total = there.versions.partition("/") if there is not None else ("", "", "")
        self.before.setEnabled(not locked and number.isdecimal() and int(number) > 1)
        self.after.setEnabled(not locked and number != total)
        self.make.setEnabled(there is not None and not locked)
        self.combine.setEnabled(there is not None and not locked and not there.is_bookmark)
        for button in (self.hide_break, self.delete):
            button.setEnabled(there is not None)
        if there is None:
            self.say(tr("Choose a scene to read its recap, and to write it.") if self.model.rows else "")
            self.text.show_text(None, "", editable=False)
            return
        told = [tr("{name}, messages #{first} to #{last}.", name=there.name, first=there.where[0], last=there.where[1])]
        if there.lock.by_itself:
            told.append(tr("Locked: it is part of the running recap. Delete that version of it to change the scene."))
        elif there.lock.by_later:
            told.append(tr("Locked: a later scene is part of the running recap."))
        if there.made_of is not None:
            first, last = there.made_of
            told.append(tr("The original would make its recap of #{first} to #{last}.", first=first, last=last))
        self.say(" ".join(told))
        placeholder = tr("No recap yet. Write one, or have it made.")
        self.text.show_text(there.index, there.recap, editable=not locked, placeholder=placeholder)


def _state(row: SceneRow) -> str:
    if row.is_bookmark:
        return tr("No recap yet")
    return tr("In running") if row.lock.by_itself else tr("Locked") if row.lock.locked else tr("Recap")


def _icon(row: SceneRow) -> tuple[str, str]:
    if row.is_bookmark:
        return "dash", "text_faint"
    return ("lock", "text_muted") if row.lock.locked else ("check", "good")
