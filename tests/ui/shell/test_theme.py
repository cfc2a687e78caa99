"""The theme's own behaviour: choosing one, and dressing a window at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

if TYPE_CHECKING:
    from lorestudio.ui.shell.theme import Theme

pytestmark = pytest.mark.dressed


def test_choosing_a_theme_tells(theme: Theme) -> None:
    told = []
    theme.changed.connect(lambda: told.append(theme.palette.dark))
    theme.choose("dark")
    assert told == [True]
    assert qapp.styleSheet() != light
    assert qapp.palette().window().color() == theme.color("window")
    assert qapp.palette().text().color() == theme.color("text")
    theme.choose("light")
    assert qapp.palette().window().color() == theme.color("window")
    assert qapp.styleSheet() == light


def test_what_is_built_while_it_is_held_back_is_dressed_at_the_end(theme: Theme, qapp: QApplication) -> None:
    sheet = qapp.styleSheet()
    at_once = QPushButton("Go")
    at_once.ensurePolished()
    with theme.held_back():
        assert qapp.styleSheet() == ""
        later = QPushButton("Go")
    assert qapp.styleSheet() == sheet
    assert later.sizeHint() == at_once.sizeHint()
    for button in (at_once, later):
        button.deleteLater()


def test_a_failure_while_it_is_held_back_does_not_leave_the_application_bare(theme: Theme, qapp: QApplication) -> None:
    sheet = qapp.styleSheet()
    with pytest.raises(ValueError, match="no window"), theme.held_back():
        raise ValueError("no window")
    assert qapp.styleSheet() == sheet
