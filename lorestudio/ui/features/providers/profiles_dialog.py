"""Provider profiles: list, add, edit, delete, and a test of the connection. A key goes in and is never shown again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QLocale, QSignalBlocker, Qt
from PySide6.QtGui import QDoubleValidator, QIntValidator
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from lorestudio.domain.lifecycle import Cancelled
from lorestudio.domain.records import replace
from lorestudio.domain.texts import shorten
from lorestudio.settings.sections import naming_profile
from lorestudio.studio.project.answering import (
    PRESETS,
    Api,
    ChatReply,
    Connections,
    KeySource,
    LlmError,
    Profile,
    ProfileError,
    ProfileFile,
    try_profile,
)
from lorestudio.ui.shell.jobs import Job
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import count, sentence_of, tr
from lorestudio.ui.state.ai_calls import duration_words
from lorestudio.ui.state.choices import system_title
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import able, button, column, combo, label, menu_of, named, row, tool
from lorestudio.ui.widgets.pane import MessageBar
from lorestudio.ui.widgets.rows import NameList

_APIS: Final = {Api.OPENAI: "OpenAI-compatible (most servers)", Api.ANTHROPIC: "Anthropic messages"}
_KEYS: Final = {
    KeySource.NONE: "No key",
    KeySource.KEYRING: "Key in this computer's keyring",
    KeySource.ENVIRONMENT: "Key in an environment variable",
}
_FIELDS: Final = {"name": "Name", "url": "URL", "key_variable": "Variable"}
_VARIABLES: Final = {"OpenRouter": "OPENROUTER_API_KEY", "OpenAI": "OPENAI_API_KEY", "Anthropic": "ANTHROPIC_API_KEY"}


class _Saved(Struct, frozen=True):
    """What came of writing: the profiles as they are now, the one that was written, what the keyring said, and the
    profile's name before and now.
    """

    file: ProfileFile
    name: str
    key_problem: str = ""
    test: bool = False
    renamed: tuple[str, str] | None = None


class ProfilesDialog(Dialog):
    """Works on the session's profiles; `writer` says which one writes replies."""

    def __init__(
        self, session: Session, theme: Theme, parent: QWidget | None = None, writer: Callable[[], object] = lambda: ""
    ) -> None:
        super().__init__(parent, tr("Provider profiles"), (760, 470))
        self._session, self._theme, self._writer = session, theme, writer
        self._file = session.providers.file
        self._editing: Profile | None = None  # as it is on the disk; None for a new one
        self._base = Profile("new", url=PRESETS[0].url)
        self._shown: tuple[object, ...] = ()  # what the form held before anything was typed
        self._test: Job | None = None
        self._pressed: QWidget | None = None  # gets the keyboard back, which Qt moves on from what is grey or hidden
        self._moved_to: QWidget = self
        self.bar = MessageBar(theme, self)
        both = row((self._make_list(), 2), (self._make_form(), 3), spacing=14)
        column(self.bar, (both, 1), of=self)
        self.finished.connect(self._stop_test)
        self._shown = self._typed()
        self._fill_list()
        self._show_first()

    def _make_list(self) -> QVBoxLayout:
        self.list = named(NameList(self), tr("Profiles"))
        self.list.setSpacing(2)
        self.list.currentRowChanged.connect(self._chosen)
        self.add = tool(self, "", text=tr("Add"), kind="text", beside=True)
        self.add.setIcon(self._theme.icon("plus"))
        menu = menu_of(self.add)
        for preset in PRESETS:
            menu.addAction(preset.name).triggered.connect(partial(self._add_preset, preset))
        self.delete = button(self, tr("Delete…"), self._ask_delete)
        return column((self.list, 1), row(self.add, self.delete, 1))

    def _make_form(self) -> QVBoxLayout:
        form = self._form = QFormLayout(horizontalSpacing=12)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self.name, self.url, self.model, self.variable = (QLineEdit(self) for _ in range(4))
        self.api = combo(self, tr("Kind of API"), {api.value: tr(title) for api, title in _APIS.items()})
        self.key_source = combo(self, tr("Key"), {source.value: tr(title) for source, title in _KEYS.items()})
        self.key_source.currentIndexChanged.connect(self._show_key_fields)
        self.key = QLineEdit(self, placeholderText=tr("Enter a new key; a stored one is never shown"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.timeout, self.tokens = (QLineEdit(self, placeholderText=tr("as the settings say")) for _ in range(2))
        seconds = QDoubleValidator(0.001, 999, 3, self.timeout, notation=QDoubleValidator.Notation.StandardNotation)
        seconds.setLocale(QLocale.c())
        self.timeout.setValidator(seconds)
        self.tokens.setValidator(QIntValidator(1, 10_000_000, self.tokens))
        for title, field in (
            (tr("Name"), self.name),
            (tr("Kind of API"), self.api),
            (tr("URL"), self.url),
            (tr("Model"), self.model),
            (tr("Key"), self.key_source),
            (tr("New key"), self.key),
            (tr("Variable"), self.variable),
            (tr("Timeout (s)"), self.timeout),
            (tr("Most tokens"), self.tokens),
        ):
            form.addRow(title, named(field, title))
        self.state = label(self, kind="small", selectable=True)
        self.state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.MinimumExpanding)
        self.state.setAlignment(Qt.AlignmentFlag.AlignTop)
        return column(form, (self.state, 1), self._make_buttons())

    def _make_buttons(self) -> QHBoxLayout:
        self.test = button(self, tr("Save and test"), partial(self._save, True))
        self.stop = button(self, tr("Stop the test"), self._stop_test)
        self.stop.hide()
        self.save = named(QPushButton(tr("Save"), self), "", kind="primary")
        self.save.clicked.connect(partial(self._save, False))
        return row(self.test, self.stop, 1, self.save, button(self, tr("Close"), self.reject))

    # ---- showing ----------------------------------------------------------------------------------------------------

    def _fill_list(self) -> None:
        with QSignalBlocker(self.list):
            self.list.clear()
            for profile in self._file.profiles:
                self.list.addItem(f"{profile.name}\n{profile.model or profile.host}")
        if self._file.problems:
            self.bar.say("\n".join(self._file.problems), "warning")

    def _show_first(self, name: str = "") -> None:
        names = [profile.name for profile in self._file.profiles]
        if not names:
            self._add_preset(PRESETS[0])
            self.state.setText(tr("There is no profile yet. Fill in the form and save it, or begin with Add."))
            return
        self.list.setCurrentRow(names.index(name) if name in names else 0)
        self._chosen(self.list.currentRow())

    def lost(self) -> str:
        """See `Dialog`."""
        return tr("What you changed here would be lost.") if self._typed() != self._shown else ""

    def _chosen(self, row: int) -> None:
        if 0 <= row < len(self._file.profiles):
            self._leave(partial(self._edit, self._file.profiles[row]))

    def _edit(self, profile: Profile) -> None:
        self._editing = profile
        self._show_profile(profile)
        self._look_for_key(profile)

    def _leave(self, go: Callable[[], object]) -> None:
        """Go to another profile; where something was typed and not saved, ask first."""
        if self._typed() == self._shown:
            go()
            return

        def answered(drop: bool) -> None:
            if drop:
                self._shown = self._typed()
                go()
            else:
                with QSignalBlocker(self.list):
                    profiles = self._file.profiles
                    self.list.setCurrentRow(profiles.index(self._editing) if self._editing in profiles else -1)

        text = tr("What was changed in “{name}” is not saved.", name=self._base.name)
        box = dialogs.propose(self, tr("Drop the changes"), text, tr("Drop the changes"), answered)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)

    def _typed(self) -> tuple[object, ...]:
        """What the form holds."""
        lines = (self.name, self.url, self.model, self.key, self.variable, self.timeout, self.tokens)
        return (*(each.text() for each in lines), self.api.currentData(), self.key_source.currentData())

    def _add_preset(self, preset: Profile, _checked: bool = False) -> None:
        self._leave(partial(self._begin, preset))

    def _begin(self, preset: Profile) -> None:
        names = {profile.name for profile in self._file.profiles}
        name, tries = preset.name, 1
        while name in names:
            tries += 1
            name = f"{preset.name} {tries}"
        self._editing = None
        self._show_profile(replace(preset, name=name, key_variable=_VARIABLES.get(preset.name, "")))
        self.list.setCurrentRow(-1)
        self.state.setText(tr("A new profile: name the model and save it."))
        self.model.setFocus()

    def _show_profile(self, profile: Profile) -> None:
        self._base = profile
        self.name.setText(profile.name)
        self.api.setCurrentIndex(self.api.findData(profile.api.value))
        self.url.setText(profile.url)
        self.model.setText(profile.model)
        self.key_source.setCurrentIndex(self.key_source.findData(profile.key_source.value))
        self.key.clear()
        self.variable.setText(profile.key_variable)
        self.timeout.setText("" if profile.timeout_ms is None else f"{profile.timeout_ms / 1000:g}")
        self.tokens.setText("" if profile.max_tokens is None else str(profile.max_tokens))
        self.state.setText("")
        self._shown = self._typed()
        self._show_key_fields()
        self._update()

    def _show_key_fields(self) -> None:
        source = self.key_source.currentData()
        self._form.setRowVisible(self.key, source == KeySource.KEYRING.value)
        self._form.setRowVisible(self.variable, source == KeySource.ENVIRONMENT.value)

    def _update(self) -> None:
        testing = self._test is not None
        busy = testing or self.writing
        now = self.focusWidget()
        ours = now in (self.test, self.save, self.stop, self._moved_to)
        if now in (self.test, self.save):
            self._pressed = now
        wait = tr("Wait until the test or the writing has ended.")
        for each in (self.save, self.test, self.add):
            able(each, not busy, wait)
        able(self.delete, not busy and self._editing is not None, wait if busy else tr("It is not saved yet."))
        self.stop.setVisible(testing)
        self.test.setVisible(not testing)
        self._moved_to = self.focusWidget() if ours else self
        if self._pressed is not None and not self.writing:
            if ours:
                (self.stop if testing else self._pressed).setFocus()
            self._pressed = self._pressed if testing else None

    # ---- doing ------------------------------------------------------------------------------------------------------

    def _profile(self) -> Profile:
        """The profile in the form. Raises ProfileError."""
        seconds = self.timeout.text().strip()
        if seconds and not self.timeout.hasAcceptableInput():
            said = tr("Timeout: “{typed}” is no number of seconds. Write one, for instance 30 or 0.5.", typed=seconds)
            raise ProfileError(said)
        source = KeySource(self.key_source.currentData())
        profile = replace(
            self._base,
            name=self.name.text().strip(),
            api=Api(self.api.currentData()),
            url=self.url.text().strip(),
            model=self.model.text().strip(),
            key_source=source,
            # A field that is not shown may hold what was pasted there by mistake.
            key_variable=self.variable.text().strip() if source is KeySource.ENVIRONMENT else self._base.key_variable,
            timeout_ms=round(1000 * float(seconds)) if seconds else None,
            max_tokens=int(self.tokens.text()) if self.tokens.text().strip() else None,
        )
        profile.check_variable()
        return profile

    def _save(self, test: bool = False, _checked: bool = False) -> None:
        try:
            profile = self._profile()
        except ProfileError as error:
            said = str(error)
            for name, title in _FIELDS.items():  # as the form calls them
                said = said.replace(f'The field "{name}"', tr("The field “{title}”", title=tr(title)))
            self.bar.say(said, "error")
            return
        key = self.key.text() if profile.key_source is KeySource.KEYRING else ""
        self.key.clear()
        before, connections = self._editing, self._session.connections
        self._start(tr("Saving the profile"), lambda: _save_profile(connections, before, profile, key, test))

    def _ask_delete(self) -> None:
        profile = self._editing
        if profile is not None:
            text = tr("The profile “{name}” and its key will be deleted.", name=profile.name)
            if chats := len(self._session.choices.choosing(profile.name)):
                text += " " + tr("{chats} it for the answers.", chats=count(chats, "chat chose", "chats chose"))
            if profile.name == self._writer():
                text += " " + tr("It writes replies.")
            for system, each in self._session.choices.systems.items():
                for naming in naming_profile(each, profile.name):
                    words = {"setting": tr(naming.title), "system": system_title(system)}
                    text += " " + tr("“{setting}” in the settings of {system} names it.", **words)
            dialogs.confirm(self, tr("Delete profile"), text, tr("Delete"), partial(self._delete, profile))

    def _delete(self, profile: Profile) -> None:
        connections = self._session.connections
        self._start(tr("Deleting the profile"), lambda: _delete_profile(connections, profile))

    def _look_for_key(self, profile: Profile) -> None:
        """Say whether a key is there; a keyring may wait for the person, so this is a job."""
        if profile.key_source is KeySource.NONE:
            return
        connections = self._session.connections
        self.state.setText(tr("Looking for the key…"))
        self._session.jobs.start(
            tr("Looking for a key"),
            lambda _report: (profile, _key_state(connections, profile)),
            done=self._key_known,
            failed=self._failed,
        )

    def _key_known(self, answer: tuple[Profile, str]) -> None:
        profile, text = answer
        if profile is self._editing:
            self.state.setText(text)

    def _start(self, title: str, work: Callable[[], _Saved]) -> None:
        self.writing = True  # a keyring may wait for the person
        self._update()
        self._session.jobs.start(title, lambda _job: work(), done=self._was_saved, failed=self._failed)

    def _was_saved(self, result: _Saved) -> None:
        self.writing = False
        self._file = result.file
        self._shown = self._typed()
        self._session.providers.take(result.file, result.renamed)
        self._fill_list()
        self._show_first(result.name)
        self._update()
        if result.key_problem:
            self.bar.say(result.key_problem, "error")
        else:
            self.bar.say(tr("Saved.") if result.name else tr("Deleted."), "good")
        if result.test and not result.key_problem:
            self._run_test()

    def _run_test(self) -> None:
        profile, connections = self._editing, self._session.connections
        if profile is None:
            return

        async def work(_job: Job) -> ChatReply:
            return await try_profile(profile, connections)

        self.bar.say(tr("Asking {name}…", name=profile.name))
        title = tr("Testing a connection")
        tested = partial(self._tested, profile)
        self._test = self._session.jobs.start(title, work, done=tested, failed=self._failed)
        self._update()

    def _tested(self, profile: Profile, reply: ChatReply) -> None:
        self._test = None
        self._update()
        tokens = count(reply.usage.input + reply.usage.output, "token", "tokens")
        took = duration_words(reply.duration_ms)
        told = {"name": profile.name, "took": took, "tokens": tokens}
        if reply.is_empty:
            advice = tr("That may be the short test; a reply shows whether it is so there, too.")
            text = tr("“{name}” answered after {took} ({tokens}), but with nothing. {advice}", advice=advice, **told)
            self.bar.say(text, "warning")
        else:
            said = shorten(reply.text, 60)
            self.bar.say(tr("“{name}” works: “{said}” after {took} ({tokens}).", said=said, **told), "good")

    def _stop_test(self) -> None:
        if self._test is not None:
            self._test.cancel()

    def _failed(self, error: Exception) -> None:
        self._test, self.writing = None, False
        self._update()
        if isinstance(error, Cancelled):
            self.bar.say(tr("The test was stopped."))
        else:
            self.bar.say(sentence_of(error), "error")


def _save_profile(connections: Connections, before: Profile | None, profile: Profile, key: str, test: bool) -> _Saved:
    """Write the profile in place of `before`, and its key into the keyring. Raises ProfileError or SettingsError."""
    written = connections.put(profile, before.name if before is not None else "")
    problem = ""
    try:
        _store_key(connections, before, profile, key)
    except LlmError as error:
        problem = tr("The profile was saved, its key was not. {advice}", advice=error)
    renamed = (before.name, profile.name) if before is not None and before.name != profile.name else None
    return _Saved(written, profile.name, problem, test, renamed)


def _store_key(connections: Connections, before: Profile | None, profile: Profile, key: str) -> None:
    """Put a new key away; under another name, the old key goes along. Raises LlmError."""
    keys = connections.keys
    moved = before is not None and before.key_source is KeySource.KEYRING and before.name != profile.name
    if profile.key_source is KeySource.KEYRING:
        if key:
            keys.store(profile.name, key)
        elif moved and before is not None:
            secret = keys.read(before)
            if secret is not None:
                keys.store(profile.name, secret.reveal())
    if moved and before is not None:
        keys.delete(before.name)


def _delete_profile(connections: Connections, profile: Profile) -> _Saved:
    """Take a profile out of the file and its key out of the keyring. Raises ProfileError or SettingsError."""
    written, key_left = connections.remove(profile)
    problem = tr("The profile was deleted, its key was not. {advice}", advice=key_left) if key_left else ""
    return _Saved(written, "", problem)


def _key_state(connections: Connections, profile: Profile) -> str:
    """Whether the key is there, and if not, why and what to do."""
    try:
        connections.keys.read(profile)
    except LlmError as error:
        return str(error)
    if profile.key_source is KeySource.ENVIRONMENT:
        return tr("The variable {name} holds a key.", name=profile.key_variable)
    return tr("A key is stored in the keyring.")
