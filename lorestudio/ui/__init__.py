"""The window: PySide6 and qasync live here and nowhere else.

PySide6 puts an import of its own in the place of Python's, which reads the source of every module that is loaded from
then on for `from __feature__ import …`. Nothing here says that, and it takes a quarter of the start: so Python's stays.
"""

import builtins

_import = builtins.__import__
import PySide6.QtCore  # noqa: E402, F401  # what was there before has to be known

builtins.__import__ = _import
