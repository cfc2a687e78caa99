"""The real program in processes of its own: exit codes, streams, signals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lorestudio.trace.storage.serialize import from_json

ROOT = Path(__file__).resolve().parents[2]


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DISPLAY", "WAYLAND_DISPLAY"}}
    return kept | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "COLUMNS": "100"} | more


def program(tmp_path: Path, *arguments: object, code: str = "", **more: str) -> subprocess.CompletedProcess[bytes]:
    start = ["-c", code] if code else ["-m", "lorestudio"]
    command = [sys.executable, *start, *(str(argument) for argument in arguments)]
    return subprocess.run(  # noqa: S603  # our own program
        command, env=environment(tmp_path, **more), cwd=tmp_path, capture_output=True, timeout=90, check=False
    )


@pytest.mark.long
def test_replay_in_another_encoding_still_prints_utf_8_json(tmp_path: Path, vault: Path, chat: Path) -> None:
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nLicht für 燈.\n", encoding="utf-8")
    done = program(tmp_path, "replay", vault, "--chat", chat, "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    traces = [from_json(item) for item in json.loads(done.stdout.decode("utf-8"))]
    assert "Licht für 燈." in traces[0].prompt[0].text


@pytest.mark.long
def test_half_a_character_and_a_poor_terminal_are_printed_as_numbers(tmp_path: Path, vault: Path) -> None:
    chat = tmp_path / "half.jsonl"
    lines = [{"user_name": "U", "character_name": "燈"}, {"name": "U", "is_user": True, "mes": "\ud800 the lamp"}]
    chat.write_text("\n".join(map(json.dumps, lines)))
    done = program(tmp_path, "prompt", vault, "--chat", chat, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert b"\\ud800 the lamp" in done.stdout
    assert b"\\u71c8" in done.stdout


@pytest.mark.long
def test_run_prints_and_writes_the_same(tmp_path: Path, scenario: dict[str, Any]) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(scenario))
    printed = program(tmp_path, "run", path)
    assert (printed.returncode, printed.stderr) == (0, b"")
    written = program(tmp_path, "run", path, "-o", "out.jsonl")
    assert (written.returncode, written.stdout, written.stderr) == (0, b"", b"")
    assert (tmp_path / "out.jsonl").read_bytes() == printed.stdout


@pytest.mark.long
def test_bad_input_ends_with_2_and_writes_nothing(tmp_path: Path, scenario: dict[str, Any]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f'{json.dumps(scenario)}\n{{"id": "broken\n')
    done = program(tmp_path, "run", path, "-o", "out.jsonl")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode().startswith(f"lorestudio: {path}, line 2: this is no valid JSON")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_real_ctrl_c_ends_with_130(tmp_path: Path, vault: Path, chat: Path) -> None:
    code = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background was told to ignore it
from lorestudio.cli import app as cli
from lorestudio.cli.runs import replay as replaying
advance = replaying._advance
def interrupting(*inputs):
    real = advance(*inputs)
    def step(progress):
        real(progress)
        if progress.done == 2:
            signal.raise_signal(signal.SIGINT)
    return step
replaying._advance = interrupting
cli.main()
"""
    done = program(tmp_path, "replay", vault, "--chat", chat, code=code)
    assert done.returncode == 130
    assert done.stderr.decode().strip().splitlines()[-1].startswith("lorestudio: stopped after 2 of 4 generations")
    assert "4 generations" not in done.stdout.decode()


@pytest.mark.parametrize(
    "interrupt",
    [
        "signal.raise_signal(signal.SIGINT)",
        # As it comes out of a class that is being made.
        "class Within:\n  def __set_name__(self, *_): signal.raise_signal(signal.SIGINT)\n class Made: a = Within()",
    ],
)
@pytest.mark.parametrize(
    "module", ["lorestudio.domain.resources", "lorestudio.cli.app", "lorestudio.cli.notes.lint", "pydantic"]
)
def test_ctrl_c_while_modules_are_loaded_ends_with_130_and_a_word(
    tmp_path: Path, vault: Path, module: str, interrupt: str
) -> None:
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
 {interrupt}
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            interrupt()
from lorestudio import cli
sys.meta_path.insert(0, Interrupting())
cli.main()
"""
    done = program(tmp_path, "lint", vault, code=code)
    assert (done.returncode, done.stderr.decode().splitlines()) == (130, ["lorestudio: stopped."])


def test_nothing_is_loaded_before_ctrl_c_is_heard(tmp_path: Path) -> None:
    code = "import errno, os, sys; known = set(sys.modules); import lorestudio.cli; print(*set(sys.modules) - known)"
    assert set(program(tmp_path, code=code).stdout.decode().split()) == {"lorestudio", "lorestudio.cli"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_chat_out_of_a_pipe_is_refused_with_the_way_out(tmp_path: Path, vault: Path, chat: Path) -> None:
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "lorestudio", "replay", str(vault), "--chat", "/dev/stdin"], env=environment(tmp_path),
        input=chat.read_bytes(), capture_output=True, timeout=90, check=False,
    )  # fmt: skip
    told = "a chat is read more than once, and files lie beside it. Write it to a file, and give that."
    assert (done.returncode, done.stderr.decode()) == (2, f"lorestudio: --chat: {told}\n")
    done = program(tmp_path, "replay", vault, "--chat", "-")
    assert (done.returncode, done.stderr.decode()) == (2, f"lorestudio: --chat: {told}\n")


def test_open_without_a_display_ends_with_1(tmp_path: Path, vault: Path) -> None:
    done = program(tmp_path, "open", vault)
    assert done.returncode == 1
    assert b"no display" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("module", ["PySide6", "qasync", "shiboken6"])
def test_replay_and_run_never_load_qt(tmp_path: Path, vault: Path, chat: Path, module: str) -> None:
    code = f"""
import sys
sys.modules[{module!r}] = None
from lorestudio.cli import main
main()
"""
    assert program(tmp_path, "replay", vault, "--chat", chat, code=code).returncode == 0


def test_the_version_is_told_without_what_commands_need(tmp_path: Path) -> None:
    code = """
import atexit, sys
atexit.register(lambda: print(*sorted(name for name in sys.modules if name.startswith("lorestudio."))))
from lorestudio.cli import main
main()
"""
    done = program(tmp_path, "--version", code=code)
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert loaded == {"lorestudio.cli", "lorestudio.domain", "lorestudio.domain.resources"}


def test_a_name_that_is_nearly_a_command_is_corrected(tmp_path: Path) -> None:
    done = program(tmp_path, "repaly")
    assert done.returncode == 2
    assert b"'replay'" in done.stderr


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="streams are closed by a shell here")
def test_closed_streams_are_empty_ones(tmp_path: Path, vault: Path, chat: Path) -> None:
    def closed(streams: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "lorestudio", *map(str, arguments)]
        return subprocess.run(command, env=environment(tmp_path), capture_output=True, timeout=90, check=False)  # noqa: S603

    silent = closed(">&-", "replay", vault, "--chat", chat, "--json")
    assert (silent.returncode, silent.stderr) == (0, b"")
    nobody = closed("<&-", "preview", vault, "Lamp", "--chat", chat, "--text", "-")
    assert (nobody.returncode, nobody.stderr) == (0, b"")
    assert b"Lamp.md is no entry" in nobody.stdout
    assert closed("2>&-", "replay", vault / "none", "--chat", chat).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("asked", [("--version",), ("usage", "{vault}", "--json"), ("lint", "{vault}")])
def test_an_output_without_room_is_a_message(tmp_path: Path, vault: Path, asked: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "lorestudio", *(each.format(vault=vault) for each in asked)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603  # our own program
            command,
            env=environment(tmp_path),
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=90,
            check=False,
        )
    told = "lorestudio: the output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr.decode()) == (1, told)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there that can be set")
def test_an_output_larger_than_a_file_may_be_is_a_message(tmp_path: Path, vault: Path) -> None:
    import resource  # noqa: PLC0415  # Windows has none

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    with (tmp_path / "out.txt").open("wb") as output:
        done = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, "-B", "-m", "lorestudio", "usage", str(vault), "--json"],
            env=environment(tmp_path, PYTHONUNBUFFERED=""), cwd=tmp_path, stdout=output, stderr=subprocess.PIPE,
            timeout=90, check=False, preexec_fn=limited,
        )  # fmt: skip
    told = "lorestudio: the output cannot be written: File too large.\n"
    assert (done.returncode, done.stderr.decode()) == (1, told)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
@pytest.mark.parametrize(
    ("asked", "name"),
    [(("export", "{vault}", "--to", "Book.json", "--yes"), "Book.json"), (("new", "{vault}", "A"), "brume/A.md")],
)
def test_what_is_to_be_written_is_written_though_nobody_reads_the_report(
    tmp_path: Path, vault: Path, asked: tuple[str, ...], name: str
) -> None:
    unread, output = os.pipe()
    os.close(unread)  # as `| head` does once it has enough
    command = [sys.executable, "-m", "lorestudio", *(each.format(vault=vault) for each in asked)]
    done = subprocess.run(  # noqa: S603  # our own program
        command, env=environment(tmp_path), cwd=tmp_path, stdout=output, stderr=subprocess.PIPE, timeout=90, check=False
    )
    os.close(output)
    assert (done.returncode, (tmp_path / name).is_file()) == (0, True), done.stderr.decode()
    assert b"Traceback" not in done.stderr
