"""The window: PySide6 and qasync live here and nowhere else.

PySide6 puts an import of its own in the place of Python's, which reads the source of every module that is loaded from
then on for `from __feature__ import …`. Nothing here says that, and it takes a quarter of the start: so Python's stays.

An error must not get out of what overrides a function of Qt's: PySide6 loses it, or takes a word of it for an object
(before Python 3.12, as of `[][0]`), and the program ends there or later without a word. So each override of each class
that is made from here on reports its error as all others are, and goes on.
"""

import builtins
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

_import = builtins.__import__
import PySide6.QtCore  # noqa: E402, F401  # what was there before has to be known
from shiboken6 import Shiboken  # noqa: E402  # as above

builtins.__import__ = _import


def _reporting(override: FunctionType, of_qt: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, out of which no error gets: `of_qt` says in its place how large or what something is."""

    def after_error(error: Exception, *args: Any) -> Any:  # noqa: ANN401  # what the override takes and returns
        sys.excepthook(type(error), error, error.__traceback__)
        if override.__name__.lower().endswith(("event", "eventfilter")):
            return False  # it may have been handled half
        with suppress(NotImplementedError):
            return of_qt(*args)

    code = override.__code__
    if code.co_argcount == 1 and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):  # as a slot it takes no argument

        @wraps(override)
        def called(self: object) -> Any:  # noqa: ANN401  # what the override returns
            try:
                return override(self)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is told
                return after_error(error, self)
    else:

        @wraps(override)
        def called(*args: Any, **named: Any) -> Any:  # noqa: ANN401  # what the override takes and returns
            try:
                return override(*args, **named)
            except Exception as error:  # noqa: BLE001  # whatever it is, it is told
                return after_error(error, *args)

    return called


def _guard(made: type[Shiboken.Object]) -> None:
    """Python: a class of Qt's has got a child."""
    super(Shiboken.Object, made).__init_subclass__()
    of_qt = [base for base in made.__mro__ if base.__module__.startswith(("PySide6.", "Shiboken"))]
    functions = {name: base for base in reversed(of_qt) for name in vars(base) if not name.startswith("_")}
    for base in made.__mro__:
        for name in functions.keys() & vars(base).keys() if base not in of_qt else ():
            override = getattr(made, name)
            if override is vars(base)[name] and isinstance(override, FunctionType) and not hasattr(override, _DONE):
                setattr(made, name, _reporting(override, getattr(functions[name], name)))


_DONE = "__wrapped__"

Shiboken.Object.__init_subclass__ = classmethod(_guard)  # type: ignore[assignment, method-assign]  # no stub has it
