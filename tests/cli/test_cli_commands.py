from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import Result

from lorestudio import __version__
from lorestudio.cli import doctor, options, run
from lorestudio.cli import window as opening
from lorestudio.cli.app import COMMANDS, app
from lorestudio.cli.output import say
from lorestudio.cli.screen import Screen
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import Section
from lorestudio.studio.project.doctor import CheckResult
from lorestudio.studio.project.project import Project

Run = Callable[..., Result]


class Window:
    """Stands in for the window's module and notes what it was asked for."""

    def __init__(self, code: int = 0) -> None:
        self.opened: list[Project] = []
        self.pictures: list[Path] = []
        self.code = code

    def run(self, project: Project, systems: Mapping[str, Section]) -> int:
        assert systems == {}
        self.opened.append(project)
        return self.code

    def render_window(self, project: Project, path: Path, systems: Mapping[str, Section]) -> None:
        assert project.index.entries
        assert systems == {}
        path.write_bytes(b"\x89PNG")
        self.pictures.append(path)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Window:
    found = Window()
    monkeypatch.setattr(opening, "_ui", lambda: found)
    return found


def display(monkeypatch: pytest.MonkeyPatch, *, there: bool) -> None:
    monkeypatch.setattr(opening, "has_display", lambda: there)
    monkeypatch.setattr(opening, "missing_for_x", lambda: "")


def test_help_names_every_command(lorestudio: Run) -> None:
    result = lorestudio("--help")
    assert result.exit_code == 0
    for command in ("demo", "open", "replay", "run", "doctor"):
        assert f"\n  {command} " in result.stdout.replace("│ ", "  ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_no_type_of_python(lorestudio: Run, name: str) -> None:
    for each in getattr(get_command(app).get_command(None, name), "commands", [""]):
        told = lorestudio(*filter(None, (name, each)), "--help").stdout
        usage = told.partition("\n\n")[0]
        assert re.findall(r"<[a-z]|list\[", told) == []
        assert re.findall(r"[{}]|\[\[|\.\.\.\]?\.\.\.", usage) == []


@pytest.mark.parametrize("name", ["explain", "check", "replay"])
def test_help_begins_with_what_is_needed_and_ends_with_what_is_seldom_wanted(lorestudio: Run, name: str) -> None:
    told = re.findall(r"^  (--[a-z-]+)", lorestudio(name, "--help").stdout, re.MULTILINE)
    assert told[0] == "--chat"
    assert told.index("--json") < told.index("--settings") < told.index("--history"), "its own before those of others"
    assert told[-2:] == ["--speaker", "--help"]


def test_help_says_that_a_window_opens_without_a_command(lorestudio: Run) -> None:
    assert "Without a command the window opens" in " ".join(lorestudio("--help").stdout.split())


def test_version(lorestudio: Run) -> None:
    result = lorestudio("--version")
    assert (result.exit_code, result.stdout) == (0, f"lorestudio {__version__}\n")


@pytest.mark.parametrize("arguments", [["nonsense"], ["replay"], ["run", "a", "--bogus"]])
def test_wrong_use_ends_with_2(lorestudio: Run, arguments: list[str]) -> None:
    result = lorestudio(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_demo_without_a_display_replays_here_and_writes_a_picture(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    display(monkeypatch, there=False)
    result = lorestudio("demo")
    assert result.exit_code == 0
    assert result.stdout.startswith("There is no display here, so the demo is replayed in the terminal.")
    assert "27 generations" in result.stdout
    assert "The last generation: " in result.stdout
    picture = Path("lorestudio-demo.png").resolve()
    assert window.pictures == [picture]
    assert picture.is_file()
    assert f"A picture of the window: {picture}" in result.stdout.replace("\n", "")
    assert window.opened == []


def test_demo_in_a_folder_that_cannot_be_written(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    display(monkeypatch, there=False)
    monkeypatch.setattr(opening.os, "access", lambda *_: False)
    monkeypatch.setattr(opening, "gettempdir", lambda: str(tmp_path))
    assert lorestudio("demo").exit_code == 0
    assert window.pictures == [tmp_path / "lorestudio-demo.png"]


def test_demo_with_a_display_opens_the_window_and_gives_its_code(
    lorestudio: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    display(monkeypatch, there=True)
    window = Window(code=3)
    monkeypatch.setattr(opening, "_ui", lambda: window)
    result = lorestudio("demo")
    assert (result.exit_code, result.stdout) == (3, "")
    assert len(window.opened) == 1


@pytest.mark.parametrize("there", [True, False])
def test_screenshot_works_anywhere_and_opens_nothing(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: bool
) -> None:
    display(monkeypatch, there=there)
    result = lorestudio("demo", "--screenshot", tmp_path / "shot.png")
    assert result.exit_code == 0
    assert window.pictures == [tmp_path / "shot.png"]
    assert window.opened == []
    assert "generations" not in result.stdout


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied", "shot.png"), "the picture cannot be written: Permission denied."),
        (OSError("the picture could not be written"), "the picture could not be written."),
    ],
)
def test_a_picture_that_cannot_be_written(
    lorestudio: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: OSError, told: str
) -> None:
    def refuse(project: Project, path: Path, systems: Mapping[str, Section]) -> None:
        raise error

    monkeypatch.setattr(opening, "_ui", lambda: SimpleNamespace(render_window=refuse))
    result = lorestudio("demo", "--screenshot", tmp_path / "shot.png")
    assert result.exit_code == 2
    assert result.stderr == f"lorestudio: {tmp_path / 'shot.png'}: {told}\n"


def test_open_with_a_display(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, vault: Path, chat: Path
) -> None:
    display(monkeypatch, there=True)
    assert lorestudio("open", vault, "--chat", chat).exit_code == 0
    (project,) = window.opened
    assert project.vault_folders == (vault,)
    assert project.chat_path == chat


def test_open_takes_a_chat_alone_and_lists_a_sillytavern(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, vault: Path, chat: Path, tmp_path: Path
) -> None:
    display(monkeypatch, there=True)
    assert lorestudio("open", "--chat", chat).exit_code == 0
    folder = tmp_path / "SillyTavern"
    there = folder / "data" / "default-user" / "chats" / "Ottoline" / "One.jsonl"
    there.parent.mkdir(parents=True)
    there.write_text('{"user_name":"Wren"}\n{"name":"Wren","is_user":true,"mes":"Fog."}\n', "utf-8")
    listed = lorestudio("open", "--sillytavern", folder)
    assert (listed.exit_code, len(window.opened)) == (0, 1)
    assert listed.stdout.split()[:3] == ["character", "chat", "last"]
    assert "Ottoline" in listed.stdout
    assert lorestudio("open", "--sillytavern", folder, "--character", "otto").exit_code == 0
    assert [project.chat_path for project in window.opened] == [chat, there]
    assert lorestudio("open", vault, "--sillytavern", folder, "--character", "otto").exit_code == 0
    beside = window.opened[-1]
    assert (beside.roots, beside.chat_path, beside.setup) == ([vault], there, window.opened[1].setup)
    assert lorestudio("open", "--sillytavern", folder, "--chat", there).exit_code == 0
    assert (window.opened[-1].chat_path, window.opened[-1].setup) == (there, window.opened[1].setup)
    for wrong in (
        (),
        ("--sillytavern", folder, "--chat", "Two"),
        ("--sillytavern", tmp_path),
        (chat, "--sillytavern", folder),
    ):
        assert lorestudio("open", *wrong).exit_code == 2


def test_open_without_a_display_says_what_to_do(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, vault: Path
) -> None:
    display(monkeypatch, there=False)
    result = lorestudio("open", vault)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == ("lorestudio: there is no display to open a window on. Use “replay”, or --screenshot.\n")
    assert window.opened == window.pictures == []


def test_open_with_a_screenshot_needs_no_display(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch, vault: Path, tmp_path: Path
) -> None:
    display(monkeypatch, there=False)
    assert lorestudio("open", vault, "--screenshot", tmp_path / "shot.png").exit_code == 0
    assert window.pictures == [tmp_path / "shot.png"]


def test_open_names_a_vault_that_is_not_there(lorestudio: Run, window: Window, tmp_path: Path) -> None:
    result = lorestudio("open", tmp_path / "gone")
    assert result.exit_code == 2
    assert "gone" in result.stderr
    assert window.opened == []


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ModuleNotFoundError("No module named 'PySide6'"), "pip install PySide6-Essentials qasync"),
        (ImportError("libEGL.so.1: cannot open shared object file"), "apt-get install libegl1"),
    ],
)
def test_without_qt_the_cure_is_named(
    lorestudio: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: ImportError, advice: str
) -> None:
    import builtins  # noqa: PLC0415  # only here

    real = builtins.__import__

    def importing(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("lorestudio.ui"):
            raise error
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", importing)
    result = lorestudio("demo", "--screenshot", tmp_path / "shot.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(error) in result.stderr
    assert advice in result.stderr
    assert advice in opening.window_problem()


def test_a_display_that_qt_cannot_use_is_told_with_the_cure(
    lorestudio: Run, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    display(monkeypatch, there=True)
    monkeypatch.setattr(opening, "missing_for_x", lambda: "libxcb-icccm.so.4: cannot open shared object file")
    result = lorestudio("demo")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "libxcb-icccm.so.4" in result.stderr
    assert "apt-get install" in result.stderr
    assert window.opened == []


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_doctor(lorestudio: Run, monkeypatch: pytest.MonkeyPatch, ok: bool, code: int) -> None:
    asked: dict[str, Any] = {}

    def examine(**facts: Any) -> tuple[CheckResult, ...]:
        asked.update(facts)
        return (
            CheckResult("Python", ok=True, message="3.11"),
            CheckResult("Demo", ok=ok, message="Install [it] again."),
        )

    monkeypatch.setattr(doctor, "examine", examine)
    monkeypatch.setattr(doctor, "window_problem", lambda: "no Qt")
    display(monkeypatch, there=False)
    result = lorestudio("doctor")
    assert result.exit_code == code
    assert asked == {"has_display": False, "window_problem": "no Qt"}
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines == ["✓ fine Python 3.11", f"{'✓ fine' if ok else '✗ wrong'} Demo Install [it] again."]
    told = lorestudio("doctor", "--json")
    assert (told.exit_code, json.loads(told.stdout)[1]) == (
        code,
        {"subject": "Demo", "ok": ok, "message": "Install [it] again."},
    )


@pytest.mark.parametrize("command", ["replay", "run", "open"])
def test_ctrl_c_while_reading_ends_with_130(
    lorestudio: Run, monkeypatch: pytest.MonkeyPatch, vault: Path, chat: Path, command: str
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(options, "open_project", stop)
    monkeypatch.setattr(run, "run_scenarios", stop)
    arguments = [chat] if command == "run" else [vault, "--chat", chat]
    result = lorestudio(command, *arguments)
    assert (result.exit_code, result.stderr) == (130, "lorestudio: stopped.\n")


def test_an_error_has_its_file_in_front(lorestudio: Run, monkeypatch: pytest.MonkeyPatch, vault: Path) -> None:
    def wrong(*_: object) -> None:
        raise InputError("chat.jsonl", "it is wrong.", 3, "mes")

    monkeypatch.setattr(options, "open_project", wrong)
    result = lorestudio("open", vault)
    assert result.stderr == "lorestudio: chat.jsonl, line 3, field “mes”: it is wrong.\n"


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EACCES])
def test_a_network_folder_that_went_away_is_a_message(
    lorestudio: Run, go_away: Callable[..., None], vault: Path, chat: Path, number: int
) -> None:
    go_away(chat, number=number)
    result = lorestudio("replay", vault, "--chat", chat)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"lorestudio: {chat}: {os.strerror(number)}.")


def test_too_little_memory_is_a_message(lorestudio: Run, monkeypatch: pytest.MonkeyPatch, vault: Path) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(options, "open_project", full)
    result = lorestudio("open", vault)
    assert (result.exit_code, result.stderr.startswith("lorestudio: there is not enough memory")) == (2, True)


@pytest.mark.parametrize("command", [["test", "--text", "x"], ["usage"], ["verify"], ["lint"]], ids=" ".join)
def test_a_line_of_the_chat_that_cannot_be_read_is_told_beside_the_result(
    lorestudio: Run, vault: Path, chat: Path, command: list[str]
) -> None:
    lines = chat.read_text(encoding="utf-8").count("\n") + 1
    chat.write_text(chat.read_text(encoding="utf-8") + '\n{"name": "Wren", "mes"', encoding="utf-8")
    name, *more = command
    result = lorestudio(name, vault, "--chat", chat, *more)
    assert result.stdout.strip()
    assert f"Line {lines + 1} is no JSON" in result.stderr


def test_who_forgot_chat_is_told_what_to_type(lorestudio: Run, vault: Path, chat: Path) -> None:
    told = chat.with_name("my talk.jsonl")
    told.write_bytes(chat.read_bytes())
    result = lorestudio("replay", vault, told)
    assert result.exit_code == 2
    assert f"Missing option '--chat'. Write --chat '{told}'" in "".join(result.stderr.splitlines())
    assert "Missing option '--chat'. Write --chat FILE\n" in lorestudio("explain", vault, "--entry", "Lamp").stderr
    assert "Write --chat FILE" in lorestudio("facts", "extract").stderr


def test_who_named_a_chat_that_may_not_be_read_is_not_told_to_name_it(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **more: str(path) != str(chat) and may(path, mode, **more))
    for typed in (("--chat", chat), (f"--chat={chat}",)):
        result = lorestudio("replay", vault, *typed)
        assert result.exit_code == 2
        assert "Invalid value for '--chat'" in result.stderr
        assert "is not readable" in " ".join(result.stderr.split())
        assert "Write --chat" not in result.stderr


@pytest.mark.parametrize("command", ["facts threads", "facts profile", "recap status", "recap scenes"])
def test_a_chat_alone_needs_no_option(lorestudio: Run, chat: Path, command: str) -> None:
    alone, named = (lorestudio(*command.split(), "--json", *given, chat) for given in ((), ("--chat",)))
    assert (named.exit_code, named.stderr) == (0, alone.stderr)
    assert (alone.exit_code, alone.stdout) == (0, named.stdout)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("replay", "--type", "swipe"), "--type: kinds of replies are told apart by --system world-info."),
        (("effects", "--each", "--set", "scanDepth=6"), "--each: this tries settings as they are now, one by one."),
        (("effects", "--set", "scanDepth"), "--set: “scanDepth” gives no value. Write scanDepth=VALUE."),
        (("effects", "--set", "scanDepth=300"), "“scanDepth”: 300 is not in the range 0 to 100 messages."),
        (("tune", "--over", "scanDepth"), "nothing is expected there yet. Say “Should be in…” in the window, or write"),
    ],
)
def test_a_refusal_names_what_was_typed_and_what_to_type(
    lorestudio: Run, vault: Path, chat: Path, given: tuple[str, ...], said: str
) -> None:
    result = lorestudio(given[0], vault, "--chat", chat, *given[1:])
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    "asked",
    [
        ("lint", "{vault}"), ("settings", "show", "maxTokensBudget"), ("recap", "status", "--chat", "{chat}"),
    ],
    ids=lambda asked: asked[0],
)  # fmt: skip
def test_sentences_have_the_width_of_a_terminal_and_are_whole_elsewhere(
    lorestudio: Run, vault: Path, tmp_path: Path, asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault / "Far.md").write_text("---\ntags: [lorebook]\nkeys: [far]\nrequires: [Nobody]\n---\nFar.\n", "utf-8")
    tale = tmp_path / "tale.jsonl"
    tale.write_text('{"user_name": "A"}\n{"name": "A", "is_user": true, "mes": "Hello."}\n', "utf-8")
    words = [each.format(vault=vault, chat=tale) for each in asked]
    monkeypatch.setenv("COLUMNS", "60")
    whole = lorestudio(*words).stdout
    assert max(map(len, whole.splitlines())) > 60
    monkeypatch.setattr(Screen, "is_terminal", property(lambda _screen: True))
    shown = re.sub("\x1b\\[[0-9;]*m", "", lorestudio(*words).stdout)  # without colours
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == whole.split()


def test_a_message_has_the_width_of_a_terminal_and_is_whole_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "the profile holds them now. To use it: give --profile and its name, here or anywhere else."
    monkeypatch.setenv("COLUMNS", "40")
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        say(message)
        said = capsys.readouterr().err
        assert " ".join(said.split()) == f"lorestudio: {message}"
        assert (max(map(len, said.splitlines())) <= 40) is terminal


@pytest.mark.parametrize("asked", [("replay", "{vault}", "--chat", "{chat}"), ("settings", "list", "budget")])
def test_a_table_breaks_no_word_where_the_terminal_is_narrow(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    """Columns side by side would leave each a few letters: there each cell stands behind its heading."""
    words = [each.format(vault=vault, chat=chat) for each in asked]
    wide = set(lorestudio(*words).stdout.replace(":", " ").split())
    monkeypatch.setenv("COLUMNS", "40")
    narrow = lorestudio(*words).stdout
    assert max(map(len, narrow.splitlines())) <= 40
    assert {word for word in wide if word.isalpha()} <= set(narrow.replace(":", " ").split())


def test_what_is_too_much_is_answered_with_what_the_command_takes(lorestudio: Run, vault: Path) -> None:
    for words in (("sync", vault, "Book.json"), ("sync", "Book.json", vault)):
        result = lorestudio(*words)
        told = (
            f"“{words[2]}” is too much: this takes VAULT alone. Put words that belong together between quotation marks,"
            " and write the rest as options, as in: lorestudio sync "
        )
        assert result.exit_code == 2
        assert " ".join(told.split()) in " ".join(result.stderr.split())
    none = " ".join(lorestudio("presets", "list", "Storm").stderr.split())
    assert none.endswith("“Storm” is too much: this takes options alone, as in: lorestudio presets list")
