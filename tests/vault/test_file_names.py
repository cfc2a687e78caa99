"""Names of notes as parts of file names."""

from __future__ import annotations

import pytest

from lorestudio.vault.files import safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Ottoline", "Ottoline"),
        ('A<B>:"/\\|?*', "A_B" + "_" * 8),
        (" ..Mr. X.. ", "Mr. X"),
        ("CON", "_CON"),
        ("lpt1.x", "_lpt1.x"),
        ("Constance", "Constance"),
        ("", "Session"),
        ("..", "Session"),
        ("a\nb", "a b"),
        ("a\x00\ud83cb", "a__b"),
        ("🏮" * 80, "🏮" * 50),
    ],
)
def test_names_that_every_file_system_takes(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_where_nothing_of_a_name_is_left_another_stands_in() -> None:
    assert safe_name("...", "Note") == "Note"
