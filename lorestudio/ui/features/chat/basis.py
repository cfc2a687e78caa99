"""What answers about a chat rest on: the settings of `ChatBasis`, and since when messages are hidden."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QHeaderView, QPushButton, QSizePolicy, QTreeWidgetItem, QWidget

from lorestudio.domain.chat import Chat
from lorestudio.domain.history import ChatHistory, HistoryRule
from lorestudio.domain.records import replace
from lorestudio.settings.declaration import Declaration, Value, declared
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import HiddenRow, hidden_rows
from lorestudio.studio.project.project import Project
from lorestudio.ui.shell.words import count, number, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import SPACE, button, column, holding, label, named, number_field, row, scrolled
from lorestudio.ui.widgets.pane import FoldingRow
from lorestudio.ui.widgets.rows import TextRows
from lorestudio.ui.widgets.setting_fields import SettingField, make_field

_ROW: Final = Qt.ItemDataRole.UserRole


class BasisDialog(Dialog):
    """`chosen` carries the new KeptBasis. A person's word on messages holds once it was said with the button."""

    chosen = Signal(object)

    def __init__(self, project: Project, message: int | None = None, parent: QWidget | None = None) -> None:
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
        self._make_rows()
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

    def _make_rows(self) -> None:
        self.hint = label(self, kind="small")
        headings = tr("Hidden today"), tr("Since when"), tr("Begins with")
        self.rows = named(TextRows(headings, self), tr("Messages that are hidden today"))
        self.rows.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # as low as it can be
        head = named(self.rows.header(), tr("Columns"))
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.currentItemChanged.connect(lambda item, _before: self._choose(item))
        last = max(len(self._chat.messages) - 1, 0)
        self.first, self.last, self.since = (
            number_field(self, name, 0, high, before="#")
            for name, high in ((tr("From"), last), (tr("To"), last), (tr("Since"), last + 1))
        )
        self.since.setSpecialValueText(tr("it was said"))
        self.since.setMinimumWidth(self.since.sizeHint().width() + SPACE)  # Qt does not count the margin of the text
        self.say = button(
            self,
            tr("Say so"),
            lambda: self._take(self.since.value()),
            tip=tr("Replies from this message on did not see them"),
        )
        self.forget = button(
            self, tr("Nobody knows"), lambda: self._take(None), tip=tr("Take back what was said of them")
        )
        messages = row(
            label(self, tr("Messages"), wrap=False), self.first, label(self, tr("to"), wrap=False), self.last,
            label(self, tr("are hidden since"), wrap=False), self.since, 1, margins=0,
        )  # fmt: skip
        self._said = FoldingRow(holding(messages), holding(row(1, self.say, self.forget, margins=0)), self)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _show_rows(self, message: int | None = None) -> None:
        history = ChatHistory(self._chat, HistoryRule(self.basis.settings.history), self.basis.hidden)
        found = hidden_rows(history)
        self.rows.clear()
        for each in found:
            text = " ".join(self._chat.messages[each.first].text.split())[:120]
            item = QTreeWidgetItem([each.messages, each.words, text])
            item.setData(0, _ROW, each)
            self.rows.addTopLevelItem(item)
            if message is not None and each.first <= message <= each.last:
                self.rows.setCurrentItem(item)
                self.first.setValue(message)
                self.last.setValue(message)
        used = bool(found) and history.rule is HistoryRule.THEN
        for widget in (self.rows, self.first, self.last, self.since, self.say, self.forget):
            widget.setEnabled(used)
        hint = tr("A reply to come goes by what is hidden today. Where nobody says since when, it is assumed.")
        if not found:
            hint = tr("No message that was said in the story is hidden.")
        elif not used:
            hint = tr(
                "As it is now: {messages} taken for hidden all along.",
                messages=count(len(history.hidden), "message is", "messages are"),
            )
        self.hint.setText(hint)

    def _show_known(self) -> None:
        """What the context size and the scripts come from."""
        size = replace(self._project, basis=self.basis).known_context
        scripts = self._project.reply_setup.regex_paths
        told = tr("Context: {size} tokens.", size=number(size)) if size else tr("Nobody has said the context size.")
        names = ", ".join(path.name for path in scripts)
        told += " " + (tr("Regex scripts from {names}.", names=names) if names else tr("No file with regex scripts."))
        self.known.setText(told)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        row_ = item.data(0, _ROW) if item is not None else None
        if isinstance(row_, HiddenRow):
            self.first.setValue(row_.first)
            self.last.setValue(row_.last)
            self.since.setValue(0 if row_.since is None else row_.since)

    def _take(self, since: int | None) -> None:
        first, last = sorted((self.first.value(), self.last.value()))
        self.basis = self.basis.saying(first, last, since)
        self._show_rows(first)
        self.first.setValue(first)
        self.last.setValue(last)
