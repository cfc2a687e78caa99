"""Whether a widget that hears of an event leaves it to those who heard of it before, too, and only to those."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from lorestudio import ui

_HANDED_ON = (
    "actionEvent", "changeEvent", "focusInEvent", "focusOutEvent", "hideEvent", "inputMethodEvent", "keyPressEvent",
    "leaveEvent", "resizeEvent", "showEvent", "viewportEvent",
)  # fmt: skip
"""What happens to a widget whoever else hears of it; a gesture, or what is painted, may be its own alone."""

_NOBODYS = frozenset({"hideEvent", "leaveEvent", "resizeEvent", "showEvent"})
"""What `QWidget` does nothing about."""

_LAID_OUT_ALONE = "MessageList.resizeEvent"
"""It hands on past Qt's list, which would lay out all messages at every step of a splitter."""


def classes_of(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from classes_of(kind)


def handed_on(kind: type, name: str) -> tuple[bool, bool]:
    """Whether a class hands an event on, and whether anybody else in its line does something about it."""
    heir = next(base for base in kind.__mro__[1:] if name in vars(base))
    return f"super().{name}(" in inspect.getsource(vars(kind)[name]), heir is not QWidget or name not in _NOBODYS


def test_what_happens_to_a_widget_is_handed_on_where_somebody_else_does_something_about_it() -> None:
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        import_module(module.name)
    ours = {each for each in classes_of(QObject) if each.__module__.startswith(f"{ui.__name__}.")}
    found = {
        f"{kind.__name__}.{name}": handed_on(kind, name) for kind in ours for name in _HANDED_ON if name in vars(kind)
    }
    assert len(found) > 70
    assert {name for name, (does, should) in found.items() if does is not should} == {_LAID_OUT_ALONE}
