"""What answers about a chat rest on: the settings of `ChatBasis`, and since when messages are hidden."""

from __future__ import annotations

from operator import attrgetter

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QPushButton, QSizePolicy, QWidget

from lorestudio.domain.chat import Chat
from lorestudio.domain.history import ChatHistory, HistoryRule
from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Declaration, Value, declared
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import HiddenRow, hidden_rows
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.cells import FIT, Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import SPACE, able, button, column, holding, label, number_field, row, scrolled
from lorestudio.ui.widgets.pane import FoldingRow
from lorestudio.ui.widgets.record_table import RecordTable, RecordView
from lorestudio.ui.widgets.setting_fields import SettingField, make_field


class BasisDialog(Dialog):
    """`chosen` carries the new KeptBasis. A person's word on messages holds once it was said with the button."""

    chosen = Signal(object)

    def __init__(
        self, theme: Theme, project: Project, message: int | None = None, parent: QWidget | None = None
    ) -> None:
        """`message` is one of which something is to be said."""
        super().__init__(parent, tr("What answers rest on"), (620, 640))
        self._chat, self.basis, self._project = project.chat or Chat(), project.basis, project
        self.fields: list[SettingField] = []
        form = QFormLayout(rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapAllRows)
        for declaration in declared(ChatBasis):
            self._add_setting(form, declaration)
        self.known = label(self, kind="small")
        form.addRow(self.known)
        self.title = label(self, tr("Since when messages are hidden"), "title")
        self._make_rows(theme)
        page = holding(column(form, self.title, self.hint, (self.rows, 1), self._said, margins=0))
        area = scrolled(page, tr("What answers rest on"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # it follows the keyboard through its fields
        self.accepted_button = QPushButton(tr("Apply and replay"), self)
        column((area, 1), self.answers(self.accepted_button), of=self)
        self.accepted.connect(lambda: self.chosen.emit(self.basis))
        self._show_rows(message)
        self._show_known()

    def _add_setting(self, form: QFormLayout, declaration: Declaration) -> None:
        field = make_field(declaration, self, in_words=True)
        field.set_value(getattr(self.basis.settings, declaration.name))
        field.setToolTip(tr(declaration.help))

        def moved(value: Value) -> None:
            settings = self.basis.settings.model_copy(update={declaration.name: value})
            self.basis = replace(self.basis, settings=settings)
            self._show_rows()
            self._show_known()

        field.moved.connect(moved)
        form.addRow(tr(declaration.title), field)
        self.fields.append(field)

    def _make_rows(self, theme: Theme) -> None:
        self.hint = label(self, kind="small")
        said = self._chat.messages
        columns = (
            Column("Hidden today", attrgetter("messages"), width=FIT),
            Column("Since when", attrgetter("words"), width=FIT),
            Column("Begins with", lambda row: " ".join(said[row.first].text.split())[:120]),
        )
        self.model = RecordTable(columns, parent=self)
        self.rows = RecordView(theme, self.model, tr("Messages that are hidden today"), self)
        self.rows.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # as low as it can be
        self.rows.picked.connect(self._choose)
        last = max(len(self._chat.messages) - 1, 0)
        self.first, self.last, self.since = (
            number_field(self, name, 0, high, before="#")
            for name, high in ((tr("From"), last), (tr("To"), last), (tr("Since"), last + 1))
        )
        self.since.setSpecialValueText(tr("it was said"))
        self.since.setMinimumWidth(self.since.sizeHint().width() + SPACE)  # Qt does not count the margin of the text
        tip = tr("Replies from this message on did not see them")
        self.say = button(self, tr("Say so"), lambda: self._take(self.since.value()), tip=tip)
        self.forget = button(
            self, tr("Nobody knows"), lambda: self._take(None), tip=tr("Take back what was said of them")
        )
        messages = row(
            label(self, tr("Messages"), wrap=False), self.first, label(self, tr("to"), wrap=False), self.last,
            label(self, tr("are hidden since"), wrap=False), self.since, 1, margins=0,
        )  # fmt: skip
        self._said = FoldingRow(holding(messages), holding(row(1, self.say, self.forget, margins=0)), self)

    def _show_rows(self, message: int | None = None) -> None:
        history = ChatHistory(self._chat, HistoryRule(self.basis.settings.history), self.basis.hidden)
        found = hidden_rows(history)
        self.model.set_rows(found)
        for each in found:
            if message is not None and each.first <= message <= each.last:
                self.rows.choose(id(each))
                self._choose(each)
                self.first.setValue(message)
                self.last.setValue(message)
        used = bool(found) and history.rule is HistoryRule.THEN
        hint = tr("A reply to come goes by what is hidden today. Where nobody says since when, it is assumed.")
        if not found:
            hint = tr("No message that was said in the story is hidden.")
        elif not used:
            hint = tr(
                "As it is now: {messages} taken for hidden all along.",
                messages=count(len(history.hidden), "message is", "messages are"),
            )
        self.hint.setText(hint)
        for widget in (self.rows, self.first, self.last, self.since, self.say, self.forget):
            able(widget, used, hint)

    def _show_known(self) -> None:
        """What the context size and the scripts come from."""
        size = replace(self._project, basis=self.basis).known_context
        scripts = self._project.reply_setup.regex_paths
        told = tr("Context: {size} tokens.", size=number(size)) if size else tr("Nobody has said the context size.")
        names = ", ".join(path.name for path in scripts)
        told += " " + (tr("Regex scripts from {names}.", names=names) if names else tr("No file with regex scripts."))
        self.known.setText(told)

    def _choose(self, chosen: HiddenRow) -> None:
        self.first.setValue(chosen.first)
        self.last.setValue(chosen.last)
        self.since.setValue(chosen.since or 0)

    def _take(self, since: int | None) -> None:
        first, last = sorted((self.first.value(), self.last.value()))
        self.basis = self.basis.saying(first, last, since)
        self._show_rows(first)
        self.first.setValue(first)
        self.last.setValue(last)
