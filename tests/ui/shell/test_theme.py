"""The theme's own behaviour: choosing one, and dressing a window at once."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from lorestudio.settings.declaration import declared
from lorestudio.systems.registry import KINDS
from lorestudio.ui.shell import theme as themes
from lorestudio.ui.shell.theme import glyph, scaled
from lorestudio.ui.widgets.layouts import combo
from lorestudio.ui.widgets.setting_fields import make_field
from tests.ui.drawing import drawn, words_drawn

if TYPE_CHECKING:
    from pathlib import Path

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
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, shown: bool
) -> None:
    """What is in sight has them at once, the rest soon after."""
    sheet = (themes.THEMES / "window.qss").read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"@(\w+)@", sheet)) & set(theme.palette.tokens()))
    rules = "".join(f"QLabel#{name} {{ background: @{name}@; border: 1px solid @{name}@; }}" for name in names)
    (tmp_path / "window.qss").write_text(rules, encoding="utf-8")
    monkeypatch.setattr(themes, "THEMES", tmp_path)
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


def test_a_tick_is_told_from_a_part_and_none_in_every_theme(theme: Theme, qtbot: QtBot) -> None:
    """A box of which some is ticked was drawn as one of which nothing is."""
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    tree.setRootIsDecorated(False)
    states = Qt.CheckState.Checked, Qt.CheckState.PartiallyChecked, Qt.CheckState.Unchecked
    for state in states:
        QTreeWidgetItem(tree, [""]).setCheckState(0, state)
    tree.show()
    for choice in ("dark", "contrast", "light"):
        theme.choose(choice)
        picture, boxes = tree.viewport().grab().toImage(), []
        for place in range(len(states)):
            row = tree.visualItemRect(tree.topLevelItem(place))
            boxes.append(picture.copy(row.left(), row.center().y() - 8, 22, 17))
        assert boxes[0] != boxes[1] != boxes[2] != boxes[0], choice
        ground = theme.color("accent").lightness()
        tick = [boxes[0].pixelColor(x, y).lightness() for x in range(8, 14) for y in range(5, 12)]
        assert max(abs(each - ground) for each in tick) > 100, choice
        assert min(abs(each - ground) for each in tick) < 3, choice


@pytest.mark.parametrize("box", [QCheckBox, QRadioButton])
def test_the_ring_of_the_keyboard_is_around_boxes_and_their_words_stay(
    theme: Theme, qtbot: QtBot, box: type[QCheckBox | QRadioButton]
) -> None:
    """Colour alone said where the keyboard was, and bold letters moved what stood behind."""
    holder = QWidget()
    qtbot.addWidget(holder)
    first, other = box("Words", holder), box("Others", holder)
    other.move(0, 60)
    holder.show()
    holder.activateWindow()
    wide = first.sizeHint().width()
    for made, there in ((other, False), (first, True)):
        made.setFocus()
        qtbot.waitUntil(made.hasFocus)
        picture = first.grab().toImage()
        edge = [picture.pixelColor(picture.width() // 2, y).name().upper() for y in (0, 1)]
        assert (edge == [theme.palette.focus] * 2) is there
        assert first.sizeHint().width() == wide


def test_words_of_choices_have_room_and_stand_above_each_other(theme: Theme, qtbot: QtBot) -> None:
    """A list of choices that is as wide as it wants shortens nothing; a meaning begins where its choice's words do."""
    holder = QWidget()
    qtbot.addWidget(holder)
    for words in ("By section", "HTML page", "This chat"):
        box = combo(holder, "Order", {1: words})
        box.ensurePolished()
        box.resize(box.sizeHint())
        assert words_drawn(box) == [words]
    declaration = next(each for each in declared(KINDS["facts"].settings) if each.name == "owner")
    field = make_field(declaration, holder)
    field.resize(300, 200)
    holder.show()
    begins = {each.words: each.box.left() for each in drawn(field) if each.kind == "text"}
    assert begins["To this chat."] == pytest.approx(begins["chat"], abs=1.5)


def test_an_icon_is_drawn_only_as_it_is_seen(theme: Theme) -> None:
    """Turning to another theme draws those of the whole window."""
    icon = theme.icon("stop")
    glyph.cache_clear()
    themes._icon.cache_clear()
    for size in (14, 16, 32):
        assert not icon.pixmap(size).isNull()
    assert glyph.cache_info().misses == 1
    assert not icon.pixmap(QSize(16, 16), QIcon.Mode.Disabled).isNull()
    assert glyph.cache_info().misses == 2


def test_an_icon_takes_its_colour_and_is_greyed_where_nothing_can_be_done(theme: Theme) -> None:
    icon = theme.icon("stop")
    for mode, color in (
        (QIcon.Mode.Normal, theme.palette.text_muted),
        (QIcon.Mode.Disabled, theme.palette.border_strong),
    ):
        for made in (icon.pixmap(32, mode), QIcon(icon).pixmap(16, mode)):
            image = made.toImage()
            inks = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
                    if image.pixelColor(x, y).alpha() == 255}  # fmt: skip
            assert inks == {QColor(color).name()}
    assert icon.pixmap(QSize(16, 16), 2.0).width() == 32, "as sharp as the screen"


def test_a_copy_of_an_icon_that_is_changed_draws_the_same(theme: Theme) -> None:
    """Qt clones what draws it, and has nobody else to keep the clone."""
    icon = theme.icon("stop")
    copy = QIcon(icon)
    copy.setIsMask(True)
    assert copy.pixmap(32).toImage() == icon.pixmap(32).toImage()
    assert not copy.pixmap(32).isNull()


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


def test_letters_are_scaled_and_made_bold_only_where_that_is_asked_for(qapp: QApplication) -> None:
    font = QFont()
    font.setPointSizeF(10)
    assert (scaled(font, 1.5).pointSizeF(), scaled(font, 1.5).weight()) == (15, QFont.Weight.Normal)
    assert scaled(font, 1, bold=True).weight() is QFont.Weight.DemiBold
    font.setPixelSize(20)  # which has no points
    assert scaled(font, 2).pixelSize() == 20


def test_small_glyphs_are_drawn_twice_as_fine(theme: Theme) -> None:
    for size, ratio in ((16, 2), (24, 2), (25, 1), (32, 1)):
        made = glyph("check", "#ff0000", size)
        assert (made.width(), made.devicePixelRatio()) == (size * ratio, ratio)
    image = glyph("check", "#ff0000", 32).toImage()
    inks = {
        image.pixelColor(x, y).name() for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() == 255
    }
    assert inks == {"#ff0000"}
    assert image.pixelColor(0, 0).alpha() == 0


def test_an_icon_can_be_copied_and_drawn_anywhere(theme: Theme) -> None:
    icon, wanted = theme.icon("check", "error"), glyph("check", theme.palette.error, 16).toImage()
    assert QIcon(icon).pixmap(16).toImage() == icon.pixmap(16).toImage()
    image = QImage(48, 48, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    icon.paint(painter, QRect(16, 16, 16, 16))
    painter.end()
    seen = [(x, y) for x in range(48) for y in range(48) if image.pixelColor(x, y).alpha()]
    assert seen
    assert all(16 <= x < 32 and 16 <= y < 32 for x, y in seen)
    assert wanted.width() == 32


@pytest.mark.parametrize(
    ("platform", "points", "used"),
    [("offscreen", 20.0, 9.0), ("xcb", 7.0, 9.0), ("xcb", 9.0, 9.0), ("xcb", 12.0, 12.0)],
)
def test_the_letters_of_the_system_are_taken_where_they_can_be_read(
    qapp: QApplication, platform: str, points: float, used: float
) -> None:
    font = QFont()
    font.setPointSizeF(points)
    told: list[QFont] = []
    app: Any = SimpleNamespace(font=lambda: font, platformName=lambda: platform, setFont=told.append)
    themes.prepare_fonts(app)
    assert [each.pointSizeF() for each in told] == [used]


def test_an_unknown_look_is_that_of_the_system(theme: Theme) -> None:
    theme.choose("sepia")
    assert theme.choice == "system"
    theme.choose("light")


def test_what_is_hidden_is_dressed_a_little_later(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    dressed: list[QWidget] = []
    shown, *hidden = (QLabel("told") for _ in range(130))
    for widget in (shown, *hidden):
        qtbot.addWidget(widget)
    shown.show()
    real, themes._dress = themes._dress, dressed.append
    try:
        theme.apply()
        assert shown in dressed
        assert not set(hidden) & set(dressed)
        qtbot.waitUntil(lambda: set(hidden) <= set(dressed))
        assert len(dressed) == len(set(dressed))
    finally:
        themes._dress = real
