"""The behaviour switches: known quirks of DeepLore, each as it is there or fixed.

How the chat is run, in the window: the mode, who answers, provider profiles, switches, and questions to a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lorestudio.settings.behaviour import Switch, switches
from lorestudio.studio.project.answering import AnswerKind, Question, Source
from lorestudio.studio.project.modes import Mode
from lorestudio.trace.model import Turn
from lorestudio.trace.text import turn_words
from lorestudio.ui.features.providers.profiles_dialog import ProfilesDialog
from lorestudio.ui.features.providers.question_dialog import QuestionDialog
from lorestudio.ui.shell.actions import Action
from lorestudio.ui.shell.feature import Context, Feature
from lorestudio.ui.shell.words import count, tr
from lorestudio.ui.widgets.picker import Choice, Picker

_DEEPLORE, _FIXED = 0, 1


class BehaviourDialog(QDialog):
    """A list of all switches. `accepted_switches` carries the names of those that are fixed, in reading order."""

    accepted_switches = Signal(object)

    def __init__(self, fixed: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Behaviour switches"))
        self._groups: dict[str, QButtonGroup] = {}
        column = QVBoxLayout(self)
        intro = QLabel(
            tr(
                "What is tuned here runs in DeepLore, so every known quirk is reproduced. Set one to “fixed” to see "
                "what it costs; the trace says where that changed the outcome."
            ),
            self,
        )
        intro.setWordWrap(True)
        column.addWidget(intro)
        page = QWidget(self)
        rows = QVBoxLayout(page)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.setSpacing(0)
        for switch in switches():
            rows.addWidget(self._row(switch, switch.name in set(fixed), page))
        rows.addStretch(1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setWidget(page)
        area.setAccessibleName(tr("Switches"))
        column.addWidget(area, 1)
        column.addLayout(self._buttons())
        self._tell()
        self.resize(680, 560)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The switches that are set to fixed."""
        return tuple(name for name, group in self._groups.items() if group.checkedId() == _FIXED)

    def set_all(self, fixed: bool) -> None:
        """Set every switch."""
        for group in self._groups.values():
            group.button(_FIXED if fixed else _DEEPLORE).setChecked(True)

    def choose(self, name: str, *, fixed: bool) -> None:
        """Set one switch."""
        self._groups[name].button(_FIXED if fixed else _DEEPLORE).setChecked(True)

    def accept(self) -> None:
        """Qt: hand the choice over and close."""
        self.accepted_switches.emit(self.fixed)
        super().accept()

    def _row(self, switch: Switch, is_fixed: bool, parent: QWidget) -> QWidget:
        box = QFrame(parent)
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 7, 0, 7)
        row.setSpacing(14)
        words = QVBoxLayout()
        words.setSpacing(2)
        title = QLabel(tr("{title}  ·  {stage}", title=switch.title, stage=switch.affects), box)
        title.setProperty("kind", "summary")
        text = QLabel(switch.help.replace(" Fixed: ", "\nFixed: "), box)
        text.setProperty("kind", "small")
        text.setWordWrap(True)
        words.addWidget(title)
        words.addWidget(text)
        row.addLayout(words, 1)
        group = QButtonGroup(box)
        for place, name in ((_DEEPLORE, tr("As DeepLore")), (_FIXED, tr("Fixed"))):
            button = QRadioButton(name, box)
            button.setAccessibleName(tr("{switch}: {choice}", switch=switch.title, choice=name))
            button.setAccessibleDescription(switch.help)
            button.setChecked(is_fixed is (place == _FIXED))
            button.toggled.connect(self._tell)
            group.addButton(button, place)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self._groups[switch.name] = group
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        for name, fixed in ((tr("All as DeepLore"), False), (tr("All fixed"), True)):
            button = QPushButton(name, self)
            button.setAutoDefault(False)
            button.clicked.connect(partial(self.set_all, fixed))
            row.addWidget(button)
        self._told = QLabel(self)
        self._told.setProperty("kind", "small")
        row.addWidget(self._told, 1)
        kinds = QDialogButtonBox.StandardButton
        box = QDialogButtonBox(kinds.Cancel, self)
        apply = QPushButton(tr("Apply and replay"), self)
        apply.setProperty("kind", "primary")
        box.addButton(apply, QDialogButtonBox.ButtonRole.AcceptRole)
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        row.addWidget(box)
        return row

    def _tell(self) -> None:
        if hasattr(self, "_told"):
            self._told.setText(count(len(self.fixed), "switch fixed", "switches fixed"))


class ProvidersFeature(Feature):
    """Every choice goes through `Replays.choose`. `question` is the dialog of the question that waits for a person."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session, self._choose = context.session, context.session.replays.choose
        self.question: QuestionDialog | None = None

    def actions(self) -> Iterable[Action]:
        """What can be done."""
        has_project, session = self.context.has_project, self._session
        modes = {Mode.KEYWORDS: "Keywords only", Mode.TWO_STAGE: "Two-stage", Mode.AI_ONLY: "AI only"}
        sources: dict[AnswerKind, tuple[str, Callable[[], object]]] = {
            AnswerKind.STAND_IN: ("Offline stand-in (no model)", partial(self._choose_source, AnswerKind.STAND_IN)),
            AnswerKind.RECORDED: ("Recorded answers", partial(self._choose_source, AnswerKind.RECORDED)),
            AnswerKind.PROVIDER: ("Provider…", self._choose_provider),
            AnswerKind.TYPED: ("I type the answers", partial(self._choose_source, AnswerKind.TYPED)),
        }
        return (
            *(
                Action(
                    f"mode.{mode.value}", title, "Run/Mode", 220 + place, partial(self._choose, mode=mode),
                    (f"Alt+{place}",), when=has_project,
                    ticked=partial(lambda mode: session.choice.mode is mode, mode),
                )
                for place, (mode, title) in enumerate(modes.items(), start=1)
            ),
            *(
                Action(
                    f"answers.{kind.value}", title, "Run/Answers", 230 + place, do, when=has_project,
                    icon="server" if kind is AnswerKind.PROVIDER else "",
                    ticked=partial(lambda kind: session.choice.source.kind is kind, kind),
                )
                for place, (kind, (title, do)) in enumerate(sources.items())
            ),
            Action("profiles.edit", "Provider profiles…", "Run", 240, self.edit_profiles, icon="server"),
            Action(
                "behaviour.edit", "Behaviour switches…", "Run", 245, self.edit_behaviour, when=has_project,
                icon="switches",
            ),
        )  # fmt: skip

    def begin(self) -> None:
        """Show what is asked of a person."""
        self._session.question.connect(self._ask)
        self._session.withdrawn.connect(self._withdraw)

    def edit_profiles(self) -> ProfilesDialog:
        """Show the provider profiles."""
        dialog = ProfilesDialog(self._session, self.context.theme, self.context.window)
        dialog.open()
        return dialog

    def edit_behaviour(self) -> BehaviourDialog:
        """Show the behaviour switches."""
        dialog = BehaviourDialog(self._session.choice.fixed, self.context.window)
        dialog.accepted_switches.connect(self._choose_switches)
        dialog.open()
        return dialog

    def _choose_source(self, kind: AnswerKind) -> None:
        self._choose(source=Source(kind))

    def _choose_provider(self) -> None:
        profiles = self._session.providers.file.profiles
        if not profiles:
            self.edit_profiles()
        elif len(profiles) == 1:
            self._pick_provider(profiles[0].name)
        else:
            items = [Choice(profile.name, profile.model, profile.host, profile.name) for profile in profiles]
            title, placeholder = tr("Choose a provider"), tr("Type a few letters of a profile")
            picker = Picker(self.context.theme, title, placeholder, items, self.context.window)
            picker.picked.connect(self._pick_provider)
            picker.open_over(self.context.window)

    def _pick_provider(self, name: object) -> None:
        self._choose(source=Source(AnswerKind.PROVIDER, str(name)))

    def _choose_switches(self, fixed: object) -> None:
        if isinstance(fixed, tuple):
            self._choose(fixed=fixed)

    def _ask(self, question: object) -> None:
        if isinstance(question, Question):
            live = self._session.replays.live
            where = turn_words(Turn(live.generation.message, live.generation.swipe, 0)) if live else tr("This reply")
            dialog = self.question = QuestionDialog(question, where, self.context.window)
            dialog.finished.connect(partial(self._closed, dialog))
            dialog.open()

    def _withdraw(self, question: object) -> None:
        dialog = self.question
        if dialog is not None and dialog.question is question:
            dialog.withdraw()

    def _closed(self, dialog: QuestionDialog, _result: int) -> None:
        if self.question is dialog:
            self.question = None
