"""What a person changes about a project in the window beside its notes, and the steps back and forth between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Self, TypeAlias, TypedDict, TypeGuard, TypeVar

from msgspec import Struct, field

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.settings.behaviour import Behaviour
from lorestudio.settings.declaration import Section
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.chat.controls import choices_moved
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.project.project import Project


class PartChanges(TypedDict, total=False):
    """Some of the parts, as they are to be."""

    settings: DeepLoreSettings
    controls: ChatControls
    behaviour: Behaviour
    chat: Chat | None
    basis: KeptBasis


class Parts(Struct, frozen=True):
    """The parts of a project that are changed in the window and written to files only when a person asks for it.

    The basis alone is kept at once.
    """

    settings: DeepLoreSettings
    controls: ChatControls
    behaviour: Behaviour
    chat: Chat | None
    basis: KeptBasis = field(default_factory=KeptBasis)

    @classmethod
    def of(cls, project: Project) -> Parts:
        """The parts as the project has them."""
        return cls(project.settings, project.controls, project.behaviour, project.chat, project.basis)


What = TypeVar("What")


class Step(Struct, Generic[What], frozen=True):
    """What a person did: what it is called, and what it changed as it was before and after it."""

    title: str
    before: What
    after: What

    @property
    def back(self) -> Self:
        """The step that takes this one back."""
        return replace(self, before=self.after, after=self.before)


class Adjustment(Step[Parts], frozen=True):
    """One step of a person's changes to a project."""

    def forward(self, now: Parts) -> Parts:
        """The parts of now with what the step changed; what else was changed meanwhile stays."""
        return _moved(now, self.before, self.after)


class SystemStep(Step[Mapping[str, Section]], frozen=True):
    """Settings of systems beside DeepLore, by the systems' names."""

    def forward(self, now: Mapping[str, Section]) -> dict[str, Section]:
        """The settings of now with what the step changed."""
        return {name: _section_moved(now.get(name), self.before[name], self.after[name]) for name in self.after}


UndoStep: TypeAlias = Adjustment | SystemStep


class Adjustments:
    """The steps taken and taken back, the newest last."""

    def __init__(self) -> None:
        self._done: list[UndoStep] = []
        self._undone: list[UndoStep] = []

    @property
    def newest(self) -> UndoStep | None:
        """The step that would be taken back."""
        return self._done[-1] if self._done else None

    @property
    def undo_title(self) -> str:
        """What would be taken back, "" where there is nothing."""
        return self.newest.title if self.newest else ""

    @property
    def redo_title(self) -> str:
        """What would be done again, "" where there is nothing."""
        return self._undone[-1].title if self._undone else ""

    def add(self, step: UndoStep) -> None:
        """A step was taken; what was taken back before cannot be done again."""
        self._done.append(step)
        self._undone.clear()

    def undo(self) -> UndoStep | None:
        """Move one step back and return it; None where there is none."""
        return _moved_step(self._done, self._undone)

    def redo(self) -> UndoStep | None:
        """Move one step forth and return it; None where there is none."""
        return _moved_step(self._undone, self._done)

    def rebase(self, chat_of: Callable[[Chat], Chat | None]) -> None:
        """What the chats of the steps are by now; where there is none, the steps that changed the chat are forgotten.

        Such a step would take back what another program has written.
        """
        chats = (each.chat for step in (*self._done, *self._undone) if _changes_chat(step)
                 for each in (step.before, step.after))  # fmt: skip
        moved = {id(chat): chat_of(chat) for chat in {id(chat): chat for chat in chats if chat is not None}.values()}
        if None in moved.values():
            moved.clear()

        def of_now(parts: Parts) -> Parts:
            return replace(parts, chat=moved.get(id(parts.chat), parts.chat))

        for steps in (self._done, self._undone):
            steps[:] = [
                replace(step, before=of_now(step.before), after=of_now(step.after)) if _changes_chat(step) else step
                for step in steps
                if moved or not _changes_chat(step)
            ]

    def clear(self) -> None:
        """Another project is shown."""
        self._done.clear()
        self._undone.clear()


def _moved_step(source: list[UndoStep], target: list[UndoStep]) -> UndoStep | None:
    if source:
        target.append(source.pop())
        return target[-1]
    return None


def _changes_chat(step: UndoStep) -> TypeGuard[Adjustment]:
    return isinstance(step, Adjustment) and step.before.chat is not step.after.chat


def _moved(now: Parts, source: Parts, target: Parts) -> Parts:
    changes = {name: getattr(target.settings, name) for name in DeepLoreSettings.model_fields}
    changes = {name: value for name, value in changes.items() if getattr(source.settings, name) != value}
    return Parts(
        now.settings.model_copy(update=changes) if changes else now.settings,
        choices_moved(now.controls, source.controls, target.controls),
        target.behaviour if source.behaviour != target.behaviour else now.behaviour,
        target.chat if source.chat is not target.chat else now.chat,
        target.basis if source.basis != target.basis else now.basis,
    )


def _section_moved(now: Section | None, source: Section, target: Section) -> Section:
    if now is None:
        return target
    names = [name for name in type(target).model_fields if getattr(source, name) != getattr(target, name)]
    return now.model_copy(update={name: getattr(target, name) for name in names})
