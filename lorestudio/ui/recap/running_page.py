"""The versions of the running recap: which one goes into the prompt, and its text."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import Signal

from lorestudio.studio.recap.picture import RecapPicture
from lorestudio.ui.models.row_table import RowColumn
from lorestudio.ui.recap.page import Page
from lorestudio.ui.recap.text_field import RecapText
from lorestudio.ui.theme import Theme
from lorestudio.ui.words import count, shorten, tr


class RunningPage(Page):
    """`written` carries a text for a new version, `used` and `deleted` a version's number."""

    written = Signal(str)
    used = Signal(int)
    deleted = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self._current = -1
        columns = (
            RowColumn("Version", lambda row: str(row.number), numeric=True),
            RowColumn("", self._state, icon=self._icon),
            RowColumn("Up to", lambda row: tr("#{number}", number=row.reaches), numeric=True),
            RowColumn("Made", lambda row: _when(row.timestamp)),
            RowColumn("Text", lambda row: shorten(row.content, 160)),
        )
        super().__init__(
            theme, columns, lambda row: row.number, lambda row: shorten(row.content, 400),
            tr("Versions of the running recap"), (56, 96, 52, 112),
        )  # fmt: skip
        self.empty.say(
            tr("No running recap yet"),
            tr("It is made of the recaps of scenes, and it alone goes into the prompt. Have scenes recapped first."),
            (("recap.run", tr("Make what is due")),),
        )
        self.text = RecapText(tr("Running recap"), self)
        self.text.keep.setText(tr("Keep as a new version"))
        self.below.addWidget(self.text, 1)
        self.text.left.connect(self.view.setFocus)
        self.use = self.small_button(tr("Use this version"), tr("Let this version go into the prompt"))
        self.delete = self.small_button(tr("Delete version…"), tr("Delete this version"))
        self.add_row(self.use, self.delete)
        self.text.written.connect(lambda _key, text: self.written.emit(text))
        self.use.clicked.connect(lambda: self._act(self.used.emit))
        self.delete.clicked.connect(lambda: self._act(self.deleted.emit))
        self.view.chosen.connect(lambda _row: self._show())
        self._show()

    def show_picture(self, picture: RecapPicture | None) -> None:
        """Show the versions of a chat; without a choice, the one in force is looked at."""
        before = self._current
        self._current = picture.running.current if picture is not None else -1
        self.forget_others(picture, self.text)
        if before != self._current:
            self.text.taken()  # it is a version of its own
        self.model.set_rows(picture.running.versions if picture is not None else ())
        if self.view.current is None or before != self._current:
            self.view.choose(self._current)
        self._show()

    def _act(self, emit: object) -> None:
        row = self.view.current
        if row is not None and callable(emit):
            emit(row.number)

    def _show(self) -> None:
        row = self.view.current
        current = row is not None and row.number == self._current
        self.use.setEnabled(row is not None and not current)
        self.delete.setEnabled(row is not None)
        if row is None:
            self.say("")
            self.text.show_text(None, "", editable=False)
            return
        scenes = count(row.scene_count, "scene", "scenes")
        told = tr("Version {number} is made of {scenes} and reaches to #{last}.", number=row.number, scenes=scenes,
                  last=row.reaches)  # fmt: skip
        more = tr("It goes into the prompt.") if current else tr("Only the version in use can be written.")
        self.say(f"{told} {more}")
        self.text.show_text(row.number, row.content, editable=current)

    def _state(self, row: object) -> str:
        return tr("in use") if getattr(row, "number", None) == self._current else ""

    def _icon(self, row: object) -> tuple[str, str] | None:
        return ("check", "good") if getattr(row, "number", None) == self._current else None


def _when(ms: float | None) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M}" if ms else ""
