"""What can be done with the window itself: finding an action or a pane, workspaces, themes, undo, shortcuts, help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from lorestudio.domain.records import replace
from lorestudio.domain.resources import resource
from lorestudio.trace.text import markdown_table
from lorestudio.ui.shell.actions import Action, Where, about
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.layout import WORKSPACES, Workspace
from lorestudio.ui.shell.qt import native
from lorestudio.ui.shell.shortcuts import ShortcutsDialog, ShortcutStore, shown, with_shortcuts
from lorestudio.ui.shell.words import tr
from lorestudio.ui.widgets import dialogs
from lorestudio.ui.widgets.layouts import iconed, menu_of, named
from lorestudio.ui.widgets.pane import Pane
from lorestudio.ui.widgets.picker import Choice

KEPT: Final = 20
"""So many of the things found last are remembered."""

LATELY: Final = 30.0
"""Points for what was found last; each before it has one less."""

_ABLE: Final = 2.0
"""Points for an action that can be done now, which also puts actions before everything else in an empty search."""

_THEMES = {"system": "Like the system", "light": "Light", "dark": "Dark", "contrast": "High contrast"}


class WindowFeature(Feature):
    """Has no pane. `buttons` stand at the end of the window's first line."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._workspace, self._palette, self._switch = (QToolButton(context.window) for _ in range(3))
        self.buttons = (self._workspace, self._palette, self._switch)
        for button, name in ((self._workspace, tr("Workspace")), (self._palette, tr("Find anything"))):
            named(button, name, kind="text")  # before it is shown, because the style asks for it once
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._shortcuts = ShortcutStore(context.settings)
        self._table: tuple[Action, ...] = ()
        self.dialog: ShortcutsDialog | None = None
        """The dialog with the shortcuts, while it is open."""

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        context, layout, steps = self.context, self.context.layout, self.context.session.parts.adjustments
        window = context.window
        return (
            Action("app.quit", "Quit", "File", 200, window.close, ("Ctrl+Q",)),
            Action(
                "adjust.undo", "Undo setting or chat change", "Edit", 10, partial(self._step, again=False), ("Ctrl+Z",),
                Where.RUNS,
                context.has_project.also(lambda: bool(steps.undo_title), "Nothing was changed that can be taken back."),
                "undo",
                "Take the last change of settings, chat or choices for the chat back",
                text=lambda: about(tr("Undo setting or chat change"), steps.undo_title),
            ),
            Action(
                "adjust.redo", "Redo setting or chat change", "Edit", 15, partial(self._step, again=True),
                ("Ctrl+Shift+Z", "Ctrl+Y"), Where.RUNS,
                context.has_project.also(lambda: bool(steps.redo_title), "Nothing was taken back."), "redo",
                "Do again what was taken back last",
                text=lambda: about(tr("Redo setting or chat change"), steps.redo_title),
            ),
            Action(
                "go.command", "Find anything…", "Edit", 30, self._open_palette, ("Ctrl+P", "Ctrl+Shift+P"),
                icon="search",
            ),
            Action("find.pane", "Find in this pane", "Edit", 100, self._find, ("Ctrl+F",), when=context.has_project),
            *(
                Action(
                    f"view.theme.{choice}", _THEMES[choice], "View/Theme", 10 + place,
                    partial(self.choose_theme, choice), icon="contrast" if choice == "system" else "",
                    ticked=partial(lambda choice: context.theme.choice == choice, choice),
                )
                for place, choice in enumerate(_THEMES)
            ),
            Action("view.next_pane", "Next pane", "View", 100, partial(self._cycle, 1), ("F6",)),
            Action("view.previous_pane", "Previous pane", "View", 105, partial(self._cycle, -1), ("Shift+F6",)),
            Action(
                "view.full_screen", "Full screen", "View", 110, self._toggle_full_screen, ("F11",),
                ticked=window.isFullScreen,
            ),
            Action("view.reset", "Reset layout", "View", 200, self._reset),
            *(
                Action(
                    f"workspace.{workspace.name}", workspace.title, "View/Workspace", 210 + place,
                    partial(self._enter, workspace), (f"Ctrl+Alt+{place}",), tip=workspace.tip,
                    ticked=partial(lambda workspace: workspace is layout.current, workspace),
                )
                for place, workspace in enumerate(WORKSPACES, start=1)
            ),
            Action(
                "help.pane", "What this pane is for", "Help", 0, self._show_pane_help, ("F1",), icon="question",
                tip="What the pane shows, what can be done in it, and its keys",
            ),
            Action("help.shortcuts", "Keyboard shortcuts…", "Help", 5, self._show_shortcuts, ("Shift+F1", "?"),
                   tip="All shortcuts, to search and to change"),
            Action("help.details", "Details of the last problem", "Help", 10, self._show_details),
            Action("help.about", "About lorestudio", "Help", 100, partial(dialogs.show_about, window)),
        )  # fmt: skip

    def begin(self) -> None:
        """The actions are there: give the buttons theirs, and the actions the person's own shortcuts."""
        context = self.context
        menu = menu_of(self._workspace, tips=True)
        context.commands.fill(menu, [f"workspace.{workspace.name}" for workspace in WORKSPACES])
        self._palette.clicked.connect(partial(context.run, "go.command"))
        flip = tr("Switch between light and dark")
        named(self._switch, flip, flip)
        self._switch.clicked.connect(self._flip_theme)
        for button, icon in ((self._workspace, "columns"), (self._palette, "search"), (self._switch, "contrast")):
            iconed(context.theme, button, icon)
        self._name_workspace()
        self._show_workspace()
        context.session.project_changed.connect(self._show_workspace)
        self._table = tuple(context.commands.table.values())
        self._rebind(self._shortcuts.load(self._table))
        context.commands.show_used(context.used)

    def choose_theme(self, choice: str) -> None:
        """Take another theme and remember it."""
        self.context.settings.setValue("theme", choice)
        self.context.theme.choose(choice)
        self.context.update_actions()

    # ---- finding ----------------------------------------------------------------------------------------------------

    def _step(self, *, again: bool) -> None:
        parts, steps = self.context.session.parts, self.context.session.parts.adjustments
        told = ("Done again: {title}.", steps.redo_title) if again else ("Taken back: {title}.", steps.undo_title)
        (parts.redo if again else parts.undo)()
        self.context.flash(tr(told[0], title=told[1]))

    def _open_palette(self) -> None:
        """Find anything: actions and panes, entries, messages and settings, those first that were found lately."""
        context, recent = self.context, self._recent()
        items = [
            Choice(
                action.title.rstrip("…"),
                action.menu.replace("/", " › "),
                native(context.action(action.id).shortcut()),
                partial(context.run, action.id),
                able,
                f"action:{action.id}",
                tr(action.tip),
                _ABLE if able else 0.0,
            )
            for action in context.commands.table.values()
            if action.id != "go.command"
            for able in (action.when(),)  # Qt has what stands in no menu yet for disabled
        ]
        items += [choice for find in context.findable for choice in find()]
        known = {name: LATELY - place for place, name in enumerate(recent)}
        items = [replace(each, favour=known[each.name]) if each.name in known else each for each in items]
        title, placeholder = tr("Find anything"), tr("An entry, a message, a setting, a command or a pane")
        picker = context.pick(title, placeholder, items, lambda do: do())
        picker.chosen.connect(self._remember)

    def _recent(self) -> list[str]:
        return [name for name in str(self.context.settings.value("palette/recent", "")).split("\n") if name]

    def _remember(self, choice: Choice) -> None:
        names = [choice.name, *(name for name in self._recent() if name != choice.name)][:KEPT]
        self.context.settings.setValue("palette/recent", "\n".join(names))

    def _find(self) -> None:
        """Open the search of the pane with the keyboard; where no pane has it, that of the vault."""
        pane = self.context.current_pane()
        if pane is None:
            self.context.show("vault")
            pane = self.context.layout.docks["vault"].pane
        if not pane.open_search():
            self.context.flash(tr("{pane} has nothing to search in.", pane=pane.title))

    # ---- panes ------------------------------------------------------------------------------------------------------

    def _cycle(self, steps: int) -> None:
        """Give the keyboard to the next pane that is not closed."""
        shown = [name for name, dock in self.context.layout.docks.items() if not dock.isHidden()]
        pane = self.context.current_pane()
        current = pane.name if pane is not None else ""
        if shown:
            place = shown.index(current) if current in shown else (-1 if steps > 0 else 0)
            self.context.show(shown[(place + steps) % len(shown)])

    def _enter(self, workspace: Workspace) -> None:
        if workspace is not self.context.layout.current and self.context.has_project():
            self.context.layout.enter(workspace)
            self._name_workspace()

    def _reset(self) -> None:
        layout, pane = self.context.layout, self.context.current_pane()
        layout.reset()
        if pane is not None and not layout.docks[pane.name].isHidden():
            pane.focus_target().setFocus()
        else:
            layout.focus_first()

    def _show_workspace(self) -> None:
        """The start screen has no panes to arrange."""
        self._workspace.setVisible(self.context.session.project is not None)

    def _name_workspace(self) -> None:
        current = self.context.layout.current
        self._workspace.setText(tr(current.title))
        self._workspace.setToolTip(tr("Workspace: {what}", what=tr(current.tip)))

    # ---- looks ------------------------------------------------------------------------------------------------------

    def _toggle_full_screen(self) -> None:
        window = self.context.window
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _flip_theme(self) -> None:
        self.choose_theme("light" if self.context.theme.palette.dark else "dark")

    # ---- help -------------------------------------------------------------------------------------------------------

    def _show_details(self) -> None:
        text = self.context.bars.details() or tr("There was no problem so far.")
        dialogs.show_text(self.context.window, tr("Details"), text)

    def _show_pane_help(self) -> None:
        """Say what the pane with the keyboard shows, what can be done, and which keys work there."""
        pane = self.context.current_pane()
        if pane is None:
            self._show_shortcuts()
        else:
            text = pane_help(pane.title) + self._keys_of(pane)
            dialogs.show_markdown(self.context.window, pane.title, text, _panes_page())

    def _keys_of(self, pane: Pane) -> str:
        commands = self.context.commands
        inside = {action for widget in (pane, *pane.findChildren(QWidget)) for action in widget.actions()}
        here = [one for one in commands.table.values() if one.shortcuts and commands.actions[one.id] in inside]
        rows = [(tr(one.title).rstrip("…"), shown(one.shortcuts)) for one in here if one.where is not Where.WINDOW]
        places = {one.where.value for one in here} - {Where.WINDOW.value}
        rows += [
            (title, shown(keys))
            for place, title, keys in commands.view_keys()
            if place in places or place.endswith(f" {pane.name}")
        ]
        if not rows:
            return ""
        return "\n".join(("", "", tr("### Keys that work here"), "", *markdown_table((tr("What"), tr("Keys")), rows)))

    def _show_shortcuts(self) -> None:
        if self.dialog is not None:
            self.dialog.close()
        chosen = self._shortcuts.load(self._table)
        view_keys = self.context.commands.view_keys()
        dialog = self.dialog = ShortcutsDialog(self.context.theme, self._table, chosen, self.context.window, view_keys)
        dialog.changed.connect(self._shortcuts_changed)
        dialog.finished.connect(lambda _result: setattr(self, "dialog", None))
        dialog.open()

    def _shortcuts_changed(self, chosen: dict[str, tuple[str, ...]]) -> None:
        self._shortcuts.save(chosen)
        self._rebind(chosen)

    def _rebind(self, chosen: Mapping[str, tuple[str, ...]]) -> None:
        self.context.commands.rebind(with_shortcuts(self._table, chosen))
        keys = native(self.context.action("go.command").shortcut())
        self._palette.setText(tr("Find anything   {keys}", keys=keys).rstrip())


def _panes_page() -> Path:
    return resource("docs", "panes.md")


@cache
def _help_page() -> dict[str, str]:
    parts = _panes_page().read_text(encoding="utf-8").split("\n## ")[1:]
    return {title: text.strip() for title, _, text in (part.partition("\n") for part in parts)}


def pane_help(title: str) -> str:
    """What the page on panes says of the one with this title."""
    return _help_page().get(title, "")
