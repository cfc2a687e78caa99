"""The dialogs of a system: its settings, made from their declarations, and its books."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFormLayout, QLabel, QLineEdit, QPushButton, QWidget

from lorestudio.exchange.lorebooks.reading import BookFile, BookRole, LookedAt, Lorebook, added_file, look_at
from lorestudio.settings.declaration import Section, Value, declared
from lorestudio.settings.deeplore import same
from lorestudio.settings.worldinfo import BY_BOOKS, VAULT
from lorestudio.systems.base import ScannedBooks, Scene
from lorestudio.ui.features.settings.editor import SettingEditor, SettingsTree, SettingsView
from lorestudio.ui.features.settings.trial import Trial
from lorestudio.ui.shell.jobs import Jobs, Newest
from lorestudio.ui.shell.qt import plain, pressed_by_enter
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.cells import Column
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import COPIED, able, button, column, combo, label, named, row, split, text_view
from lorestudio.ui.widgets.record_table import RecordTable, RecordView

_ROLES: Final[Mapping[BookRole, str]] = {
    BookRole.GLOBAL: "Global",
    BookRole.CHARACTER: "Character",
    BookRole.CHAT: "Chat",
    BookRole.PERSONA: "Persona",
}


class BooksDialog(Dialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it.

    Files are read by a worker, when the dialog is opened and whenever one is added. Behind those listed stand the
    lorebooks that are scanned besides, since the `scene` has them: its chat, cards and persona, or what is open, name
    them. They are looked for anew after each change.
    """

    accepted_settings = Signal(object)  # Section

    def __init__(
        self,
        theme: Theme,
        jobs: Jobs,
        scanned: ScannedBooks,
        settings: Section,
        parent: QWidget,
        scene: Scene | None = None,
    ) -> None:
        super().__init__(parent, tr("Lorebooks of World Info"), (760, 560))
        self._jobs, self._scanned, self._settings, self._scene = jobs, scanned, settings, scene
        self.books: list[LookedAt] = [LookedAt(file) for file in scanned.files(settings)]
        self.besides: list[LookedAt] = []
        self._missing: tuple[str, ...] = ()
        self._searches = Newest(jobs)
        self._reading = 0
        columns = (
            Column("Lorebook", _name, tip=lambda each: each.file.path),
            Column("Role", _role, width=150, tip=_role),
            Column("Entries", lambda each: str(len(each.book.entries)) if each.book is not None else "", width=80),
            Column("Remarks", _remarks, icon=lambda each: ("error", "error") if each.problem else None, width=150),
        )
        self.model = RecordTable(columns, theme=theme, parent=self)
        self.list = RecordView(theme, self.model, tr("Lorebooks"), self)
        self._build()
        self._fill(self._listed(0))
        files = [each.file for each in self.books]
        if files:
            self._start(lambda: [look_at(file) for file in files], self._looked)
        self._search()

    @property
    def settings(self) -> Section:
        """The settings as they are set here."""
        update = {
            "source": self.source.currentData(),
            "character_strategy": self.strategy.currentData(),
            "worlds": self.worlds.text().strip(),
        }
        return self._scanned.naming(self._settings, [each.file for each in self.books]).model_copy(update=update)

    # ---- what can be done -------------------------------------------------------------------------------------------

    def add(self, paths: Sequence[Path]) -> None:
        """List these files, in the role that their content suggests; a file that is listed already stays as it is."""
        known = {each.file.path for each in self.books}
        new = [path for path in dict.fromkeys(paths) if str(path) not in known]
        if new:
            self._start(lambda: [look_at(added_file(path)) for path in new], self._added)

    def remove(self) -> None:
        """Take the chosen book from the list; its file stays."""
        place = self._place()
        if place >= 0:
            del self.books[place]
            self._fill(self._listed(min(place, len(self.books) - 1)))
            self._search()

    def set_role(self, role: BookRole) -> None:
        """Say whose the chosen book is."""
        place = self._place()
        if place >= 0 and self.books[place].file.role is not role:
            before = self.books[place]
            self.books[place] = LookedAt(BookFile(before.file.path, role), before.book, before.problem)
            self._fill(self.books[place])
            self._search()

    def accept(self) -> None:
        """Qt: hand the settings over and close."""
        if self.apply.isEnabled():
            self.accepted_settings.emit(self.settings)
            super().accept()

    # ---- building ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        intro = tr(
            "World Info scans these files as SillyTavern would: its lorebooks (.json), those of Agnaistic, NovelAI "
            "and Risu, and character cards with a book inside. The files are only read."
        )
        self.add_button = button(self, tr("Use a lorebook file…"), self._ask_files)
        self.remove_button = button(self, tr("Remove from the list"), self.remove)
        roles = {role.value: tr(title) for role, title in _ROLES.items()}
        self.role = combo(self, tr("Role of the chosen lorebook"), roles)
        role_label = label(self, tr("Role of the chosen one"), wrap=False)
        self.about = text_view(self, tr("About the chosen lorebook"))
        self.about.setFixedHeight(110)
        self.apply = QPushButton(tr("Apply and replay"), self)
        form = self._form()
        self.state = label(self, kind="small")
        column(
            label(self, intro), (self.list, 1), row(self.add_button, self.remove_button, 1, role_label, self.role),
            self.about, form, self.state, self.answers(self.apply), of=self,
        )  # fmt: skip
        remove = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.list)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(self.remove)
        self.list.chosen.connect(lambda _book: self._show_chosen())
        self.role.activated.connect(lambda place: self.set_role(BookRole(self.role.itemData(place))))
        self.source.currentIndexChanged.connect(lambda _place: self._search())
        self.worlds.textChanged.connect(lambda _text: self._search())

    def _form(self) -> QFormLayout:
        values = self._settings.model_dump()
        known = {each.name: each for each in declared(type(self._settings))}
        source, strategy = tr("What is scanned"), tr("Whose entries come first")
        self.source, self.strategy = combo(self, source), combo(self, strategy)
        for name, box in (("source", self.source), ("character_strategy", self.strategy)):
            for value, text in known[name].choices.items():
                box.addItem(tr(text).rstrip("."), value)
            box.setCurrentIndex(box.findData(values[name]))
            box.setToolTip(tr(known[name].help))
        self.worlds = QLineEdit(
            values["worlds"], self, placeholderText=tr("such as SillyTavern/data/default-user/worlds")
        )
        browse = button(self, tr("Choose…"), self._ask_worlds, name=tr("Choose SillyTavern's folder of lorebooks"))
        form = QFormLayout()
        form.addRow(source, self.source)
        form.addRow(strategy, self.strategy)
        folder = tr("SillyTavern's folder")
        form.addRow(folder, row((named(self.worlds, folder, tr(known["worlds"].help)), 1), browse))
        return form

    # ---- files ------------------------------------------------------------------------------------------------------

    def _ask_files(self) -> None:
        filters = tr("Lorebooks and cards (*.json *.png *.charx *.lorebook);;All files (*)")
        start, title = self.worlds.text().strip(), tr("Use lorebook files")
        dialogs.choose_files(self, title, start, filters, lambda files: self.add([Path(file) for file in files]))

    def _ask_worlds(self) -> None:
        start = self.worlds.text().strip()
        title = tr("SillyTavern's folder of lorebooks")
        dialogs.choose_file(self, title, start, "", lambda path: self.worlds.setText(str(path)))

    def _start(self, work: Callable[[], list[LookedAt]], done: Callable[[Sequence[LookedAt]], None]) -> None:
        self._reading += 1
        self._tell()
        self._jobs.start(
            tr("Reading lorebooks"),
            lambda _report: work(),
            done=partial(self._ended, done),
            failed=lambda error: self._ended(lambda _found: self.state.setText(sentence_of(error)), []),
        )

    def _ended(self, done: Callable[[Sequence[LookedAt]], None], found: Sequence[LookedAt]) -> None:
        self._reading -= 1
        done(found)

    def _looked(self, found: Sequence[LookedAt]) -> None:
        """Files were read: what is still listed is shown as it was found."""
        by_path = {each.file.path: each for each in found}
        for place, each in enumerate(self.books):
            read = by_path.get(each.file.path)
            if read is not None:
                self.books[place] = LookedAt(each.file, read.book, read.problem)
        self._fill(self._listed(max(0, self._place())))

    def _added(self, found: Sequence[LookedAt]) -> None:
        known = {each.file.path for each in self.books}
        self.books += (each for each in found if each.file.path not in known)
        self._fill(self._listed(-1))
        self._search()

    def _search(self) -> None:
        """Look which lorebooks are scanned beside those that are listed, as things stand here."""
        scene, settings, scanned = self._scene, self.settings, self._scanned
        self._tell()
        if scene is not None:
            self._searches.start(
                tr("Looking for lorebooks"),
                lambda _report: scanned.in_play(settings, scene),
                done=self._found,
                failed=lambda error: self._found(((), (sentence_of(error),))),
            )

    def _found(self, found: tuple[tuple[Lorebook, ...], tuple[str, ...]]) -> None:
        books, self._missing = found
        listed = {str(Path(each.file.path).expanduser()) for each in self.books}
        chosen = self.list.current
        self.besides = [LookedAt(BookFile(book.place, book.role), book) for book in books if book.place not in listed]
        same = (each for each in self.besides if chosen is not None and each.file == chosen.file)
        self._fill(chosen if self._place() >= 0 else next(same, self._listed(0)))
        self._tell()

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _listed(self, place: int) -> LookedAt | None:
        return self.books[place] if self.books else None

    def _place(self) -> int:
        """Where the chosen one is listed; -1 if it is not, or none is chosen."""
        return next((place for place, each in enumerate(self.books) if each is self.list.current), -1)

    def _fill(self, chosen: LookedAt | None) -> None:
        self.model.set_rows([*self.books, *self.besides])
        self.list.choose(id(chosen) if chosen is not None else None)

    def _show_chosen(self) -> None:
        each, listed = self.list.current, self._place() >= 0
        for widget in (self.remove_button, self.role):
            able(widget, listed, tr("Choose a lorebook first that the settings list."))
        if each is None and self.model.rows:
            text = tr("Choose a lorebook in the list to read what of it has no effect here.")
        elif each is None:
            text = tr("No lorebook is listed. “Use a lorebook file…” adds one; what of it has no effect is told here.")
        elif each.book is not None:
            told = each.book.remarks or (tr("Everything in it has its effect here."),)
            named = tr("Scanned besides: the chat, a card, the persona or what is open names it, and no list here.")
            text = "\n".join([each.file.path, *(() if listed else (named,)), *told])
        else:
            text = each.problem or tr("{path} is being read…", path=each.file.path)
        if each is not None:
            self.role.setCurrentIndex(self.role.findData(each.file.role.value))
        self.about.setPlainText(text)
        self._tell()

    def _tell(self) -> None:
        broken = [each for each in self.books if each.problem]
        if self._reading:
            text = tr("The files are being read…")
        elif broken:
            name = Path(broken[0].file.path).name
            text = tr("{name} cannot be used. Remove it from the list, or mend the file and add it again.", name=name)
        elif self.source.currentData() == VAULT and not self.besides:
            text = tr("The vault's notes are scanned; the list is kept for another time.")
        elif not self.model.rows and self.source.currentData() == BY_BOOKS:
            text = tr("No lorebook is listed, so the vault's notes are scanned. Add a file to scan it in their place.")
        else:
            total = sum(len(each.book.entries) for each in self.model.rows if each.book is not None)
            text = tr("{entries} in the lorebooks that are listed.", entries=count(total, "entry", "entries"))
        if self._missing and not broken:
            more = len(self._missing) - 1
            told = tr("{sentence} (and {n} more)", sentence=self._missing[0], n=more) if more else self._missing[0]
            text = f"{text}\n{told}"
        self.state.setToolTip(plain("\n".join(self._missing)))
        self.state.setText(text)
        wait = (
            tr("Wait until the books are read.") if self._reading else tr("A book cannot be read: take it out first.")
        )
        able(self.apply, not broken and not self._reading, wait)


def _name(each: LookedAt) -> str:
    return each.book.name if each.book is not None else Path(each.file.path).name


def _role(each: LookedAt) -> str:
    role, owners = tr(_ROLES[each.file.role]), each.book.owners if each.book is not None else ()
    return tr("{role} ({names})", role=role, names=", ".join(sorted(owners))) if owners else role


def _remarks(each: LookedAt) -> str:
    if each.book is not None and each.book.remarks:
        return count(len(each.book.remarks), "remark", "remarks")
    return tr("cannot be used") if each.problem else ""


OUTCOME_LINES = 4


class SystemSettingsDialog(Dialog):
    """Changes a copy of the settings. `accepted_settings` carries it once the person wants it."""

    accepted_settings = Signal(object)  # Section

    def __init__(
        self,
        theme: Theme,
        title: str,
        intro: str,
        settings: Section,
        parent: QWidget,
        *,
        trial: Trial | None = None,
        brief: bool = False,
    ) -> None:
        """With a `trial`, what the settings would do to the open reply is shown while they are moved.

        With `brief`, settings that few people need have to be asked for.
        """
        super().__init__(parent, title, (900, 620 if trial is not None else 560))
        self._before = self.settings = settings
        """The settings as they are set here."""
        self._known = {each.name: each for each in declared(type(settings))}
        self.trial = trial
        self.view = SettingsView(
            theme, SettingsTree(theme, settings, tuple(self._known.values()), self), self, opened=True, brief=brief
        )
        hint = tr("Choose a setting in the list to read what it does and to change it.")
        self.editor = SettingEditor(theme, self, hint)
        self.outcome = self._make_outcome()
        """What the settings as they stand here would do to the open reply."""
        self.defaults = button(self, tr("All defaults"), self.set_defaults)
        self._told = label(self, kind="small", wrap=False)
        self.apply = QPushButton(tr("Apply and replay") if trial is not None else tr("Keep"), self, autoDefault=False)
        self._row = row(self.defaults, (self._told, 1), self.answers(self.apply))
        parts = split(self.view, self.editor, across=True, sizes=(480, 420))
        column(label(self, intro), (parts, 1), self.outcome, self._row, of=self)
        self.view.chosen.connect(lambda _setting: self._show_chosen())
        self.view.entered.connect(self.editor.focus_field)
        self.editor.moved.connect(lambda declaration, value: self.set_value(declaration.name, value))
        self.editor.kept.connect(self.view.tree.setFocus)
        self.editor.left.connect(self.reject)
        self.editor.stage_wanted.connect(self.view.show_stage)
        self.accepted.connect(lambda: self.accepted_settings.emit(self.settings))
        self.view.show_setting(next(iter(self._known)))
        self._tell()
        self._show_trial()

    def _make_outcome(self) -> QLabel:
        outcome = label(self, top=True)
        outcome.setMinimumHeight(OUTCOME_LINES * outcome.fontMetrics().lineSpacing())
        outcome.setTextInteractionFlags(COPIED)
        trial = self.trial
        outcome.setVisible(trial is not None)
        if trial is not None:
            trial.setParent(self)
            trial.changed.connect(self._show_trial)
            self.finished.connect(lambda _result: trial.end())
        return outcome

    # ---- what can be done -------------------------------------------------------------------------------------------

    def set_value(self, name: str, value: Value) -> None:
        """Change one setting."""
        self._change(self.settings.model_copy(update={name: value}))

    def choose(self, name: str) -> None:
        """Show one setting."""
        self.view.search.clear()
        self.view.show_setting(name)

    def set_defaults(self) -> None:
        """Put every setting back to its default."""
        self._change(self.settings.model_copy(update={name: each.default for name, each in self._known.items()}))

    def add_door(self, text: str, opened: Callable[[], None]) -> None:
        """A button for what has a dialog of its own."""
        self._row.insertWidget(1, button(self, text, opened))

    def _change(self, settings: Section) -> None:
        self.settings = settings
        self.view.model.set_settings(settings)
        self.view.refill()
        self._show_chosen()
        self._tell()

    def _show_chosen(self) -> None:
        chosen = self.view.model.setting(self.view.tree.currentIndex())
        if chosen is None:
            self.editor.say_nothing()
        else:
            self.editor.show_setting(chosen, self.view.model.value(chosen))

    def _show_trial(self) -> None:
        """Say what the settings as they stand here would do, greyed where it is of those before."""
        trial = self.trial
        if trial is not None:
            hint = tr("Move a setting to see what it would do to the reply that you look at.")
            text = trial.words if trial.pending else hint
            self.outcome.setText(text)
            self.outcome.setAccessibleName(text)
            self.outcome.setEnabled(trial.pending and (trial.diff is None or trial.is_current))

    def _tell(self) -> None:
        if self.trial is not None:
            if self.settings == self._before:
                self.trial.end()
            else:
                self.trial.try_settings(self.settings)
        changed = sum(not same(getattr(self.settings, name), each.default) for name, each in self._known.items())
        none = tr("Every setting has its default.")
        told = count(changed, "setting differs from its default", "settings differ from their defaults")
        self._told.setText(told if changed else none)
        able(self.defaults, bool(changed), none)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Ctrl+Enter takes the settings; Enter alone stays in the list."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.accept()
            else:
                pressed_by_enter(self, event)
            return
        super().keyPressEvent(event)
