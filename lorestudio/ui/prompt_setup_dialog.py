"""Who the character is, who the person is, and the frame of the prompts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from lorestudio.exchange.character_card import CharacterCard
from lorestudio.studio.prompt_setup import MAIN_PROMPT, Persona, PromptSetup
from lorestudio.ui.words import tr

_MOST_TOKENS = 10_000_000


class PromptSetupDialog(QDialog):
    """`chosen` carries the new PromptSetup; `card_wanted` asks for a file, whose card `take_card` brings."""

    chosen = Signal(object)
    card_wanted = Signal()

    def __init__(self, setup: PromptSetup, user: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Card, persona and prompt"))
        self._setup = setup
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "These texts stand in the prompt beside lore and chat, in SillyTavern's order. They decide nothing "
                "about which entries go in."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.addRow(tr("Character"), self._make_card())
        self.name = QLineEdit(setup.persona.name, self)
        self.name.setPlaceholderText(user)
        self.name.setAccessibleName(tr("Your name"))
        form.addRow(tr("Your name"), self.name)
        self.persona = self._text(setup.persona.text, tr("Your persona"), tr("Who you are in this story"), 3)
        form.addRow(tr("Your persona"), self.persona)
        self.main = self._text(setup.main, tr("Main prompt"), MAIN_PROMPT, 4)
        self.main.setToolTip(tr("In SillyTavern the preset's main prompt. A card's own goes before it."))
        form.addRow(tr("Main prompt"), self.main)
        self.post = self._text(setup.post_history, tr("Post-history"), tr("Nothing after the chat"), 2)
        form.addRow(tr("Post-history"), self.post)
        self.context = self._tokens(setup.context_size, tr("Context of the model"), tr("not known: nothing gives way"))
        form.addRow(tr("Context"), self.context)
        self.reply = self._tokens(setup.reply_tokens, tr("Longest reply"), "")
        self.reply.setMinimum(1)
        form.addRow(tr("Longest reply"), self.reply)
        column.addLayout(form)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self._show_card()
        self.resize(620, 560)

    def take_card(self, card: CharacterCard | None, path: Path | None) -> None:
        """Use this card, None for none."""
        self._setup = replace(self._setup, card=card, card_path=path)
        self._show_card()

    def accept(self) -> None:
        """Qt: hand the texts over."""
        persona = Persona(self.name.text().strip(), self.persona.toPlainText().strip())
        self.chosen.emit(
            replace(
                self._setup,
                persona=persona,
                main=self.main.toPlainText().strip() or MAIN_PROMPT,
                post_history=self.post.toPlainText().strip(),
                context_size=self.context.value(),
                reply_tokens=self.reply.value(),
            )
        )
        super().accept()

    def _make_card(self) -> QWidget:
        box = QWidget(self)
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        self.card = QLabel(box)
        self.card.setWordWrap(True)
        self.choose = QPushButton(tr("Choose a card…"), box)
        self.choose.setAutoDefault(False)
        self.choose.clicked.connect(self.card_wanted)
        self.drop = QPushButton(tr("No card"), box)
        self.drop.setAutoDefault(False)
        self.drop.clicked.connect(lambda: self.take_card(None, None))
        row.addWidget(self.card, 1)
        row.addWidget(self.drop)
        row.addWidget(self.choose)
        return box

    def _show_card(self) -> None:
        card, path = self._setup.card, self._setup.card_path
        where = f" ({path.name})" if path is not None else ""
        none = tr("No card: the prompt has main prompt, persona, lore and chat.")
        self.card.setText(f"{card.name}{where}" if card is not None else none)
        self.drop.setVisible(card is not None)

    def _text(self, text: str, name: str, placeholder: str, lines: int) -> QPlainTextEdit:
        field = QPlainTextEdit(text, self)
        field.setObjectName("Boxed")
        field.setAccessibleName(name)
        field.setPlaceholderText(placeholder)
        field.setTabChangesFocus(True)
        field.setMinimumHeight(field.fontMetrics().lineSpacing() * lines + 14)
        return field

    def _tokens(self, value: int, name: str, none: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(0, _MOST_TOKENS)
        box.setSingleStep(1024)
        box.setGroupSeparatorShown(True)
        box.setSuffix(tr(" tokens"))
        box.setSpecialValueText(none)
        box.setAccessibleName(name)
        box.setValue(value)
        return box
