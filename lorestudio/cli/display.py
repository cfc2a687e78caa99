"""Whether there is a screen to open a window on, and what Qt lacks to do so."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_DRAWN_ELSEWHERE: Final = frozenset({"offscreen", "minimal", "vnc"})
_PATIENCE_SECONDS: Final = 2.0
_FIRST_PORT: Final = 6000
"""The TCP port of an X server's display 0."""


def has_display(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a window could be seen: a screen answers, and Qt was not told to draw elsewhere.

    A variable that names a screen which is gone (an old session, a closed connection) counts as no screen, because Qt
    would end the program at once.
    """
    if environment.get("QT_QPA_PLATFORM", "").split(":")[0] in _DRAWN_ELSEWHERE:
        return False
    if platform.startswith(("win", "darwin")):
        return True
    return _wayland_answers(environment) or _x_answers(environment.get("DISPLAY", ""))


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY", "")
    return bool(name) and (Path(environment.get("XDG_RUNTIME_DIR", "/")) / name).exists()


def _x_answers(display: str) -> bool:
    """Whether the X server behind `host:number.screen` takes connections; no host means a local socket."""
    host, separator, rest = display.rpartition(":")
    number = rest.split(".")[0]
    if not separator or not number.isdecimal():
        return False
    if host in {"", "unix"}:
        path = f"/tmp/.X11-unix/X{number}"  # noqa: S108  # where X servers listen, by convention; nothing is written
        return any(_connects(socket.AF_UNIX, address) for address in (path, f"\0{path}"))
    return _connects(socket.AF_INET, (host, _FIRST_PORT + int(number)))


def _connects(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(_PATIENCE_SECONDS)
            connection.connect(address)
    except (OSError, OverflowError):
        return False
    return True


def missing_for_x(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """What Qt's part for X servers cannot load, in the loader's words; "" where all is there or no X server is used.

    Qt itself ends the program without a way to catch it, and names only one of the libraries that may be missing.
    """
    if not platform.startswith("linux") or _wayland_answers(environment) or environment.get("QT_QPA_PLATFORM"):
        return ""
    package = find_spec("PySide6")
    if package is None or package.origin is None:
        return ""
    plugin = Path(package.origin).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if not plugin.is_file():
        return ""
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return str(error)
    return ""
