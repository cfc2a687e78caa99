"""Writing a chat's pins, blocks, filter, context and notes back into its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lorestudio.domain.state import ChatControls
from lorestudio.exchange import json_file
from lorestudio.exchange.chat_state import ADVICE, STATE_KEYS, StatePlan, plan_state, state_json
from lorestudio.ui.jobs import Jobs
from lorestudio.ui.models.check_table import CheckRow, CheckTable
from lorestudio.ui.theme import Theme
from lorestudio.ui.widgets.bars import MessageBar
from lorestudio.ui.widgets.check_list import CheckList
from lorestudio.ui.words import sentence_of, tr


class ChatStateDialog(QDialog):
    """`written` carries the path of the copy, and the choices as they are known to stand in the file now.

    `known` are the choices as they were read from it.
    """

    written = Signal(object, object)

    def __init__(
        self,
        theme: Theme,
        jobs: Jobs,
        path: Path,
        controls: ChatControls,
        known: ChatControls,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Write pins, blocks and context into the chat"))
        self._jobs, self._path, self._controls, self._known_controls = jobs, path, controls, known

        self.bar = MessageBar(theme, self)
        self.model = CheckTable(("Choice", "In the file", "Will be"), self)
        self.list = CheckList(self.model, tr("Choices that differ"), self)
        self.write = QPushButton(tr("Write into the chat"), self)
        self._build()
        self._look()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setSpacing(8)
        self.bar.closed.connect(self.bar.hide)
        intro = QLabel(
            tr(
                "{file}: only these keys of its first line change, every other byte stays, and a copy is laid beside "
                "it. {advice}",
                file=self._path.name,
                advice=tr(ADVICE),
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        column.addWidget(self.bar)
        column.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        copy = QPushButton(tr("Copy as JSON"), self)
        copy.setToolTip(tr("All choices under DeepLore's keys, to put them in by hand"))
        cancel = QPushButton(tr("Cancel"), self)
        self.write.setProperty("kind", "primary")
        self.write.setEnabled(False)
        for button in (copy, self.write, cancel):
            button.setAutoDefault(False)
            row.addWidget(button)
        column.addLayout(row)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(state_json(self._controls)))
        cancel.clicked.connect(self.reject)
        self.write.clicked.connect(self._write)
        self.model.chosen_changed.connect(lambda: self.write.setEnabled(bool(self.model.chosen)))
        self.resize(680, 380)

    def _look(self) -> None:
        path, controls, known = self._path, self._controls, self._known_controls
        self._jobs.start(
            tr("Reading {name}", name=path.name),
            lambda _report: plan_state(path, controls, known),
            done=self._show,
            failed=self._failed,
        )

    def _show(self, plan: StatePlan) -> None:
        rows = [
            CheckRow(
                each.key.key,
                tr(each.key.title),
                each.before,
                each.after,
                tr("It was changed in the file meanwhile.") if each.clashes else each.key.key,
            )
            for each in plan.changes
        ]
        self.model.set_rows(rows, [each.key.key for each in plan.changes if not each.clashes])
        clashing = [tr(each.key.title) for each in plan.changes if each.clashes]
        if clashing:
            text = tr(
                "Changed here and in the file: {titles}. Tick what should be as here.", titles=", ".join(clashing)
            )
            self.bar.say(text, "warning")
        elif not rows:
            self.bar.say(tr("The file has all choices as they are here; there is nothing to write."), "good")

    def _failed(self, error: Exception) -> None:
        self.bar.say(sentence_of(error), "error")
        self.write.setEnabled(False)

    def _write(self) -> None:
        keys = self.model.chosen
        path, controls, known = self._path, self._controls, self._known_controls
        self.write.setEnabled(False)

        def work(_report: object) -> Path | None:
            plan = plan_state(path, controls, known, keys)
            return json_file.carry_out(plan.file) if plan.file is not None else None

        def done(copy: Path | None) -> None:
            fields = {each.field: getattr(controls, each.field) for each in STATE_KEYS if each.key in keys}
            self.written.emit(copy, replace(known, **fields))
            self.accept()

        self._jobs.start(tr("Writing {name}", name=path.name), work, done=done, failed=self._failed)
