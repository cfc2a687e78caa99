"""Names of files that every system takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain import file_names
from lorestudio.domain.file_names import NOT_IN_FILES, is_device, note_name, same_name, underscored_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Ottoline", "Ottoline"),
        ('A<B>:"/\\|?*', "A_B" + "_" * 8),
        (" ..Mr. X.. ", "Mr. X"),
        ("CON", "CON_"),
        ("lpt1.x", "lpt1_.x"),
        ("Constance", "Constance"),
        ("", "Session"),
        ("..", "Session"),
        ("a\nb", "a b"),
        ("a\x00\ud83cb", "a__b"),
        ("🏮" * 80, "🏮" * 50),
    ],
)
def test_what_is_refused_is_an_underscore(name: str, safe: str) -> None:
    assert underscored_name(name, "Session") == safe


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A/B: C?", "A B C"), ("  .hidden. ", "hidden"), ("CON", "CON_"), ("[[x]]#y", "x y"), ("", "Entry 7"),
        ("é" * 150, "é" * 100), ("世" * 90, "世" * 66), ("e\u0301", "é"), ("a\ud83d", "a"), ("con.txt", "con_.txt"),
    ],
)  # fmt: skip
def test_names_of_notes_hold_everywhere(title: str, name: str) -> None:
    assert note_name(title, "Entry 7") == name


@pytest.mark.parametrize("name", ["con", "NUL.md", "Aux .tar.gz", "com1", "LPT¹.x", "conout$"])
def test_windows_keeps_the_names_of_devices_with_every_ending(name: str) -> None:
    assert is_device(name)


@pytest.mark.parametrize("name", ["icon", "console", "com10", "con_.txt", "a.con", "nul-note"])
def test_other_names_are_free(name: str) -> None:
    assert not is_device(name)


@given(st.text() | st.sampled_from(["con", "Prn.", ". nul", "com1.\x00", "aux?"]))
def test_no_name_is_refused_anywhere(text: str) -> None:
    for name in (note_name(text, "x"), underscored_name(text, "x")):
        assert name
        assert not is_device(name)
        assert not set(name) & set(NOT_IN_FILES)
        assert name == name.strip(". ")
        assert len(name.encode()) <= 200
        assert all(ord(char) > 0x1F and not 0xD800 <= ord(char) < 0xE000 for char in name)


def test_of_thousands_of_one_name_no_number_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def same(name: str) -> str:
        compared.append(name)
        return same_name(name)

    monkeypatch.setattr(file_names, "same_name", same)
    taken = {same_name("Lamp (3).md"): 1}
    given = [file_names.free_name(name, ".md", taken) for name in ["Lamp", "lamp"] * 100]
    assert given[:5] == ["Lamp.md", "lamp (2).md", "Lamp (4).md", "lamp (5).md", "Lamp (6).md"]
    assert len({same_name(name) for name in given}) == 200
    assert file_names.free_name("Lamp (5)", ".md", taken) == "Lamp (5) (2).md"
    assert len(compared) < 4 * 200
