"""Who the character is, who the person is, and the frame of the prompts: preset, regex scripts and group.

All of it is asked for in a dialog and remembered for each chat. A table has the regex scripts, each with where it comes
from and what it does here; each file has a button for another one and a button for none.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from operator import itemgetter
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLabel, QLineEdit, QPlainTextEdit, QSpinBox, QTabWidget, QWidget
from shiboken6 import isValid

from lorestudio.domain.patterns import PatternError
from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import CharacterCard, GroupChat, load_card, load_group
from lorestudio.exchange.chat_preset import ChatPreset, load_preset
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace, compiled, load_scripts
from lorestudio.studio.project.project import Project
from lorestudio.studio.prompt.setup import (
    MAIN_PROMPT,
    Persona,
    PromptSetup,
    all_scripts,
    embedded_scripts,
    kept_setup,
    remarks_of,
    restored,
    spelled,
    with_group,
    with_preset,
)
from lorestudio.studio.replay.run_store import chat_id
from lorestudio.ui.shell.feature import Context
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, count, number, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column, same_words
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import (
    able,
    button,
    column,
    combo,
    holding,
    label,
    named,
    number_field,
    row,
    show_words,
    text_field,
    text_view,
)
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_PLACES: Final = {
    ScriptPlace.USER_INPUT: "your words",
    ScriptPlace.AI_OUTPUT: "the characters' words",
    ScriptPlace.WORLD_INFO: "SillyTavern's World Info",
}


def script_words(script: RegexScript) -> str:
    """What a script does to a prompt, in words."""
    if script.disabled or not script.find:
        return tr("Switched off")
    if not script.prompt_only:
        return tr("Only changes what is shown") if script.markdown_only else tr("Changed the chat when it was written")
    places = [tr(words) for place, words in _PLACES.items() if place in script.placement]
    if not places:
        return tr("Changes nothing that a prompt has")
    try:
        compiled(script.find)
    except PatternError:
        return tr("Changes nothing: its pattern cannot be read")
    text = tr("Changes {places}", places=", ".join(places))
    limits = (("from depth {depth}", script.min_depth, 0), ("to depth {depth}", script.max_depth, -1))
    for words, depth, beyond in limits:
        if depth is not None and depth > beyond:
            text += " " + tr(words, depth=number(depth))
    return text


_SCRIPT_COLUMNS: Final = (
    Column("Script", lambda row: row[0].name, width=190, tip=lambda row: f"{row[0].name}\n{row[0].find}"),
    Column("From", itemgetter(1), width=130),
    Column("What it does here", itemgetter(2)),
)
"""What is told of a script, where it comes from and what it does."""


class SourceRow(QWidget):
    """`wanted` asks for a file, `dropped` for none; the owner says what is chosen with `show_source`."""

    wanted = Signal()
    dropped = Signal()

    def __init__(self, choose: str, drop: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = label(self)
        self.choose, self.drop = button(self, choose, self.wanted), button(self, drop, self.dropped)
        self.setLayout(row((self.label, 1), self.drop, self.choose, margins=0))

    def show_source(self, text: str, *, chosen: bool) -> None:
        """Say what is chosen, or what that nothing is means."""
        self.label.setText(text)
        self.drop.setVisible(chosen)


_MOST_TOKENS = 10_000_000


class TextOrigin(StrEnum):
    """The kinds of files that shape a prompt."""

    CARD = "card"
    PRESET = "preset"
    REGEX = "regex"
    GROUP = "group"


class PromptSetupDialog(Dialog):
    """`chosen` carries the new PromptSetup; `file_wanted` asks for a file of a kind, whose content `take` brings."""

    chosen = Signal(object)
    file_wanted = Signal(str)

    def __init__(
        self,
        theme: Theme,
        setup: PromptSetup,
        user: str,
        chat: Path | None = None,
        parent: QWidget | None = None,
        host: tuple[Path, RegexScripts] | None = None,
    ) -> None:
        """`host` are the regex scripts that the project's settings file brings along."""
        super().__init__(parent, tr("Card, persona and prompt"), (660, 560))
        self._theme, self._setup, self._chat, self._host = theme, setup, chat, host
        intro = tr(
            "These texts stand in the prompt beside lore and chat, in SillyTavern's order. They decide nothing about "
            "which entries go in; regex scripts alone change what is searched."
        )
        self.tabs = named(QTabWidget(self, documentMode=True), tr("Card, persona and prompt"))
        self.tabs.tabBar().ensurePolished()
        self.tabs.addTab(self._make_people(user), tr("Characters"))
        self.tabs.addTab(self._make_prompt(), tr("Preset and prompts"))
        self.tabs.addTab(self._make_scripts(), tr("Regex scripts"))
        self.remarks = text_view(self.tabs, tr("What is not followed"))
        self.tabs.addTab(self.remarks, "")
        self.problem = label(self, kind="error", selectable=True)
        self.problem.hide()
        column(label(self, intro), (self.tabs, 1), self.problem, self.answers(tr("Apply")), of=self)
        self._fill()
        self._show_sources()
        self._before = self._current()
        self.accepted.connect(lambda: self.chosen.emit(self._current()))

    def take(self, content: object, path: Path) -> None:
        """Use what was read from a file: a card, a preset, a group or regex scripts."""
        self.problem.hide()
        if isinstance(content, CharacterCard):
            self._set(replace(self._current(), card=content, card_path=path))
        elif isinstance(content, ChatPreset):
            self._set(with_preset(self._current(), content, path))
        elif isinstance(content, GroupChat):
            self._set(with_group(self._current(), content, path, self._chat))
        elif isinstance(content, RegexScripts):
            now = self._current()
            self._set(replace(now, regex=(*now.regex, content), regex_paths=(*now.regex_paths, path)))

    def refuse(self, error: Exception) -> None:
        """Say why a file cannot be used; everything stays as it was."""
        show_words(self.problem, sentence_of(error))

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("What you changed here would be lost.") if self._current() != self._before else ""

    def _make_people(self, user: str) -> QWidget:
        page, form = self._page()
        self.card = self._source(TextOrigin.CARD, tr("Choose a card…"), tr("No card"))
        self.card.dropped.connect(lambda: self._set(replace(self._current(), card=None, card_path=None)))
        form.addRow(tr("Character"), self.card)
        self.group = self._source(TextOrigin.GROUP, tr("Choose a group…"), tr("No group"))
        self.group.dropped.connect(lambda: self._set(with_group(self._current(), None)))
        form.addRow(tr("Group"), self.group)
        self.speaker = combo(page, tr("Speaks next"))
        self._speaker_row = QLabel(tr("Speaks next"), page)
        form.addRow(self._speaker_row, self.speaker)
        self.name = named(QLineEdit(page, placeholderText=user), tr("Your name"))
        form.addRow(tr("Your name"), self.name)
        self.persona = self._text(tr("Your persona"), tr("Who you are in this story"), 3)
        form.addRow(tr("Your persona"), self.persona)
        return page

    def _make_prompt(self) -> QWidget:
        page, form = self._page()
        self.preset = self._source(TextOrigin.PRESET, tr("Choose a preset…"), tr("No preset"))
        self.preset.dropped.connect(lambda: self._set(with_preset(self._current(), None)))
        form.addRow(tr("Preset"), self.preset)
        self.main = self._text(tr("Main prompt"), MAIN_PROMPT, 4)
        self.main.setToolTip(tr("In SillyTavern the preset's main prompt. A card's own goes before it."))
        form.addRow(tr("Main prompt"), self.main)
        self.post = self._text(tr("Post-history"), tr("Nothing after the chat"), 2)
        form.addRow(tr("Post-history"), self.post)
        self.context = self._tokens(tr("Context of the model"), tr("not known: nothing gives way"))
        form.addRow(tr("Context"), self.context)
        self.reply = self._tokens(tr("Longest reply"), "")
        self.reply.setMinimum(1)
        form.addRow(tr("Longest reply"), self.reply)
        return page

    def _make_scripts(self) -> QWidget:
        self.regex = self._source(TextOrigin.REGEX, tr("Add scripts…"), tr("No files"))
        self.regex.dropped.connect(lambda: self._set(replace(self._current(), regex=(), regex_paths=())))
        self.embedded = QCheckBox(self)
        self.embedded.toggled.connect(lambda _on: self._show_sources())
        self.script_rows = RecordTable(_SCRIPT_COLUMNS, tip=same_words, parent=self)
        name = tr("Regex scripts, in the order they run in")
        self.scripts = RecordView(self._theme, self.script_rows, name, self)
        return holding(column(self.regex, self.embedded, (self.scripts, 1)), self)

    def _page(self) -> tuple[QWidget, QFormLayout]:
        page = QWidget(self)
        form = QFormLayout(page, horizontalSpacing=12)
        return page, form

    def _source(self, source: TextOrigin, choose: str, drop: str) -> SourceRow:
        made = SourceRow(choose, drop, self)
        made.wanted.connect(lambda: self.file_wanted.emit(source.value))
        return made

    def _current(self) -> PromptSetup:
        """The setup with what stands in the fields."""
        main = self.main.toPlainText().strip()
        return replace(
            self._setup,
            persona=Persona(self.name.text().strip(), self.persona.toPlainText().strip()),
            main=self._as_it_was(self._setup.main, main if self._setup.preset is not None else main or MAIN_PROMPT),
            post_history=self._as_it_was(self._setup.post_history, self.post.toPlainText().strip()),
            context_size=self.context.value(),
            reply_tokens=self.reply.value(),
            embedded_regex=self.embedded.isChecked(),
            speaker=str(self.speaker.currentData() or "") if self._setup.group is not None else "",
        )

    @staticmethod
    def _as_it_was(before: str, text: str) -> str:
        """The text, with the white space around it where nothing else was changed: a preset's own stays its own."""
        return before if before.strip() == text else text

    def _set(self, setup: PromptSetup) -> None:
        self._setup = setup
        self._fill()
        self._show_sources()

    def _fill(self) -> None:
        """Put the setup into the fields."""
        setup = self._setup
        self.name.setText(setup.persona.name)
        self.persona.setPlainText(setup.persona.text)
        self.main.setPlainText(setup.main)
        self.post.setPlainText(setup.post_history)
        self.context.setValue(setup.context_size)
        self.reply.setValue(setup.reply_tokens)
        self.embedded.setChecked(setup.embedded_regex)
        self.speaker.clear()
        self.speaker.addItem(tr("As the group says"), "")
        for member in setup.group.members if setup.group is not None else ():
            self.speaker.addItem(member.name, member.name)
        self.speaker.setCurrentIndex(max(0, self.speaker.findData(setup.speaker)))

    def _show_sources(self) -> None:
        setup = replace(self._setup, embedded_regex=self.embedded.isChecked())
        card, preset, group = setup.card, setup.preset, setup.group
        none = tr("No card: the prompt has main prompt, persona, lore and chat.")
        text = _named(card.name, setup.card_path) if card is not None else none
        if group is not None:
            text = tr("In a group the card of whoever speaks.")
        self.card.show_source(text, chosen=card is not None)
        none = tr("No group: members are those who speak in the chat.")
        self.group.show_source(_group_words(group) if group is not None else none, chosen=group is not None)
        self._speaker_row.setVisible(group is not None)
        self.speaker.setVisible(group is not None)
        none = tr("No preset: SillyTavern's order as it is delivered.")
        text = _named(preset.name, setup.preset_path) if preset is not None else none
        self.preset.show_source(text, chosen=preset is not None)
        names = ", ".join(path.name for path in setup.regex_paths)
        none = tr("No files. SillyTavern keeps its scripts in settings.json.")
        self.regex.show_source(names or none, chosen=bool(names))
        held = sum(len(found.scripts) for _where, found in embedded_scripts(setup))
        scripts = count(held, "script", "scripts")
        self.embedded.setText(tr("Run what cards and preset bring along ({scripts})", scripts=scripts))
        able(self.embedded, bool(held), tr("No card and no preset that is chosen above brings scripts along."))
        known = all_scripts(setup)
        if self._host is not None and self._host[0] not in setup.regex_paths:
            known.insert(0, (self._host[0].name, self._host[1]))
        told = [(script, where, script_words(script)) for where, found in known for script in found.scripts]
        self.script_rows.set_rows(told)
        running = sum(script.changes_prompt for _where, found in known for script in found.scripts)
        self.tabs.setTabText(2, tr("Regex scripts ({number})", number=running) if running else tr("Regex scripts"))
        remarks = remarks_of(setup)
        none = tr("Everything that the chosen files say about prompts is followed.")
        self.remarks.setPlainText("\n\n".join(remarks) or none)
        title = tr("Not followed ({number})", number=len(remarks)) if remarks else tr("Not followed")
        self.tabs.setTabText(3, title)

    def _text(self, name: str, placeholder: str, lines: int) -> QPlainTextEdit:
        field = text_field(self, name, placeholder)
        field.setMinimumHeight(field.fontMetrics().lineSpacing() * lines + 14)
        return field

    def _tokens(self, name: str, none: str) -> QSpinBox:
        box = number_field(self, name, 0, _MOST_TOKENS, after=tr(" tokens"))
        box.setSingleStep(1024)
        box.setGroupSeparatorShown(True)
        box.setSpecialValueText(none)
        return box


def _named(name: str, path: Path | None) -> str:
    return f"{name} ({path.name})" if path is not None else name


def _group_words(group: GroupChat) -> str:
    members = count(len(group.members), "member", "members")
    return tr("{name}: {members}, {cards}", name=group.name, members=members,
              cards=tr("cards joined") if group.joined else tr("the card of whoever speaks"))  # fmt: skip


class _Kind(Struct, frozen=True):
    """How a file of a kind is asked for and read."""

    title: str
    filters: str
    reading: str
    load: Callable[[Path], object]


_KINDS: Final = {
    TextOrigin.CARD: _Kind("Choose a character card", "Character cards (*.png *.json *.charx);;All files (*)",
                           "Reading the card", load_card),
    TextOrigin.PRESET: _Kind("Choose a preset of chat completion, or SillyTavern's settings.json",
                             "Presets (*.json *.settings);;All files (*)", "Reading the preset", load_preset),
    TextOrigin.REGEX: _Kind("Choose regex scripts, or SillyTavern's settings.json",
                            "Regex scripts (*.json);;All files (*)", "Reading the regex scripts", load_scripts),
    TextOrigin.GROUP: _Kind("Choose a file of SillyTavern's groups folder", "Groups (*.json);;All files (*)",
                            "Reading the group", load_group),
}  # fmt: skip


class PromptSetups(QObject):
    """What was chosen for each chat lies in the window's settings; a card is read again when its chat is opened."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._context, self._session, self._settings = context, context.session, context.settings

    def edit(self) -> PromptSetupDialog | None:
        """Ask for card, persona and the frame of the prompts."""
        project = self._session.project
        if project is None:
            return None
        user = project.chat.user_name if project.chat is not None else ""
        path, scripts = project.settings_path, project.host.scripts
        host = (path, scripts) if path is not None and scripts.scripts else None
        context = self._context
        dialog = PromptSetupDialog(context.theme, project.setup, user, project.chat_path, context.window, host)
        dialog.chosen.connect(self._take_setup)
        dialog.file_wanted.connect(lambda source: self._ask_file(dialog, TextOrigin(source)))
        dialog.open()
        return dialog

    def _ask_file(self, dialog: PromptSetupDialog, source: TextOrigin) -> None:
        kind = _KINDS[source]

        def chosen(path: Path) -> None:
            self._session.jobs.start(
                tr(kind.reading),
                lambda _report: kind.load(path),
                done=lambda content: dialog.take(content, path) if isValid(dialog) else None,
                failed=lambda error: dialog.refuse(error) if isValid(dialog) else self._failed(error),
            )

        title, filters = tr(kind.title), tr(kind.filters)
        dialogs.choose_again(self._context.window, self._settings, source.value, title, filters, chosen)

    def _take_setup(self, setup: object) -> None:
        project = self._session.project
        if project is not None and isinstance(setup, PromptSetup):
            self._settings.setValue(f"prompts/{chat_id(project)}", spelled(setup))
            self._session.parts.take_setup(setup)

    def restore(self, project: Project) -> None:
        """What was chosen for this chat before; its files are read again. What came with it is kept for next time."""
        key = f"prompts/{chat_id(project)}"
        text = str(self._settings.value(key, ""))
        if not text and project.setup != PromptSetup():
            self._settings.setValue(key, spelled(project.setup))
        if not text or project.setup != PromptSetup():
            return
        kept = kept_setup(text)

        def done(found: tuple[PromptSetup, tuple[str, ...]]) -> None:
            setup, problems = found
            now = self._session.project
            if now is not None and chat_id(now) == chat_id(project) and now.setup == PromptSetup():
                self._session.parts.take_setup(setup)
            if problems:
                self._context.say(Notice(" ".join(problems), "error", key="card"))

        if not kept.names_files:
            done(restored(kept, project.chat_path))
            return
        title = tr("Reading what the prompt is made of")
        self._session.jobs.start(
            title, lambda _report: restored(kept, project.chat_path), done=done, failed=self._failed
        )

    def _failed(self, error: Exception) -> None:
        self._context.say(Notice(sentence_of(error), "error", key="card"))
