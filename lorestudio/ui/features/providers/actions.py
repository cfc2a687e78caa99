"""How the chat is run, in the window: the mode, who answers, provider profiles, switches, and questions to a person.

The switches are known quirks of DeepLore, each as it is there or fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QRadioButton, QWidget

from lorestudio.settings.behaviour import switches
from lorestudio.settings.declaration import Switch
from lorestudio.studio.project.answering import AnswerKind, Question, Source
from lorestudio.studio.project.settings import Mode
from lorestudio.trace.model import Turn
from lorestudio.trace.text import turn_words
from lorestudio.ui.features.providers.question_dialog import Questions
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.state.choices import mode_caption, source_title, system_title
from lorestudio.ui.widgets.dialogs import Dialog
from lorestudio.ui.widgets.layouts import button, column, holding, label, named, row, scrolled
from lorestudio.ui.widgets.picker import Choice

if TYPE_CHECKING:
    from lorestudio.ui.features.providers.profiles_dialog import ProfilesDialog

_DEEPLORE, _FIXED = 0, 1


class BehaviourDialog(Dialog):
    """A list of all switches. `accepted_switches` carries the names of those that are fixed, in reading order."""

    accepted_switches = Signal(object)

    def __init__(self, fixed: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Behaviour switches"), (680, 560))
        self._groups: dict[str, QButtonGroup] = {}
        intro = tr(
            "What is tuned here runs in DeepLore, so every known quirk is reproduced. Set one to “fixed” to see what "
            "it costs; the trace says where that changed the outcome."
        )
        self._told = label(self, kind="small", wrap=False)
        switched = [self._row(switch, switch.name in set(fixed)) for switch in switches()]
        page = holding(column(*switched, 1, spacing=0, margins=(0, 0, 8, 0)))
        column(label(self, intro), (scrolled(page, tr("Switches"), framed=True), 1), self._buttons(), of=self)
        self.accepted.connect(lambda: self.accepted_switches.emit(self.fixed))
        self._tell()

    @property
    def fixed(self) -> tuple[str, ...]:
        """The switches that are set to fixed."""
        return tuple(name for name, group in self._groups.items() if group.checkedId() == _FIXED)

    def set_all(self, fixed: bool) -> None:
        """Set every switch."""
        for name in self._groups:
            self.choose(name, fixed=fixed)

    def choose(self, name: str, *, fixed: bool) -> None:
        """Set one switch."""
        self._groups[name].button(_FIXED if fixed else _DEEPLORE).setChecked(True)

    def _row(self, switch: Switch, is_fixed: bool) -> QWidget:
        box = QFrame(self)
        title = tr("{title}  ·  {stage}", title=switch.title, stage=", ".join(switch.affects))
        text = switch.help.replace(" Fixed: ", "\nFixed: ")
        words = column(label(box, title, "summary"), label(box, text, "small"), spacing=2)
        line = row((words, 1), spacing=14, margins=(0, 6, 0, 6))
        box.setLayout(line)
        group = QButtonGroup(box)
        for place, name in ((_DEEPLORE, tr("As DeepLore")), (_FIXED, tr("Fixed"))):
            choice = named(QRadioButton(name, box), tr("{switch}: {choice}", switch=switch.title, choice=name))
            choice.setAccessibleDescription(switch.help)
            choice.setChecked(is_fixed is (place == _FIXED))
            choice.toggled.connect(self._tell)
            group.addButton(choice, place)
            line.addWidget(choice, 0, Qt.AlignmentFlag.AlignTop)
        self._groups[switch.name] = group
        return box

    def _buttons(self) -> QHBoxLayout:
        every = [
            button(self, name, partial(self.set_all, fixed))
            for name, fixed in ((tr("All as DeepLore"), False), (tr("All fixed"), True))
        ]
        return row(*every, (self._told, 1), self.answers(tr("Apply and replay")))

    def _tell(self) -> None:
        self._told.setText(count(len(self.fixed), "switch fixed", "switches fixed"))


class ProvidersFeature(Feature):
    """Every choice goes through `Replays.choose`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session, self._choose = context.session, context.session.replays.choose
        self.questions = Questions()

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_project, session = self.context.has_project, self._session

        of_project = has_project.also(lambda: session.choice.is_main, "Choose DeepLore as the system first.")

        def foreign(words: str) -> str:
            """Why not, where another system decides."""
            if not has_project() or of_project():
                return ""
            return tr(words).format(system=system_title(session.choice.system))

        provider = AnswerKind.PROVIDER
        return (
            *(
                Action(
                    f"mode.{mode.value}", mode_caption(mode), "Run/Mode", 220 + place, partial(self._choose, mode=mode),
                    (f"Alt+{place}",), when=of_project,
                    off=partial(foreign, f"{mode_caption(mode)} ({{system}} has no modes)"),
                    ticked=partial(lambda mode: session.choice.mode is mode, mode),
                )
                for place, mode in enumerate(Mode, start=1)
            ),
            *(
                Action(
                    f"answers.{kind.value}", "Provider…" if kind is provider else source_title(Source(kind)),
                    "Run/Answers", 230 + place,
                    self._choose_provider if kind is provider else partial(self._choose, source=Source(kind)),
                    when=has_project, icon="server" if kind is provider else "",
                    ticked=partial(lambda kind: session.choice.source.kind is kind, kind),
                )
                for place, kind in enumerate(AnswerKind)
            ),
            Action("profiles.edit", "Provider profiles…", "Run", 240, self.edit_profiles, icon="server"),
            Action(
                "behaviour.edit", "Behaviour switches…", "Run/System", 245, self.edit_behaviour, when=of_project,
                off=partial(foreign, "Behaviour switches ({system} has none)"), icon="switches",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Show what is asked of a person."""
        self._session.question.connect(self._ask)
        self._session.withdrawn.connect(self.questions.withdraw)

    def edit_profiles(self) -> ProfilesDialog:
        """Show the provider profiles."""
        from lorestudio.ui.features.providers.profiles_dialog import ProfilesDialog

        writer = partial(self.context.settings.value, "chat/writer")
        dialog = ProfilesDialog(self._session, self.context.theme, self.context.window, writer)
        dialog.open()
        return dialog

    def edit_behaviour(self) -> BehaviourDialog:
        """Show the behaviour switches."""
        dialog = BehaviourDialog(self._session.choice.fixed, self.context.window)
        dialog.accepted_switches.connect(lambda fixed: self._choose(fixed=fixed))
        dialog.open()
        return dialog

    def _choose_provider(self) -> None:
        profiles = self._session.providers.file.profiles
        if not profiles:
            self.edit_profiles()
        elif len(profiles) == 1:
            self._pick_provider(profiles[0].name)
        else:
            items = [Choice(profile.name, profile.model, profile.host, profile.name) for profile in profiles]
            title, placeholder = tr("Choose a provider"), tr("Type a few letters of a profile")
            self.context.pick(title, placeholder, items, self._pick_provider)

    def _pick_provider(self, name: str) -> None:
        self._choose(source=Source(AnswerKind.PROVIDER, name))

    def _ask(self, question: Question) -> None:
        live = self._session.replays.live
        where = turn_words(Turn(live.generation.message, live.generation.swipe, 0)) if live else ""
        self.questions.ask(question, where, self.context.window)
