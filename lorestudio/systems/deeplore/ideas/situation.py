"""What is known where changes are looked for: the run, the entry that it stopped, and how options are written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import field_names, replace
from lorestudio.settings.declaration import Declaration, Value
from lorestudio.settings.deeplore import declarations
from lorestudio.systems import ideas
from lorestudio.systems.changes import Change, NoteEdit, Option, Steps, declared_setting
from lorestudio.systems.deeplore.inputs import Inputs
from lorestudio.trace.wording import quoted

_DECLARED: Final[Mapping[str, Declaration]] = MappingProxyType({each.name: each for each in declarations()})


def title_of(name: str) -> str:
    """What the settings pane calls a setting, in quotation marks."""
    return f"“{_DECLARED[name].title}”"


def most_of(name: str) -> int:
    """The largest value that a number setting takes."""
    high = _DECLARED[name].high
    return 0 if high is None else int(high)


def setting(code: str, name: str, value: Value, before: Value) -> Change:
    """One setting with another value."""
    return declared_setting(code, _DECLARED[name], value, before)


@dataclass(frozen=True, kw_only=True)
class DeepLoreSituation(ideas.Situation):
    """The same with the inputs of the run, for a note, which every entry is here.

    With `stand_in` the modes that ask a model are offered, because somebody answers for it at once.
    """

    ctx: Inputs
    note: Entry
    stand_in: bool = False

    @classmethod
    def of(cls, known: ideas.Situation, ctx: Inputs, *, stand_in: bool) -> DeepLoreSituation:
        """The situation with these inputs."""
        values = {name: getattr(known, name) for name in field_names(type(known))}
        return cls(**values, ctx=ctx, stand_in=stand_in)

    @property
    def entry(self) -> Entry:
        """The entry."""
        return self.note

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

    def amounts(self, code: str, name: str, numbers: Sequence[int]) -> Option:
        """One setting with each of these values."""
        before: Value = getattr(self.ctx.settings, name)
        return Option(Steps(numbers, lambda value: setting(code, name, value, before)))

    def choose(self, code: str, title: str, *, forced: bool = False, brief: str = "", **parts: object) -> Option:
        """The chat's choices with other `pins`, `blocks`, `folders` or `context`."""
        return Option((Change(code, title, controls=replace(self.controls, **parts), forced=forced, brief=brief),))  # type: ignore[arg-type]  # by name

    def edit(
        self,
        code: str,
        title: str,
        name: str,
        value: Json = None,
        *,
        group: str = "",
        add: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
        forced: bool = False,
        brief: str = "",
    ) -> Option:
        """One property of the note with another value, or without items; it goes where nothing else is said."""
        removed = value is None and not add and not drop
        note = NoteEdit.of(self.entry, name, value, removed=removed, add=add, drop=drop)
        return Option((Change(code, title, note=note, forced=forced, brief=brief),), group)

    def numbered(
        self, name: str, numbers: Sequence[int], title: Callable[[int], str], code: str = "", *, history: bool = False
    ) -> Option:
        """One property of the note with each of these numbers; instead of 0 it goes."""
        words = "Own scan depth" if name == "scanDepth" else name.capitalize()

        def make(number: int) -> Change:
            note = NoteEdit.of(self.entry, name, number or None, removed=not number)
            brief = f"{words} {number:,}" if number else f"No {words.lower()}"
            return Change(code or name, title(number), note=note, brief=brief)

        return Option(Steps(numbers, make), through_history=history)
