"""What a person chose for a project's runs: mode, answer source and behaviour switches, remembered per chat."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from PySide6.QtCore import QSettings

from lorestudio.settings.behaviour import FIXED, fixed, switches
from lorestudio.studio.answering import AnswerKind, Source
from lorestudio.studio.modes import Mode, mode_of, with_mode
from lorestudio.studio.project import Project
from lorestudio.ui.words import tr


def mode_caption(mode: Mode) -> str:
    """What a person reads of a mode."""
    return tr(_MODES[mode][0])


def mode_help(mode: Mode) -> str:
    """What the mode does, in one sentence."""
    return tr(_MODES[mode][1])


_MODES: Final = {
    Mode.KEYWORDS: ("Keywords only", "Keys alone decide; no model is asked."),
    Mode.TWO_STAGE: ("Two-stage", "Keys match first; a model chooses from what matched and what that links to."),
    Mode.AI_ONLY: ("AI only", "A model chooses from the whole vault."),
}


def source_title(source: Source) -> str:
    """What a person reads of an answer source."""
    if source.kind is AnswerKind.PROVIDER:
        return tr("Provider: {profile}", profile=source.profile)
    return tr(_SOURCES[source.kind][0])


def source_help(source: Source) -> str:
    """What choosing the source means."""
    return tr(_SOURCES[source.kind][1])


_SOURCES: Final = {
    AnswerKind.STAND_IN: (
        "Offline stand-in (no model)",
        "A stand-in, no model: it compares words on this computer, so that everything works without a provider.",
    ),
    AnswerKind.RECORDED: (
        "Recorded answers",
        "Answers from the file beside the chat; exact and free. Requests without a recorded answer fail.",
    ),
    AnswerKind.PROVIDER: (
        "Provider",
        "A provider is asked, at its cost. Answers are recorded beside the chat and not asked for twice.",
    ),
    AnswerKind.TYPED: (
        "I type the answers",
        "You see every request and type the reply. Answers are recorded beside the chat.",
    ),
}


@dataclass(frozen=True, slots=True)
class RunChoice:
    """How a project is run. `fixed` names the behaviour switches that are set to fixed, in reading order."""

    mode: Mode = Mode.KEYWORDS
    source: Source = field(default_factory=Source)
    fixed: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Project) -> RunChoice:
        """What the project's own settings say, answered by the stand-in."""
        names = tuple(switch.name for switch in switches() if getattr(project.behaviour, switch.name) == FIXED)
        return cls(mode_of(project.settings), Source(), names)

    def applied(self, project: Project) -> Project:
        """The project, run as chosen; the same one where that changes nothing."""
        own = RunChoice.of(project)
        project = with_mode(project, self.mode)
        return project if own.fixed == self.fixed else replace(project, behaviour=fixed(self.fixed))

    @property
    def asks_model(self) -> bool:
        """Whether the mode puts questions to the answer source."""
        return self.mode.asks_model

    @property
    def effective(self) -> RunChoice:
        """The choice without what makes no difference: where no model is asked, nobody answers."""
        return self if self.asks_model else replace(self, source=Source())

    @property
    def title(self) -> str:
        """Mode and answer source in a few words."""
        return (
            f"{mode_caption(self.mode)} · {source_title(self.source)}" if self.asks_model else mode_caption(self.mode)
        )


class ChoiceStore:
    """The choices by chat. Kept in memory, and in a file once `keep_in` names one."""

    def __init__(self) -> None:
        self._known: dict[str, RunChoice] = {}
        self._settings: QSettings | None = None

    def keep_in(self, settings: QSettings) -> None:
        """Remember the choices there from now on."""
        self._settings = settings

    def load(self, chat: str) -> RunChoice | None:
        """What was chosen for a chat, None where nothing was; what is not known any more counts as not chosen."""
        if chat not in self._known and self._settings is not None:
            found = _read(str(self._settings.value(f"runs/{chat}", "")))
            if found is not None:
                self._known[chat] = found
        return self._known.get(chat)

    def save(self, chat: str, choice: RunChoice) -> None:
        """Remember what was chosen for a chat."""
        self._known[chat] = choice
        if self._settings is not None:
            parts = (choice.mode.value, choice.source.kind.value, ",".join(choice.fixed), choice.source.profile)
            self._settings.setValue(f"runs/{chat}", "|".join(parts))


def _read(text: str) -> RunChoice | None:
    parts = text.split("|", 3)  # a profile's name comes last, because it may hold anything
    if len(parts) != 4 or parts[0] not in set(Mode) or parts[1] not in set(AnswerKind):
        return None
    known = {switch.name for switch in switches()}
    names = tuple(name for name in parts[2].split(",") if name in known)
    return RunChoice(Mode(parts[0]), Source(AnswerKind(parts[1]), parts[3]), names)
