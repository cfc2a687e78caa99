"""The retrieval systems in the window: choosing one for the chat, setting it, comparing them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog

from lorestudio.settings.declaration import Section, declared
from lorestudio.settings.sections import differences, value_text, with_profile
from lorestudio.studio.compare.comparison import comparison_as_markdown, comparison_rows
from lorestudio.studio.project.settings import KnownSettings, SystemSettingsFiles
from lorestudio.systems.registry import KINDS, kind_of
from lorestudio.trace.text import csv_bytes
from lorestudio.ui.features.chat.pane import ChatPane
from lorestudio.ui.features.compare.systems import UPGRADE, Offer
from lorestudio.ui.features.settings.profiles import ProfileLibrary
from lorestudio.ui.features.settings.trial import Trial
from lorestudio.ui.shell.actions import Action, Need
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import Notice, sentence_of, tr
from lorestudio.ui.state.choices import system_help, system_title
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.picker import Choice

if TYPE_CHECKING:
    from lorestudio.ui.features.compare.systems_pane import SystemsPane
    from lorestudio.ui.features.systems.dialogs import BooksDialog, SystemSettingsDialog


class SystemsFeature(Feature):
    """Owns the page that compares systems, and the files with the systems' settings in the person's configuration."""

    def __init__(self, context: Context, chat: ChatPane, profiles: ProfileLibrary) -> None:
        super().__init__(context)
        self._session, self._chat, self._profiles = context.session, chat, profiles
        self.files = SystemSettingsFiles(Path(context.settings.fileName()).parent / "systems")
        self._page: SystemsPane | None = None
        self.dialog: SystemSettingsDialog | None = None
        """The dialog that was opened last, while it is open."""
        self._kept: dict[str, Section] = {}
        """What stands in the files, or is on its way there."""
        self.books: BooksDialog | None = None
        """That of the lorebooks, while it is open."""
        context.findable.append(self._findable)

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        project, chat, session = self.context.has_project, self.context.has_chat, self._session
        menu, compare, compared = (
            "Run/System",
            "Trace/Compare",
            partial(Action, when=Need(self._has_comparison, "Compare systems on the whole chat first.")),
        )
        return (
            *(
                Action(
                    f"system.{name}", system_title(name), menu, 250 + place, partial(self.choose, name), when=project,
                    tip=system_help(name), ticked=partial(lambda name: session.choice.system == name, name),
                )
                for place, name in enumerate(KINDS)
            ),
            Action(
                "system.settings", "Settings of the system…", menu, 300, self.show_settings, when=project,
                icon="switches", tip="Set the system that is chosen for this chat",
            ),
            Action(
                "worldinfo.books", "Lorebooks of World Info…", menu, 305, self.open_books, when=project, icon="list",
                tip="Scan SillyTavern's lorebooks in place of the vault: files, whose they are, and in what order",
            ),
            Action(
                "systems.compare", "Compare systems on the whole chat…", compare, 236, self.show_comparison, when=chat,
                icon="columns",
                tip="Run the chat with two or more systems or settings, and put what they put in side by side",
            ),
            Action(
                "systems.upgrade", "What the newer rules change…", menu, 312, self.show_upgrade, when=chat,
                icon="columns",
                tip="Run the chat by DeepLore's rules before and after 2.5, and say which rule lets whom in or out",
            ),
            compared("systems.copy", "Copy the comparison of systems", compare, 240, self.copy, icon="copy"),
            compared(
                "systems.csv", "Save the comparison as CSV…", compare, 241, partial(self._ask_file, ".csv"),
                icon="save",
            ),
            compared(
                "systems.picture", "Save the chart as a picture…", compare, 242, partial(self._ask_file, ".png"),
                icon="table",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Follow what is asked for above the chat, and read the settings that were kept."""
        self._session.choice_changed.connect(self._leave_foreign)
        self._session.configured.connect(self._keep_changed)
        self._session.profile_renamed.connect(self._follow_profile)
        self._chat.modes.system_chosen.connect(self.choose)

        def failed(error: Exception) -> None:
            self._read(KnownSettings({}, (sentence_of(error),)))  # others wait to hear what holds

        title = tr("Reading the systems' settings")
        self._session.jobs.start(title, lambda _report: self.files.read(), done=self._read, failed=failed)

    def make_page(self) -> SystemsPane:
        """The page of systems, for the pane of comparisons."""
        from lorestudio.ui.features.compare.systems_pane import BUTTONS, SystemsPane

        context, profiles = self.context, self._profiles
        self._page = page = SystemsPane(context.theme, context.session, context.selection)
        page.wanted.connect(context.run)
        page.changed.connect(context.actions_changed)
        page.jump.connect(self._chat.show_generation)
        page.file_wanted.connect(self._ask_settings)
        for name in BUTTONS:
            page.buttons[name].setDefaultAction(context.action(name))
        page.set_profiles(profiles.known)
        profiles.changed.connect(lambda: page.set_profiles(profiles.known))
        context.closed.connect(page.stop)
        return page

    @property
    def compare(self) -> SystemsPane:
        """The page of systems, made together with its pane."""
        if self._page is None:
            self.context.layout.docks["compare"].planned.pane()
        return cast("SystemsPane", self._page)

    def _has_comparison(self) -> bool:
        return self._page is not None and self._page.found is not None

    def choose(self, system: str) -> None:
        """Run the chat with this system from now on."""
        self._session.replays.choose(system=system)

    def show_settings(self) -> None:
        """Show the settings of the chosen system: DeepLore's in their pane, those of others in a dialog."""
        choice = self._session.choice
        if choice.is_main:
            self.context.show("settings")
        else:
            dialog = self.open_settings(choice.system)
            dialog.add_door(tr("Import…"), partial(self._leave_for, "settings.import"))
            dialog.add_door(tr("Export…"), partial(self._leave_for, "settings.export"))

    def _findable(self) -> Iterable[Choice]:
        """The settings of the chosen system, where they are not those of the pane."""
        if self.context.has_project() and not self._session.choice.is_main:
            kind = kind_of(self._session.choice.system)
            for one in declared(kind.settings):
                name, do = f"setting:{kind.name}:{one.name}", partial(self._go_to, one.name)
                yield Choice(tr(one.title), tr(one.group), tr("Setting"), do, name=name, more=tr(one.help))

    def _go_to(self, name: str) -> None:
        self.show_settings()
        if self.dialog is not None:
            self.dialog.choose(name)
            self.dialog.editor.focus_field()

    def open_settings(self, system: str) -> SystemSettingsDialog:
        """Show the settings of a system beside DeepLore."""
        from lorestudio.ui.features.systems.dialogs import SystemSettingsDialog

        kind, context = kind_of(system), self.context
        if self.dialog is not None:
            self.dialog.close()
        trial = Trial(self._session, context.selection, context.preview, system)
        title, intro = tr("Settings of {system}", system=tr(kind.title)), tr(kind.summary)
        dialog = self.dialog = SystemSettingsDialog(
            context.theme, title, intro, self._known(system), context.window, trial=trial
        )
        dialog.accepted_settings.connect(partial(self.configure, system))
        dialog.finished.connect(partial(self._closed, "dialog", dialog))
        if kind.books is not None:
            dialog.add_door(tr("Lorebooks…"), partial(self._leave_for, "worldinfo.books"))
        dialog.open()
        return dialog

    def open_books(self) -> BooksDialog:
        """Show the lorebooks that World Info scans."""
        from lorestudio.ui.features.systems.dialogs import BooksDialog

        if self.books is not None:
            self.books.close()
        context = self.context
        system, scanned = next((name, kind.books) for name, kind in KINDS.items() if kind.books is not None)
        project = self._session.project
        scene = project.scene() if project is not None else None
        dialog = self.books = BooksDialog(
            context.theme, self._session.jobs, scanned, self._known(system), context.window, scene
        )
        dialog.accepted_settings.connect(partial(self._take_books, system))
        dialog.finished.connect(partial(self._closed, "books", dialog))
        dialog.open()
        return dialog

    def _take_books(self, system: str, settings: Section) -> None:
        """Scan these books from now on, with the system that has them in its settings."""
        self.configure(system, settings)
        self.choose(system)

    def _leave_for(self, action: str) -> None:
        """What was set so far is kept, and what else is about it is shown."""
        if self.dialog is not None:
            self.dialog.accept()
        self.context.run(action)

    def configure(self, system: str, settings: Section) -> None:
        """Use these settings from now on, as one step that can be taken back, and replay what they change.

        They are kept in their file.
        """
        changes = differences(self._known(system), settings)
        if not changes:
            return
        one = f"{tr(changes[0].declaration.title)}: {value_text(changes[0].declaration, changes[0].after)}"
        more = tr("settings of {system}", system=system_title(system))
        self._session.replays.configure({system: settings}, one if len(changes) == 1 else more)

    def _known(self, system: str) -> Section:
        return self._session.choices.systems.get(system) or kind_of(system).settings()

    def _follow_profile(self, before: str, now: str) -> None:
        """Settings that name a provider profile go along with its other name; that is no step of its own."""
        known = self._session.choices.systems
        self._session.replays.configure({name: with_profile(each, before, now) for name, each in known.items()})

    def _keep_changed(self) -> None:
        """Write what is other than in its file, whoever changed it."""
        for system, settings in self._session.choices.systems.items():
            if settings != self._kept.get(system):
                self._kept[system] = settings
                self._keep(system)
        self.context.actions_changed()

    def _keep(self, system: str) -> None:
        def failed(error: Exception) -> None:
            text = tr(
                "The settings of {system} are in use but could not be kept: {error}",
                system=system_title(system),
                error=sentence_of(error),
            )
            self.context.say(Notice(text, "error", key="systems"))

        self._session.jobs.start(
            tr("Keeping the settings of {system}", system=system_title(system)),
            # What is chosen when it is written, so that the last of two quick changes is kept.
            lambda _report: self.files.write(system, self._session.choices.systems[system]),
            failed=failed,
        )

    # ---- comparing --------------------------------------------------------------------------------------------------

    def show_upgrade(self) -> None:
        """Compare the rules of both versions of DeepLore."""
        self.show_page()
        self.compare.chosen = list(UPGRADE)
        self.compare.run()

    def compare_with_now(self, offer: Offer) -> None:
        """Compare this with the system that is chosen as it is set now."""
        self.show_page()
        self.compare.compare_with_now(offer)

    def show_page(self) -> None:
        """Bring the page of systems to the front of the pane of comparisons."""
        from lorestudio.ui.features.compare.runs_pane import ComparePane

        self.context.show("compare")
        comparisons = self.context.layout.docks["compare"].pane
        if isinstance(comparisons, ComparePane):
            comparisons.turn_to(self.compare)

    def show_comparison(self) -> None:
        """Show the pane, and compare where nothing was compared yet."""
        self.show_page()
        self.compare.run_or_find()

    def copy(self) -> None:
        """Put the comparison on the clipboard as Markdown."""
        if self.compare.found is not None:
            self.context.copy(comparison_as_markdown(self.compare.found), tr("The comparison was copied."))

    def save(self, path: Path) -> None:
        """Write the comparison into a file; its ending says how."""
        found = self.compare.found
        if found is None:
            return
        if path.suffix.lower() == ".png":
            data = self.compare.chart.picture(QSize(1200, 480))
        elif path.suffix.lower() == ".csv":
            data = csv_bytes(comparison_rows(found))
        else:
            text = tr("A comparison is saved as .csv or .png, not as {kind}.", kind=path.suffix or path.name)
            self.context.say(Notice(text, "error", key="systems"))
            return

        self.context.save_file(path, data)

    def _ask_file(self, suffix: str) -> None:
        filters = tr("Tables (*.csv)") if suffix == ".csv" else tr("Pictures (*.png)")
        title, name = tr("Save the comparison"), f"comparison{suffix}"
        dialogs.choose_new_file(self.context.window, title, name, filters, suffix, self.save)

    def _ask_settings(self, system: str) -> None:
        title = tr("Compare {system} with the settings of a file", system=system_title(system))
        add = partial(self.compare.add_file, system)
        window, remembered, files = self.context.window, self.context.settings, tr(dialogs.SETTINGS_FILES)
        dialogs.choose_again(window, remembered, "settings", title, files, add)

    def _leave_foreign(self) -> None:
        """What only another system's runs know is looked at no longer."""
        selection = self.context.selection
        if selection.entry is not None and self._session.entry(selection.entry) is None:
            selection.choose_entry(None)

    def _read(self, known: KnownSettings) -> None:
        brought = dict(self._session.choices.systems)  # with a chat, before the files were read
        self._kept = dict(known.values)
        self._session.replays.configure(known.values)
        if told := self._session.replays.take(brought):
            self.context.say(Notice(told, key="opened"))
        for problem in known.problems:
            self.context.say(Notice(problem, "warning"))

    def _closed(self, name: str, dialog: QDialog, _result: int) -> None:
        if getattr(self, name) is dialog:
            setattr(self, name, None)
