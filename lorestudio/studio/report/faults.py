"""What is passed on of an unexpected error: where in the program it happened, and nothing of the person's."""

from __future__ import annotations

import platform
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lorestudio.domain.resources import VERSION
from lorestudio.llm.redaction import redact

_QUOTED: Final = re.compile(r"""(?<!\w)(["'“‘])(?:(?!\1).)*["'”’]""", re.DOTALL)


def fault_report(error: BaseException) -> str:
    """The error and those that led to it, with the places in the program and its version.

    What a message quotes may be the person's words or files, so it is left out; so are keys and the home folder.
    """
    head = f"lorestudio {VERSION}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    told = redact("\n".join((head, *_told(error)))).replace(str(Path.home()), "~")
    return f"{told}\n"


def _told(error: BaseException) -> Iterator[str]:
    seen: list[BaseException] = []
    while error not in seen:
        seen.append(error)
        yield "".join(traceback.format_tb(error.__traceback__)).rstrip()
        yield f"{type(error).__name__}: {_QUOTED.sub('“…”', str(error))}"
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            return
        yield "\nwhich came while this was handled:"
        error = cause
