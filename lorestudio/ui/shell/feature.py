"""What the window is made of: features, each with its panes and actions, and what a feature has of its window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject, QSettings, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QMainWindow, QWidget
from shiboken6 import isValid

from lorestudio.studio.project.files import write_bytes
from lorestudio.ui.shell.actions import RARE, Action, Commands, Need, Where
from lorestudio.ui.shell.bars import StatusLine
from lorestudio.ui.shell.layout import PaneLayout
from lorestudio.ui.shell.qt import later, native
from lorestudio.ui.shell.theme import Theme
from lorestudio.ui.shell.words import Notice, Tone, sentence_of, tr
from lorestudio.ui.state.drafts import Drafts, LivePreview
from lorestudio.ui.state.expected import ExpectedMarks
from lorestudio.ui.state.selection import History, KeptPlace, Selection
from lorestudio.ui.state.session import Session
from lorestudio.ui.widgets.layouts import able
from lorestudio.ui.widgets.pane import BarStack, Pane, PlannedPane
from lorestudio.ui.widgets.picker import Choice, Picker

Leave = Callable[[], object]
"""What happens once nothing that is not saved would be lost by it."""


class Context(QObject):
    """What is open, what is looked at, and the few things that a feature asks its window for.

    `window` is the parent of dialogs, nothing more. `keep_chat` asks what becomes of an unsaved chat before it is left,
    and returns whether it asked; the feature that saves chats sets it. `findable` are asked what the palette can find
    beside actions; the key of each choice does what its row says. `closed` follows the end of the window, when
    nothing of it runs any more.
    """

    closed = Signal()

    def __init__(self, window: QMainWindow, session: Session, theme: Theme, settings: QSettings) -> None:
        super().__init__(window)
        self.window: QWidget = window
        self.session, self.theme, self.settings = session, theme, settings
        self.selection = Selection(self)
        self.history = History(session, self.selection, self)
        self.place = KeptPlace(session, self.selection, self, settings)
        self.drafts = Drafts(self)
        session.reading.unsaved = lambda: self.drafts.all
        self.preview = LivePreview(
            self.drafts,
            session.jobs,
            lambda: session.project,
            lambda: session.runs.previewer(self.selection.generation),
            self,
            session.runs.complete,
        )
        self.expected = ExpectedMarks(self)
        self.layout = PaneLayout(window, settings)
        self.commands = Commands(window, self.run, theme)
        self.bars = BarStack(theme, self.commands.title, window)
        self.status = StatusLine(session, window)
        self._title = ("", "")
        self.keep_chat: Callable[[Leave], bool] = lambda _leave: False
        self.findable: list[Callable[[], Iterable[Choice]]] = []
        self._soon = later(self, self.update_actions)
        self._name_needs()

    def _name_needs(self) -> None:
        """What actions of many features need."""
        session, selection = self.session, self.selection
        idle = (lambda: not session.busy), "Wait until the notes are read and the replies are run, or stop that first."
        row = (lambda: selection.entry is not None), "Choose an entry first."
        self.idle = Need(*idle)
        self.has_project = Need(lambda: session.project is not None, "Open a vault, a lorebook or the demo first.")
        self.project_idle = self.has_project.also(*idle)
        self.has_chat = Need(lambda: session.chat is not None, "Open a chat or begin a new one first.")
        self.chat_idle = self.has_chat.also(*idle)
        self.has_message = self.has_chat.also(lambda: selection.generation is not None, "Choose a reply first.")
        self.message_idle = self.has_message.also(*idle)
        self.has_trace = self.has_message.also(
            lambda: session.runs.trace(selection.generation) is not None, "Run this reply first, or replay the chat."
        )
        self.has_row = self.has_project.also(*row)
        self.has_entry = self.has_project.also(
            lambda: session.entry(selection.entry) is not None, "Choose an entry of the vault first."
        )
        self.traced_row = self.has_trace.also(*row)

    # ---- asking -----------------------------------------------------------------------------------------------------

    def say(self, notice: Notice) -> None:
        """Show a message above the panes."""
        self.bars.add(notice)

    def set_title(self, name: str | None = None, note: str | None = None) -> None:
        """The title line names this from now on, and says this behind it; None leaves either as it is."""
        of, behind = self._title
        self._title = of, behind = (of if name is None else name), (behind if note is None else note)
        self.window.setWindowTitle(" - ".join(filter(None, (of, f"lorestudio ({behind})" if behind else "lorestudio"))))

    def flash(self, text: str) -> None:
        """Say something that need not stay."""
        self.status.flash(text)

    def flash_step(self, title: str) -> None:
        """Say that this was done as one step, and what takes it back."""
        self.flash(tr("Done: {title}. {back}", title=title, back=self.takes_back))

    @property
    def takes_back(self) -> str:
        """What takes back a setting or a change of the chat, with the key that is set for it, in a sentence."""
        keys = native(self.action("adjust.undo").shortcut())
        return tr("Undo takes it back ({keys} in the chat).", keys=keys) if keys else tr("Undo takes it back.")

    def keys(self, name: str) -> str:
        """What to press for an action: the key that is set for it, else its title in the menu."""
        return native(self.action(name).shortcut()) or f"“{self.commands.title(name)}”"

    def failing(self, key: str, tone: Tone = "error") -> Callable[[Exception], None]:
        """What says of a job that it has failed; `key` as in a `Notice`."""
        return lambda error: self.say(Notice(sentence_of(error), tone, key=key))

    def copy(self, text: str, said: str) -> None:
        """Put a text on the clipboard, and say so."""
        QGuiApplication.clipboard().setText(text)
        self.flash(said)

    def pick(
        self, title: str, placeholder: str, choices: Sequence[Choice], picked: Callable[[Any], object], hint: str = ""
    ) -> Picker:
        """Let something be picked by a few letters; `picked` gets its key."""
        picker = Picker(self.theme, title, placeholder, choices, self.window)
        picker.set_hint(hint)
        picker.picked.connect(picked)
        picker.open_over(self.window)
        return picker

    def show(self, name: str) -> None:
        """Bring a pane to the front and give it the keyboard."""
        self.uncover(name)
        pane = self.layout.docks[name].pane
        if QApplication.activeWindow() is not None:  # a pane that floats is a window of its own
            pane.window().activateWindow()
        pane.focus_target().setFocus(Qt.FocusReason.ShortcutFocusReason)
        if self.current_pane() is not pane:  # what takes the keyboard there is not in sight at the moment
            pane.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def uncover(self, name: str) -> None:
        """Bring a pane to the front, and leave the keyboard where it is."""
        dock = self.layout.docks[name]
        dock.planned.pane()  # before it is seen, so that nobody sees it empty
        dock.show()
        dock.raise_()

    def current_pane(self) -> Pane | None:
        """The pane of a dock that has the keyboard; a pane may be a page of another one."""
        widget, found = QApplication.focusWidget(), None
        while widget is not None:
            found = widget if isinstance(widget, Pane) else found
            widget = widget.parentWidget()
        return found

    def action(self, name: str) -> QAction:
        """What Qt knows of an action, for buttons and menus."""
        return self.commands.actions[name]

    def enable_with(self, button: QAbstractButton, name: str) -> None:
        """Let a button that runs an action be enabled while that makes sense; else its tooltip says why not."""
        action, need = self.action(name), self.commands.table[name].when

        def follow() -> None:
            if isValid(button):
                able(button, action.isEnabled(), need.missing)

        follow()
        action.changed.connect(follow)

    def run(self, name: str) -> None:
        """Do what an action says, once what becomes of an unsaved chat is decided where it leaves that."""
        if not (self.commands.table[name].leaves_chat and self.keep_chat(partial(self._do, name))):
            self._do(name)

    def save_file(self, path: Path, data: bytes | Callable[[], bytes]) -> None:
        """Write a file in a job, and say what came of it; what takes long to make is made in the job, too."""
        title = tr("Saving {name}", name=path.name)
        self.flash(f"{title}…")
        self.session.jobs.start(
            title,
            lambda _report: write_bytes(path, data() if callable(data) else data),
            done=lambda _none: self.flash(tr("{name} was saved.", name=path.name)),
            failed=self.failing("export"),
        )

    def actions_changed(self) -> None:
        """What can be done may be something else: look once everything that happens now has happened."""
        self._soon.start()

    def update_actions(self) -> None:
        """Enable what makes sense now, and tick what is on."""
        self._soon.stop()
        self.commands.update()

    def _do(self, name: str) -> None:
        action = self.commands.table[name]
        self.use({name, action.menu})
        if action.pane:
            self.uncover(action.pane)
        action.do()
        self.update_actions()

    @property
    def used(self) -> set[str]:
        """What of the rare menus and actions was used once, in this window or an earlier one."""
        return set(str(self.settings.value("menus/used", "")).split(","))

    def use(self, names: set[str]) -> None:
        """These menus and actions are used: what of them is rare stands in the menus from now on."""
        before = self.used
        if not names & RARE <= before:
            self.settings.setValue("menus/used", ",".join(sorted(before | names & RARE)))
            self.commands.show_used(self.used)


PaneT = TypeVar("PaneT", bound=Pane)


class LatePane(Generic[PaneT]):
    """A pane that a feature makes when somebody first looks at it or asks for it, as `late_pane` declares it.

    It reads what is the case by then: what came before is not told again.
    """

    def __init__(self, name: str, title: str, make: Callable[[Any], PaneT]) -> None:
        self.name, self.title, self._make = name, title, make

    def __set_name__(self, _feature: type, attribute: str) -> None:
        self._attribute = attribute

    def __get__(self, feature: Feature, _class: type | None = None) -> PaneT:
        pane = self._make(feature)
        pane.wanted.connect(feature.context.run)
        vars(feature)[self._attribute] = pane  # from now on the feature has it itself, and this is not asked again
        feature.pane_made(self.name)
        feature.context.layout.docks[self.name].take(pane)
        return pane

    def planned(self, feature: Feature) -> PlannedPane:
        """The pane of this feature, for its dock."""
        return PlannedPane(self.name, tr(self.title), lambda: getattr(feature, self._attribute))

    def made(self, feature: Feature) -> PaneT | None:
        """The pane of this feature, None where it was not made yet."""
        return vars(feature).get(self._attribute)


def late_pane(name: str, title: str) -> Callable[[Callable[[Any], PaneT]], LatePane[PaneT]]:
    """Make what a method gives a pane that waits until it is wanted; its module is best imported in the method."""
    return lambda make: LatePane(name, title, make)


def _itself(pane: Pane) -> Pane:
    return pane


class Feature(QObject):
    """One subject of the window: its panes, its actions, and what connects them.

    When it is made, the window has its session, selection and theme, but no docks and no actions yet; `begin` follows
    once it has. `places` are the widgets where its shortcuts work, `view_keys` those that a view answers itself: by
    the place where they work, titles with their keys.
    """

    view_keys: ClassVar[Mapping[str, Sequence[tuple[str, str]]]] = {}
    _late: ClassVar[Sequence[LatePane[Pane]]] = ()

    def __init_subclass__(cls) -> None:
        cls._late = [each for each in vars(cls).values() if isinstance(each, LatePane)]

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.context = context
        self.panes: tuple[Pane, ...] = ()
        """Those that are in sight at once; others wait, as `late_pane` declares them."""

    def actions(self) -> Iterable[Action]:
        """What can be done with it."""
        return ()

    def planned(self) -> Iterable[PlannedPane]:
        """All its panes, made or not."""
        yield from (PlannedPane(pane.name, pane.title, partial(_itself, pane)) for pane in self.panes)
        yield from (late.planned(self) for late in self._late)

    def home(self, pane: str) -> QWidget | None:
        """Where this pane will stand, which it is best made in: moved there, all its parts would be dressed again."""
        return self.context.layout.docks.get(pane)

    def made_panes(self) -> Iterable[Pane]:
        """Those of its panes that are made."""
        yield from self.panes
        yield from filter(None, (late.made(self) for late in self._late))

    def is_made(self, name: str) -> bool:
        """Whether its pane of that name is made; nobody sees another one, so nothing has to be shown in it."""
        return any(pane.name == name for pane in self.made_panes())

    def pane_made(self, name: str) -> None:
        """A pane that waited is there now: show in it what is the case."""

    def places(self) -> Mapping[Where, Sequence[QWidget]]:
        """Where shortcuts work that do not work everywhere."""
        return {}

    def begin(self) -> None:
        """The window has its docks and actions now."""

    def keep_in(self, folder: Path) -> None:
        """Keep what must survive the window in this folder from now on."""

    def save_work(self) -> None:
        """Something went wrong inside the program: see that what is unsaved is found by the next start."""

    def ask_before_closing(self, close: Leave) -> bool:
        """Ask what becomes of what is not saved before the window is closed; False where there is nothing to ask."""
        return False

    def stop(self) -> None:
        """The window closes: nothing of the feature may run afterwards."""
