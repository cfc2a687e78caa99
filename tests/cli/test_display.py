from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from lorestudio.cli import window as display
from lorestudio.cli.window import has_display, install_command, missing_for_x


def test_nothing_set_is_no_display() -> None:
    assert not has_display({}, "linux")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_desktops_of_their_own_have_one(platform: str) -> None:
    assert has_display({}, platform)


@pytest.mark.parametrize("value", ["offscreen", "minimal", "vnc", "offscreen:size=10x10"])
def test_qt_told_to_draw_elsewhere_has_none(value: str) -> None:
    assert not has_display({"QT_QPA_PLATFORM": value}, "darwin")


def test_qt_told_to_draw_on_the_screen_changes_nothing() -> None:
    assert has_display({"QT_QPA_PLATFORM": "cocoa"}, "darwin")


@pytest.mark.parametrize("value", ["", ":", "nonsense", ":x", ":64123", "unix:64123.0", "127.0.0.1:59000"])
def test_a_screen_that_does_not_answer_is_none(value: str) -> None:
    assert not has_display({"DISPLAY": value}, "linux")


def test_an_x_server_over_the_network_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr(display, "_FIRST_PORT", port - 5)
        assert has_display({"DISPLAY": "127.0.0.1:5.0"}, "linux")


def test_wayland_answers_where_its_socket_is() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": folder}
        assert not has_display(environment, "linux")
        (Path(folder) / "wayland-0").touch()
        assert has_display(environment, "linux")


def qt_with_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """A Qt whose part for X servers has these bytes."""
    plugin = tmp_path / "PySide6" / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    plugin.parent.mkdir(parents=True)
    plugin.write_bytes(data)
    found = SimpleNamespace(origin=str(tmp_path / "PySide6" / "__init__.py"))
    monkeypatch.setattr(display, "find_spec", lambda _name: found)


def test_what_qt_cannot_load_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qt_with_plugin(tmp_path, monkeypatch, b"no library")
    assert "libqxcb.so" in missing_for_x({}, "linux")


@pytest.mark.parametrize(
    ("environment", "platform"), [({}, "darwin"), ({}, "win32"), ({"QT_QPA_PLATFORM": "wayland"}, "linux")]
)
def test_elsewhere_the_part_for_x_servers_is_not_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], platform: str
) -> None:
    qt_with_plugin(tmp_path, monkeypatch, b"no library")
    assert missing_for_x(environment, platform) == ""


def test_without_qt_nothing_is_said_about_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "find_spec", lambda _name: None)
    assert missing_for_x({}, "linux") == ""


@pytest.mark.parametrize(
    ("release", "begins"),
    [
        ('NAME="Debian GNU/Linux"\nID=debian\n', "Run: apt-get install libegl1"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "Run: apt-get install"),
        ("ID=fedora\nVERSION_ID=41\n", "Run: dnf install"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "Run: dnf install"),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "Run: zypper install"),
        ("ID=arch\n", "Run: pacman -S"),
        ("ID=void\n", "On Debian and Ubuntu: apt-get install"),
        (None, "On Debian and Ubuntu: apt-get install"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_brings_it(
    tmp_path: Path, release: str | None, begins: str
) -> None:
    path = tmp_path / "os-release"
    if release is not None:
        path.write_text(release, encoding="utf-8")
    assert install_command(path).startswith(begins)
