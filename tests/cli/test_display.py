from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from lorestudio.cli import display
from lorestudio.cli.display import has_display


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
