"""Single changes to a project as data: one setting, one choice for the chat, or one property of one note."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar, overload

from msgspec import Struct, field

from lorestudio.domain.entry import Entry, LeftOutNote
from lorestudio.domain.javascript import Json, number_text
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls
from lorestudio.settings.declaration import Declaration, Section, Value

_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})

SettingsT = TypeVar("SettingsT", bound=Section)


class RunPart(StrEnum):
    """The part of a project that a change is made in."""

    NOTE = "note"
    CHAT = "chat"
    SETTINGS = "settings"


class NoteEdit(Struct, frozen=True):
    """One property of one note: it goes (`removed`), its list gains and loses items, or it gets `value`."""

    vault: str
    filename: str
    name: str
    value: Json = None
    removed: bool = False
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        note: Entry | LeftOutNote,
        name: str,
        value: Json = None,
        *,
        removed: bool = False,
        add: tuple[str, ...] = (),
        drop: tuple[str, ...] = (),
    ) -> NoteEdit:
        """The edit of one property of that note."""
        return cls(note.vault, note.filename, name, value, removed, add, drop)


class Change(Struct, frozen=True):
    """One change: exactly one of `note`, `controls` and `settings` is there.

    `code` is the kind of change, `title` says what to do, e.g. "Raise “Scan depth” from 4 to 7". `controls` are all of
    the chat's choices with the change, `settings` values by the names of the settings of the system that it is for.
    `forced` ones bring an entry in, or keep it out, whatever is said from then on. `brief` is the title beside the
    entry's own, for a button.
    """

    code: str
    title: str
    note: NoteEdit | None = None
    controls: ChatControls | None = None
    settings: Mapping[str, Value] = field(default_factory=lambda: _NOTHING)
    forced: bool = False
    brief: str = ""

    @property
    def label(self) -> str:
        """The title as it stands in the row of the entry."""
        return self.brief or self.title

    @property
    def part(self) -> RunPart:
        """Where the change is made."""
        if self.note is not None:
            return RunPart.NOTE
        return RunPart.CHAT if self.controls is not None else RunPart.SETTINGS

    def set_in(self, settings: SettingsT) -> SettingsT:
        """The settings with the change."""
        return settings.model_copy(update=dict(self.settings)) if self.settings else settings

    def chosen_in(self, controls: ChatControls) -> ChatControls:
        """The chat's choices with the change, as `controls` have them at some moment of the chat."""
        if self.controls is None:
            return controls
        chosen = self.controls
        return replace(controls, pins=chosen.pins, blocks=chosen.blocks, folders=chosen.folders, context=chosen.context)


class Steps(Sequence[Change]):
    """Changes that differ in one number, made when they are asked for: a budget has a hundred thousand of them."""

    def __init__(self, numbers: Sequence[int], make: Callable[[int], Change]) -> None:
        self._numbers, self._make = numbers, make

    @overload
    def __getitem__(self, place: int) -> Change: ...

    @overload
    def __getitem__(self, place: slice) -> Steps: ...

    def __getitem__(self, place: int | slice) -> Change | Steps:
        if isinstance(place, slice):
            return Steps(self._numbers[place], self._make)
        return self._make(self._numbers[place])

    def __len__(self) -> int:
        return len(self._numbers)


class Option(Struct, frozen=True):
    """One way to try: `steps` are the same change from the least to the most, and the least that works is wanted.

    Of options in one `group` a few that work are enough. `through_history` says that the change works through what
    happened earlier in the chat, so a single reply cannot tell. `probing` is what is tried because it is there: that
    the same stage has another objection then is no step forward.
    """

    steps: Sequence[Change]
    group: str = ""
    through_history: bool = False
    probing: bool = False


def declared_setting(code: str, known: Declaration, value: Value, before: Value) -> Change:
    """One setting with another value."""
    title = _setting_title(f"“{known.title}”", value, before)
    brief = "" if isinstance(value, bool | str) else f"“{known.title}” {_figures(value)}"
    return Change(code, title, settings=MappingProxyType({known.name: value}), brief=brief)


def _setting_title(what: str, value: Value, before: Value) -> str:
    if isinstance(value, bool):
        return f"Switch {what} {'on' if value else 'off'}"
    if isinstance(value, str) or isinstance(before, str):
        return f"Set {what} to {str(value).replace('_', ' ')}"
    verb = "Raise" if value > before else "Lower"
    return f"{verb} {what} from {_figures(before)} to {_figures(value)}"


def _figures(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else number_text(value)
