"""What is known where changes are looked for: the run, the entry that it stopped, and how options are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from lorestudio.domain.entry import Entry
from lorestudio.domain.state import ChatControls
from lorestudio.settings.declaration import Value
from lorestudio.systems.changes import Change, NoteEdit, Option, Steps, setting
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.trace.journey import Fate
from lorestudio.trace.wording import quoted


@dataclass(frozen=True, slots=True)
class Situation:
    """An entry that a run stopped: the inputs of that run, how it ended for the entry, and the chat's choices.

    `controls` are those of the whole chat. `aliases` are the note's further names. Without `editable` no change of a
    note is offered; with `stand_in` the modes that ask a model are, because somebody answers for it at once.
    """

    ctx: Inputs
    fate: Fate
    entry: Entry
    controls: ChatControls
    aliases: tuple[str, ...] = ()
    editable: bool = True
    stand_in: bool = False

    @property
    def name(self) -> str:
        """The entry's title in quotation marks."""
        return quoted(self.entry.title)

    def titles(self, name: str) -> tuple[str, ...]:
        """The titles that the verdict names."""
        value = self.fate.details.get(name)
        return tuple(str(title) for title in value) if isinstance(value, list | tuple) else ()

    def set(self, code: str, name: str, value: Value) -> Option:
        """One setting with another value."""
        return Option((setting(code, name, value, getattr(self.ctx.settings, name)),))

    def amounts(self, code: str, name: str, numbers: Sequence[int], *, through_history: bool = False) -> Option:
        """One setting with each of these values."""
        before: Value = getattr(self.ctx.settings, name)
        return Option(Steps(numbers, lambda value: setting(code, name, value, before)), through_history=through_history)

    def choose(self, code: str, title: str, **parts: object) -> Option:
        """The chat's choices with other `pins`, `blocks`, `folders` or `context`."""
        return Option((Change(code, title, controls=replace(self.controls, **parts)),))  # type: ignore[arg-type]  # by name

    def edit(self, code: str, title: str, edit: NoteEdit, group: str = "") -> Option:
        """One property of the note changed."""
        return Option((Change(code, title, note=edit),), group)


Maker: TypeAlias = Callable[[Situation], Iterator[Option]]
