"""The theme's own behaviour: choosing one, and dressing a window at once."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox, QWidget

from lorestudio.ui.shell import theme as themes

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from lorestudio.ui.shell.theme import Theme

pytestmark = pytest.mark.dressed


def test_choosing_a_theme_gives_the_application_its_colours_and_tells(theme: Theme, qapp: QApplication) -> None:
    told = []
    theme.changed.connect(lambda: told.append(theme.palette.dark))
    for name in ("dark", "light"):
        theme.choose(name)
        assert qapp.palette().window().color() == theme.color("window")
        assert qapp.palette().text().color() == theme.color("text")
    assert told == [True, False]


class Hints(QObject):
    """What the system says of its look."""

    colorSchemeChanged = Signal()  # noqa: N815 (Qt)

    def __init__(self) -> None:
        super().__init__()
        self.scheme = Qt.ColorScheme.Dark

    def colorScheme(self) -> Qt.ColorScheme:  # noqa: N802 (Qt)
        return self.scheme


def test_the_look_of_the_system_is_followed_while_that_is_chosen(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    hints, schemes = Hints(), Qt.ColorScheme
    monkeypatch.setattr(themes, "QGuiApplication", SimpleNamespace(styleHints=lambda: hints))
    theme = themes.Theme("system")
    assert theme.palette.dark
    for scheme in (schemes.Light, schemes.Dark, schemes.Unknown):
        hints.scheme = scheme
        hints.colorSchemeChanged.emit()
        assert theme.palette.dark is (scheme is schemes.Dark)
    theme.choose("light")
    hints.scheme = schemes.Dark
    hints.colorSchemeChanged.emit()
    assert not theme.palette.dark
    theme._soon.stop()


@pytest.mark.parametrize("shown", [True, False])
def test_every_colour_of_the_sheet_is_that_of_the_theme(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, *, shown: bool
) -> None:
    """What is in sight has them at once, the rest soon after."""
    sheet = (themes.THEMES / "window.qss").read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"@(\w+)@", sheet)) & set(theme.palette.tokens()))
    rules = "".join(f"QLabel#{name} {{ background: @{name}@; border: 1px solid @{name}@; }}" for name in names)
    monkeypatch.setattr(themes, "_template", lambda: rules)
    theme.apply()
    labels = [QLabel(objectName=name) for name in names]
    for label in labels:
        qtbot.addWidget(label)
        label.resize(9, 9)
        label.setVisible(shown)
        label.ensurePolished()
    assert len(labels) > 12

    def are_dressed() -> None:
        tokens = theme.palette.tokens()
        drawn = {label.objectName(): _colors_of(label) for label in labels}
        assert drawn == {name: {QColor(tokens[name]).name()} for name in names}

    for choice in ("dark", "contrast", "light"):
        theme.choose(choice)
        if shown:
            are_dressed()
        else:
            qtbot.waitUntil(are_dressed)


def _colors_of(widget: QWidget) -> set[str]:
    image = widget.grab().toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}


@pytest.mark.parametrize("field", [QComboBox, QSpinBox])
def test_arrows_are_drawn_for_the_ground_that_they_stand_on(
    theme: Theme, qtbot: QtBot, field: type[QComboBox | QSpinBox]
) -> None:
    """They come from files, which cannot take the sheet's colours."""
    made = field()
    qtbot.addWidget(made)
    made.setFixedSize(60, 30)
    made.show()
    for choice in ("dark", "contrast", "light"):
        theme.choose(choice)
        arrow = made.grab().toImage().copy(42, 4, 14, 22)
        found = [arrow.pixelColor(x, y).lightness() for x in range(arrow.width()) for y in range(arrow.height())]
        ground = QColor(theme.palette.panel).lightness()
        assert max(abs(each - ground) for each in found) > 100, choice


def test_an_icon_takes_its_colour_and_is_greyed_where_nothing_can_be_done(theme: Theme) -> None:
    icon = theme.icon("stop")
    for mode, color in (
        (QIcon.Mode.Normal, theme.palette.text_muted),
        (QIcon.Mode.Disabled, theme.palette.border_strong),
    ):
        for drawn in (icon.pixmap(32, mode), QIcon(icon).pixmap(16, mode)):
            image = drawn.toImage()
            inks = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
                    if image.pixelColor(x, y).alpha() == 255}  # fmt: skip
            assert inks == {QColor(color).name()}
    assert icon.pixmap(QSize(16, 16), 2.0).width() == 32, "as sharp as the screen"


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


def test_links_take_the_colours_of_another_theme(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    theme.choose("light")
    there, hidden = (QLabel("<a href='x'>████</a>") for _ in range(2))
    for made in (there, hidden):
        qtbot.addWidget(made)
    there.show()
    there.grab()
    hidden.grab()
    theme.choose("dark")
    qtbot.waitUntil(lambda: not theme._soon.isActive())
    fresh = QLabel("<a href='x'>████</a>")
    qtbot.addWidget(fresh)
    fresh.resize(there.size())
    hidden.resize(there.size())
    assert there.grab().toImage() == fresh.grab().toImage() == hidden.grab().toImage()
