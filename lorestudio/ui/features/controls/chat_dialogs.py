"""The Author's Notebook and AI Notepad of a chat with their length and place, and writing the choices into its file.

Choices are pins, blocks, filter, context and notes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QWidget

from lorestudio.domain.javascript import length, trim
from lorestudio.domain.records import replace
from lorestudio.domain.state import NOTEPAD_LIMIT, ChatControls
from lorestudio.exchange import json_file
from lorestudio.exchange.chats.metadata import ADVICE, STATE_KEYS, StatePlan, plan_state, state_json
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import ControlsPart
from lorestudio.studio.project.project import Project
from lorestudio.trace.wording import place
from lorestudio.ui.features.controls.chips import NOTE_SETTINGS, PART_WORDS
from lorestudio.ui.shell.jobs import Jobs
from lorestudio.ui.shell.qt import later
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, number, sentence_case, sentence_of, tr
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, label, row, text_field
from lorestudio.ui.widgets.pane import MessageBar
from lorestudio.ui.widgets.record_table import CheckList, CheckRow, change_table

COUNT_MS: Final = 200
"""Tokens are counted after a pause in typing."""


class ChatTextDialog(Dialog):
    """`saved` carries the text and whether it is to go into prompts; it follows only where one of the two changed.

    `unheeded` says why the text goes into no prompt whatever the setting, "" where it does.
    """

    saved = Signal(str, bool)

    def __init__(self, project: Project, part: ControlsPart, unheeded: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent, tr(PART_WORDS[part]), (560, 420))
        self._notebook = part is ControlsPart.NOTEBOOK
        self._counter, self._unheeded = project.counter, unheeded
        settings, enabled = project.settings, f"{NOTE_SETTINGS[part]}_enabled"
        self._before: str = getattr(project.controls, part.value)
        self._on_before: bool = getattr(settings, enabled)
        setting = type(settings).model_fields[enabled].title
        hint = tr("Nothing goes into the prompt while this is empty.")
        self.text = text_field(self, self.windowTitle(), "" if unheeded else hint)
        self.text.setPlainText(self._before)
        self.amount = label(self, kind="small")
        self.on = QCheckBox(tr("Put it into every prompt (setting “{name}”)", name=setting), self)
        self.on.setChecked(self._on_before)
        self.where = label(self, _where(settings, part), "small")
        for each in (self.on, self.where):
            each.setHidden(bool(unheeded))
        self.clear = button(self, tr("Empty it"), self._empty)
        ends = row(self.clear, 1, self.answers(tr("Keep")))
        kept = tr("{reason}. The chat keeps the text.", reason=unheeded) if unheeded else ""
        intro = label(self, kept or _intro(self._notebook))
        column(
            intro, (self.text, 1), self.amount, self.on, self.where, ends, of=self,
            spacing=8,
        )  # fmt: skip
        self._pause = later(self, self._show_amount, COUNT_MS)
        self.text.textChanged.connect(self._pause.start)
        self.on.toggled.connect(lambda _on: self._show_amount())
        self._show_amount()
        self.text.setFocus()

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("What you changed in the text would be lost.") if self.text.toPlainText() != self._before else ""

    def accept(self) -> None:
        """Qt: hand the text over and close."""
        text, on = self.text.toPlainText(), self.on.isChecked()
        if (text, on) != (self._before, self._on_before):
            self.saved.emit(text, on)
        super().accept()

    def _empty(self) -> None:
        self.text.selectAll()
        self.text.insertPlainText("")  # so that Ctrl+Z brings it back
        self.text.setFocus()

    def _show_amount(self) -> None:
        text = self.text.toPlainText()
        tokens = count(self._counter.count(text), "token", "tokens")
        words = tokens if self._counter.exact else tr("≈ {tokens}", tokens=tokens)
        words = tr("{tokens}, {characters}", tokens=words, characters=count(len(text), "character", "characters"))
        if self._unheeded:
            told = "{amount}."
        elif text and not trim(text):
            told = "Only blanks: nothing goes into the prompt."
        elif text and not self.on.isChecked():
            told = "{amount}. No budget counts them. The setting is off, so this goes into no prompt."
        else:
            told = "{amount}. No budget counts them."
        words = tr(told, amount=words)
        if not self._notebook and length(text) > NOTEPAD_LIMIT:
            limit = number(NOTEPAD_LIMIT)
            words = tr("{amount} DeepLore keeps {limit} characters and drops the oldest.", amount=words, limit=limit)
        self.amount.setText(words)
        able(self.clear, bool(text), tr("It is empty."))


def _intro(notebook: bool) -> str:
    if notebook:
        return tr("Your own text for this chat. It goes into every prompt as it is, beside the lore.")
    return tr(
        "What the writing model has noted for itself in this chat. Notes of later replies are left out where an "
        "earlier one is run."
    )


def _where(settings: DeepLoreSettings, part: ControlsPart) -> str:
    """The settings that matter, in words."""
    at = place(*(getattr(settings, f"{NOTE_SETTINGS[part]}_{name}") for name in ("position", "depth", "role")))
    if part is ControlsPart.NOTEBOOK:
        return tr("{place}. Position, depth and role are settings of the notebook.", place=sentence_case(at))
    how = tr("A second request takes notes from each finished reply.")
    if settings.ai_notepad_mode == "tag":
        how = tr("The model writes notes at the end of its reply, and is told so in every prompt.")
    return tr("{place}. {how} These are settings of the notepad.", place=sentence_case(at), how=how)


class ChatStateDialog(Dialog):
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
        super().__init__(parent, tr("Write pins, blocks and context into the chat"), (680, 380))
        self._jobs, self._path, self._controls, self._known_controls = jobs, path, controls, known
        self.bar = MessageBar(theme, self)
        self.model = change_table(("Choice", "In the file", "Will be"), self)
        self.list = CheckList(theme, self.model, tr("Choices that differ"), self)
        intro = tr(
            "{file}: only these keys of its first line change, every other byte stays, and a copy is laid beside "
            "it. {advice}",
            file=path.name,
            advice=tr(ADVICE),
        )
        copy = button(
            self, tr("Copy as JSON"), lambda: QGuiApplication.clipboard().setText(state_json(controls)),
            tip=tr("All choices under DeepLore's keys, to put them in by hand"),
        )  # fmt: skip
        self.write = button(self, tr("Write into the chat"), self._write, kind="primary")
        able(self.write, False, tr("Wait until the file is read or written, or look at what is said above."))
        ends = row(1, copy, self.write, button(self, tr("Cancel"), self.reject))
        column(label(self, intro), self.bar, (self.list, 1), ends, of=self, spacing=8)
        self.model.ticked.connect(lambda: able(self.write, bool(self.model.chosen), tr("Tick a choice first.")))
        self._look()

    def _look(self) -> None:
        path, controls, known = self._path, self._controls, self._known_controls
        title = tr("Reading {name}", name=path.name)
        self._jobs.start(title, lambda _report: plan_state(path, controls, known), done=self._show, failed=self._failed)

    def _show(self, plan: StatePlan) -> None:
        rows = []
        for each in plan.changes:
            note = tr("It was changed in the file meanwhile.") if each.clashes else each.key.key
            rows.append(CheckRow(each.key.key, tr(each.key.title), each.before, each.after, note))
        self.model.set_rows(rows)
        self.model.choose(each.key.key for each in plan.changes if not each.clashes)
        clashing = [tr(each.key.title) for each in plan.changes if each.clashes]
        if clashing:
            text = tr(
                "Changed here and in the file: {titles}. Tick what should be as here.", titles=", ".join(clashing)
            )
            self.bar.say(text, "warning")
        elif not rows:
            self.bar.say(tr("The file has all choices as they are here; there is nothing to write."), "good")

    def _failed(self, error: Exception) -> None:
        self.writing = False
        self.bar.say(sentence_of(error), "error")
        able(self.write, False, tr("Wait until the file is read or written, or look at what is said above."))

    def _write(self) -> None:
        keys = self.model.chosen
        path, controls, known = self._path, self._controls, self._known_controls
        able(self.write, False, tr("Wait until the file is read or written, or look at what is said above."))
        self.writing = True

        def work(_report: object) -> Path | None:
            plan = plan_state(path, controls, known, keys)
            return json_file.carry_out(plan.file) if plan.file is not None else None

        def done(copy: Path | None) -> None:
            fields = {each.field: getattr(controls, each.field) for each in STATE_KEYS if each.key in keys}
            self.written.emit(copy, replace(known, **fields))
            self.accept()

        self._jobs.start(tr("Writing {name}", name=path.name), work, done=done, failed=self._failed)
