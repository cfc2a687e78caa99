"""`lorestudio demo` and `open`: whether there is a screen, what Qt lacks, and what is said then."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from types import MappingProxyType, ModuleType
from typing import Annotated, Final

import typer

from lorestudio.cli.command import OutputFile
from lorestudio.cli.options import ProjectOptions, SizeOption
from lorestudio.cli.output import FAILED, echo, say, say_all
from lorestudio.domain.records import replace
from lorestudio.domain.resources import loading
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.settings.files import real_path
from lorestudio.studio.project.project import Project, demo_folder, demo_project, practice_folder
from lorestudio.studio.project.sillytavern import BroughtChat, SillyTavernFolder, look_into, open_found

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


_INSTALLED_WITH: Final = {
    "debian": (
        "apt-get install libegl1 libgl1 libglib2.0-0 libfontconfig1 libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 "
        "libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 "
        "libxcb-xinerama0 libxcb-xkb1"
    ),
    "fedora": (
        "dnf install mesa-libEGL mesa-libGL glib2 fontconfig dbus-libs libxkbcommon-x11 xcb-util-cursor xcb-util-wm "
        "xcb-util-image xcb-util-keysyms xcb-util-renderutil libxcb"
    ),
    "suse": (
        "zypper install libEGL1 libGL1 libglib-2_0-0 fontconfig libdbus-1-3 libxkbcommon-x11-0 libxcb-cursor0 "
        "libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
    ),
    "arch": (
        "pacman -S libglvnd glib2 fontconfig dbus libxkbcommon-x11 xcb-util-cursor xcb-util-wm xcb-util-image "
        "xcb-util-keysyms xcb-util-renderutil"
    ),
}
"""The command that brings what Qt needs, by the family of the system."""


def install_command(release: Path = Path("/etc/os-release")) -> str:
    """The command for this system; that of Debian and Ubuntu, named as theirs, where `release` tells of no other."""
    told = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    named = re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)', told, re.MULTILINE)
    families = [family for word in " ".join(named).split() for family in _INSTALLED_WITH if family in word]
    return f"Run: {_INSTALLED_WITH[families[0]]}" if families else f"On Debian and Ubuntu: {_INSTALLED_WITH['debian']}"


def show_window(project: Project | None, systems: Mapping[str, Section] = MappingProxyType({})) -> int:
    """Open the window, on its start screen without a project, and wait for its end; returns the exit code.

    `systems` are settings of systems, by their names, that hold from now on.
    """
    ui = _ui()
    lacking = missing_for_x()
    if lacking:
        say(f"the window cannot be opened. {_qt_advice(OSError(lacking))}")
        raise typer.Exit(FAILED)
    return int(ui.run(project, systems=systems))


def save_picture(project: Project, path: Path, systems: Mapping[str, Section] = MappingProxyType({})) -> None:
    """Write a picture of the window; `systems` as for `show_window`. Raises InputError."""
    try:
        _ui().render_window(project, path, systems=systems)
    except OSError as error:
        told = f"the picture cannot be written: {error.strerror}" if error.strerror else str(error)
        raise InputError(path, f"{told}.") from error
    echo(f"A picture of the window: {path}")


def window_problem() -> str:
    """Why the window cannot be opened, "" where it can."""
    try:
        import lorestudio.ui.shell.app  # noqa: F401  # whether it loads is the question
    except ImportError as error:
        return _qt_advice(error)
    lacking = missing_for_x() if has_display() else ""
    return _qt_advice(OSError(lacking)) if lacking else ""


def _ui() -> ModuleType:
    """The window's module, imported only by the commands that need it."""
    try:
        with loading():
            from lorestudio.ui.shell import app as ui  # other commands work where Qt is not installed
    except ImportError as error:
        say(f"the window cannot be opened. {_qt_advice(error)}")
        raise typer.Exit(FAILED) from error
    return ui


def _qt_advice(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"Qt is not installed ({error}). Run: pip install PySide6-Essentials qasync"
    return f"Qt does not load ({error}). {install_command()}"


ScreenshotOption = Annotated[
    Path | None, "Write a picture of the window to this PNG file and end.", OutputFile((".png",))
]


def start(help_text: str) -> None:
    """Open the window on its start screen; without a display say what there is instead."""
    if has_display():
        raise typer.Exit(show_window(None))
    echo(help_text)
    say("there is no display to open the window on; the commands work in the terminal.")
    raise typer.Exit(FAILED)


def demo(
    *,
    screenshot: ScreenshotOption = None,
    reset: Annotated[bool, "Undo first what was done to the demo; that is kept beside it."] = False,
    practice: Annotated[bool, "Open a copy with three faults to find and mend; tuning.md goes along."] = False,
) -> None:
    """Open the demo vault and chat, replayed. Without a display: replay here and write a picture of the window.

    You see a copy of your own, which may be edited.
    """
    folder = practice_folder(demo_folder()) if practice else demo_folder()
    project = demo_project(folder, reset=reset, broken=practice)
    if screenshot is not None:
        save_picture(project, screenshot)
    elif has_display():
        raise typer.Exit(show_window(project))
    else:
        from lorestudio.cli.runs.replay import replay_chat, show_report
        from lorestudio.cli.runs.tables import ReplayReport
        from lorestudio.studio.replay.simulator import Simulator

        echo("There is no display here, so the demo is replayed in the terminal.\n")
        report = ReplayReport(project)
        replay_chat(Simulator(project), report.take)
        show_report(report)
        here = Path.cwd()
        save_picture(project, (here if os.access(here, os.W_OK) else Path(gettempdir())) / "lorestudio-demo.png")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions(ProjectOptions):
    """What is opened: vaults or lorebooks, a chat, both, or a chat of a SillyTavern."""

    vault: Annotated[list[str] | None, "<[VAULT...]>", "Folders of notes, or lorebooks; none for a chat."] = None  # type: ignore[assignment]  # `opened` takes none for no vault
    chat: Annotated[Path | None, "A SillyTavern chat (.jsonl) or plain text; of a SillyTavern its name will do."] = None
    sillytavern: Annotated[Path | None, "FOLDER", "A SillyTavern's folder: without more, list what it has."] = None
    character: Annotated[str, "The newest chat of this character of the SillyTavern."] = ""

    def found(self) -> BroughtChat | None:
        """What is to be opened; None where the folder was listed. Raises what `opened` raises."""
        if self.sillytavern is None:
            if not (self.vault or self.chat):
                raise InputError("VAULT", "give a vault, a lorebook, a chat (--chat) or a folder (--sillytavern).")
            return BroughtChat(replace(self, vault=self.vault or []).opened(self.chat))
        if books := [each for each in self.vault or () if Path(each).is_file()]:
            raise InputError(
                books[0], "--sillytavern brings its lorebooks itself. Give one of both, or a vault beside."
            )
        folder = look_into(self.sillytavern)
        if self.chat is None and not self.character:
            _list(folder)
            return None
        place = None if self.chat is None else real_path(self.chat)
        by_path = next((each for each in folder.chats if real_path(each.path) == place), None)
        found = by_path or folder.chat(str(self.chat or "").removesuffix(".jsonl"), self.character)
        brought = open_found(folder, found, self.tokenizer, self.vault or ())
        say_all(brought.remarks)
        return brought


def _list(folder: SillyTavernFolder) -> None:
    """Print what a SillyTavern has."""
    from lorestudio.cli.screen import Screen, filled, fixed, fold, listing

    rows = ((each.character, each.path.stem, f"{each.when:%Y-%m-%d}") for each in folder.chats)
    Screen().print(filled(listing(fold("character"), fold("chat"), fixed("last written")), rows))
    parts = {
        "characters": [path.stem for path in folder.characters],
        "lorebooks": [path.stem for path in folder.books],
        "presets": [path.stem for path in folder.presets],
        "personas": [each.name for each in folder.personas],
        "settings": ["with DeepLore's" if folder.settings else "without DeepLore's"] if folder.host else [],
    }
    for what, names in parts.items():
        echo(f"{what}: {', '.join(names) or 'none'}")
    say_all(folder.told)
    say(f"{folder.user} is only read. --chat NAME or --character NAME opens a chat with what belongs to it.")


def open_window(given: OpenOptions, context_size: SizeOption = 0, screenshot: ScreenshotOption = None) -> None:
    """Open a vault, a lorebook or a chat in the window, or list a SillyTavern and open a chat of it."""
    opened = given.found()
    if opened is None:
        return
    project = replace(opened.project, context_size=context_size)
    if screenshot is not None:
        save_picture(project, screenshot, opened.systems)
    elif has_display():
        raise typer.Exit(show_window(project, opened.systems))
    else:
        say("there is no display to open a window on. Use “replay”, or --screenshot.")
        raise typer.Exit(FAILED)
