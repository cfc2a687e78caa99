"""A damaged file of the window's settings costs what it kept, and never the start."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, QSettings

from tests.ui.conftest import drain

KEYS = (
    "window/workspace", "window/geometry", "window/version", "window/layout", "theme", "vault/view", "chat/unfolded",
    "chat/writer", "menus/used", "palette/recent", "folders/chat", "folders/vault", "shortcuts/chat.save",
    "projects/recent", "demo/coached", "trace/unfolded",
)  # fmt: skip
HOSTILE = ('[{"places": ["/x"], "chat": 7, "settings": []}]', "[" * 5000, "../\ud800\0")


@pytest.mark.long
def test_the_window_opens_with_any_values(make_window, tmp_path) -> None:
    plain = make_window(file="plain.ini")
    plain.close()
    drain()
    keys = {*KEYS, *plain.context.settings.allKeys()}
    for number, value in enumerate([QByteArray(b"\0\1\2damaged" * 50), *HOSTILE]):
        settings = QSettings(str(tmp_path / f"{number}.ini"), QSettings.Format.IniFormat)
        for key in keys:
            settings.setValue(key, value)
        settings.setValue("window/version", plain.context.settings.value("window/version"))
        settings.sync()
        window = make_window(file=f"{number}.ini")
        window.show()
        drain()
        assert window.isVisible()
        window.close()


@pytest.mark.parametrize("data", [b"\0" * 500, b"[window\ngeometry=@ByteArray(\\x"])
def test_the_window_opens_with_any_file(make_window, tmp_path, data: bytes) -> None:
    (tmp_path / "damaged.ini").write_bytes(data)
    window = make_window(file="damaged.ini")
    window.show()
    drain()
    assert window.isVisible()
