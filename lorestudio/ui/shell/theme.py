"""How the window looks: the palette in use, stylesheet, icons and rich text in its colours, fonts.

Colours go by names, which are read from `resources/themes/colors.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from PySide6.QtCore import QDir, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from shiboken6 import isValid

from lorestudio.domain.records import field_names
from lorestudio.domain.resources import resource
from lorestudio.ui.shell.qt import later, the_app

THEMES: Final = resource("themes")

FILLS: Final = ("green", "sky", "yellow", "orange", "purple", "vermilion", "blue", "grey")
"""Names of the fills, the Okabe-Ito palette."""


class ThemeError(ValueError):
    """A colour file that lacks a name or holds something that is no colour."""


class Palette(Struct, frozen=True):
    """One theme: every value is `#RRGGBB`. `fills` maps a fill to its colour and to what is drawn upon it."""

    name: str
    window: str
    panel: str
    raised: str
    sunken: str
    hover: str
    border: str
    border_strong: str
    text: str
    text_muted: str
    text_faint: str
    accent: str
    on_accent: str
    accent_soft: str
    on_accent_soft: str
    focus: str
    mark: str
    on_mark: str
    good: str
    neutral: str
    warning: str
    error: str
    good_soft: str
    neutral_soft: str
    warning_soft: str
    error_soft: str
    fill_edge: str
    ink: str
    fills: Mapping[str, tuple[str, str]] = {}

    @property
    def dark(self) -> bool:
        """Whether light text stands on dark ground."""
        return luminance(self.panel) < luminance(self.text)

    def fill(self, name: str) -> tuple[str, str]:
        """The colour of a fill and the colour of a glyph or text upon it; `ink` is the theme's own black."""
        return (self.ink, self.panel) if name == "ink" else self.fills[name]

    def tokens(self) -> dict[str, str]:
        """All colours of the theme by name, without the fills."""
        return {name: getattr(self, name) for name in field_names(Palette) if name not in {"name", "fills"}}


def luminance(color: str) -> float:
    """Relative luminance of `#RRGGBB`, 0 to 1 (WCAG 2.2)."""
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=4)
def load_palettes(path: Path = THEMES / "colors.toml") -> Mapping[str, Palette]:
    """The palettes `light`, `dark` and `contrast` of a colour file; raises `ThemeError` naming what is wrong."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for table, values in data.items():
        for name, value in values.items():
            if not (isinstance(value, str) and len(value) == 7 and value.startswith("#")):
                message = f"{path.name}: [{table}] {name} = {value!r} is no colour; write it as #RRGGBB"
                raise ThemeError(message)
    fills = {name: (data["fills"][name], data["fills"][f"on_{name}"]) for name in FILLS}
    wanted = set(field_names(Palette)) - {"name", "fills"}
    palettes = {}
    for theme in ("light", "dark", "contrast"):
        odd = wanted.symmetric_difference(data[theme])
        if odd:
            message = f"{path.name}: [{theme}] does not list exactly the known names; look at: {', '.join(sorted(odd))}"
            raise ThemeError(message)
        palettes[theme] = Palette(name=theme, fills=fills, **data[theme])
    return palettes


ICONS: Final = THEMES.parent / "icons"
CHOICES: Final = ("system", "light", "dark", "contrast")
"""What a person can choose."""

LETTERS: Final = 1.1
"""How large the letters of a note's text are beside those of the window."""

_OFFSCREEN_FAMILIES: Final = ["Inter", "Noto Sans", "DejaVu Sans"]
_TOKEN = re.compile(r"@(\w+)@")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_Role: TypeAlias = QPalette.ColorRole
_ROLES: Final = {
    "window": _Role.Window,
    "panel": _Role.Base,
    "raised": _Role.AlternateBase,
    "sunken": _Role.Dark,
    "hover": _Role.Midlight,
    "border": _Role.Mid,
    "border_strong": _Role.Shadow,
    "text": _Role.WindowText,
    "text_muted": _Role.LinkVisited,
    "text_faint": _Role.PlaceholderText,
    "accent": _Role.Link,
    "on_accent": _Role.Light,
    "accent_soft": _Role.Highlight,
    "on_accent_soft": _Role.HighlightedText,
    "focus": _Role.Accent,
    "error": _Role.BrightText,
    "warning_soft": _Role.ToolTipBase,
}
"""The colours of the stylesheet, each in the role of Qt's palette that brings it there.

With colours of its own the sheet would be another one for each theme, which Qt takes 400 ms to dress a window in. Roles
are read whenever a widget is polished. Those that nothing is drawn in but through the sheet, such as the ground of tool
tips, bring a colour that Qt has no word for.
"""
_MORE_ROLES: Final = (
    ("text", _Role.Text), ("text", _Role.ButtonText), ("text", _Role.ToolTipText), ("raised", _Role.Button),
)  # fmt: skip


class Theme(QObject):
    """The palette in use; `changed` tells widgets that paint themselves to do so again."""

    changed = Signal()

    def __init__(self, choice: str = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice = choice
        """What the person chose: system, light, dark or contrast."""
        self.palette = load_palettes()[self._resolve()]
        self._unseen: Iterator[QWidget] = iter(())
        self._soon = later(self, self._dress_unseen)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)

    def choose(self, choice: str) -> None:
        """Take another theme; an unknown name means `system`."""
        self.choice = choice if choice in CHOICES else "system"
        self.apply()

    def apply(self) -> None:
        """Give the application the theme's palette, and the stylesheet, which is the same for all themes."""
        self.palette = load_palettes()[self._resolve()]
        app = the_app()
        QDir.setSearchPaths("arrows", [str(ICONS / ("dark" if self.palette.dark else "light"))])
        app.setPalette(_qt_palette(self.palette))
        sheet = stylesheet(app.font().pointSizeF())
        if app.styleSheet() == sheet:
            self._dress_anew(app)
        else:
            app.setStyleSheet(sheet)
        self.changed.emit()

    def _dress_anew(self, app: QApplication) -> None:
        """Have Qt read the sheet's colours anew: at once for what is in sight, then for the rest, some at a time."""
        widgets = app.allWidgets()
        for widget in widgets:
            if widget.isVisible():
                _dress(widget)
        self._unseen = iter([widget for widget in widgets if not widget.isVisible()])
        self._soon.start()

    def _dress_unseen(self) -> None:
        some = list(islice(self._unseen, 100))
        for widget in some:
            if isValid(widget):
                _dress(widget)
        if some:
            self._soon.start()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Dress no widget meanwhile, and all of them at the end: a window is built in half the time so."""
        app = the_app()
        sheet = app.styleSheet()
        app.setStyleSheet("")
        try:
            yield
        finally:
            app.setStyleSheet(sheet)

    def color(self, name: str) -> QColor:
        """A colour of the palette by its name."""
        return QColor(getattr(self.palette, name))

    def fill(self, name: str) -> tuple[QColor, QColor]:
        """A fill, and the colour of what is drawn upon it."""
        ground, ink = self.palette.fill(name)
        return QColor(ground), QColor(ink)

    def icon(self, name: str, color: str = "text_muted") -> QIcon:
        """An icon in a colour of the palette, greyed where its action is not available."""
        return QIcon(_LateIcon(name, getattr(self.palette, color), self.palette.border_strong))

    def _resolve(self) -> str:
        if self.choice in CHOICES[1:]:
            return self.choice
        return "dark" if QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"

    def _system_changed(self) -> None:
        if self.choice == "system":
            self.apply()


def _dress(widget: QWidget) -> None:
    widget.style().polish(widget)
    if isinstance(widget, QLabel) and "<a " in (told := widget.text()):
        widget.setText("")  # links get their colour when a text is read
        widget.setText(told)


def prepare_fonts(app: QApplication) -> None:
    """The system's font at a readable size; without a desktop, the first usable family found."""
    font = app.font()
    if app.platformName() in {"offscreen", "minimal"}:
        found = set(QFontDatabase.families())
        font = QFont([family for family in _OFFSCREEN_FAMILIES if family in found] or [font.family()])
        font.setPointSizeF(9)
    elif font.pointSizeF() < 9:
        font.setPointSizeF(9)
    app.setFont(font)


def scaled(font: QFont, factor: float, *, bold: bool = False) -> QFont:
    """`font` at another size, and semi-bold where asked."""
    copy = QFont(font)
    if font.pointSizeF() > 0:
        copy.setPointSizeF(font.pointSizeF() * factor)
    if bold:
        copy.setWeight(QFont.Weight.DemiBold)
    return copy


def fixed_font(points: float) -> QFont:
    """The system's fixed-width font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(points)
    return font


def drawn(width: int, height: int, draw: Callable[[QPainter], object], ratio: int = 2) -> QPixmap:
    """What `draw` paints, see-through elsewhere. With two pixels a unit it stays sharp on a screen of any scale."""
    pixmap = QPixmap(width * ratio, height * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        draw(painter)
    return pixmap


@lru_cache(maxsize=512)
def glyph(name: str, color: str, size: int) -> QPixmap:
    """The icon `name` in `color` (`#RRGGBB`) as a square of `size` pixels, drawn for the screen's scale."""
    drawing = QSvgRenderer((ICONS / f"{name}.svg").read_text("utf-8").replace("currentColor", color).encode())
    return drawn(size, size, lambda painter: drawing.render(painter, QRectF(0, 0, size, size)), 2 if size <= 24 else 1)


class _LateIcon(QIconEngine):
    """Draws an icon when somebody sees it: most stand in menus that are closed."""

    def __init__(self, name: str, color: str, greyed: str) -> None:
        super().__init__()
        self._look = (name, color, greyed)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Qt: draw it there."""
        self._in(mode).paint(painter, rect, Qt.AlignmentFlag.AlignCenter, mode, state)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        """Qt: a picture of it for a screen of that scale."""
        return self._in(mode).pixmap(size, scale, mode, state)

    def clone(self) -> QIconEngine:
        """Qt: another one like it."""
        made = _LateIcon(*self._look)
        _CLONES[:] = [*filter(isValid, _CLONES), made]
        return made

    def _in(self, mode: QIcon.Mode) -> QIcon:
        name, color, greyed = self._look
        off = mode is QIcon.Mode.Disabled
        return _icon(name, greyed, mode) if off else _icon(name, color, QIcon.Mode.Normal)


_CLONES: Final[list[QIconEngine]] = []
"""What Qt was given to keep: PySide leaves it with Python, which would delete it at once."""


@lru_cache(maxsize=512)
def _icon(name: str, color: str, mode: QIcon.Mode) -> QIcon:
    icon = QIcon()
    icon.addPixmap(glyph(name, color, 16), mode)  # of as many pixels as one of 32 units
    return icon


def stylesheet(points: float) -> str:
    """The application's stylesheet: the template with its `@names@` replaced by roles of the palette and by sizes."""
    values = {name: f"palette({_in_sheet(role)})" for name, role in _ROLES.items()}
    for name, factor in (("small", 0.9), ("base", 1.0), ("letters", LETTERS), ("large", 1.25), ("huge", 1.7)):
        values[name] = f"{points * factor:.1f}pt"
    return _TOKEN.sub(lambda match: values[match[1]], (THEMES / "window.qss").read_text(encoding="utf-8"))


def _in_sheet(role: QPalette.ColorRole) -> str:
    """How a stylesheet spells a role: `AlternateBase` is `alternate-base`, and `ToolTip` one word."""
    return _CAPITAL.sub("-", role.name.replace("ToolTip", "Tooltip")).lower()


def _qt_palette(palette: Palette) -> QPalette:
    made, colors = QPalette(), palette.tokens()
    for name, role in (*_ROLES.items(), *_MORE_ROLES):
        made.setColor(role, QColor(colors[name]))
    for role in (_Role.WindowText, _Role.Text, _Role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(palette.border_strong))
    return made


# ---- rich text for browsers: escaped, in the colours of a theme, readable without them -------------------------------


def html_text(value: str) -> str:
    """`value` as rich text, line ends kept."""
    return escape(value).replace("\n", "<br>")


def html_page(palette: Palette, body: str) -> str:
    """A whole document."""
    return (
        f"<html><body style='color:{palette.text}'>"
        f"<style>a {{ color: {palette.accent}; text-decoration: none; }}</style>{body}</body></html>"
    )


def html_paragraph(value: str, *, color: str = "", bold: bool = False, above: int = 0) -> str:
    """A paragraph of plain text; `above` is the space before it in pixels."""
    style = f"margin-top:{above}px;margin-bottom:2px;" + (f"color:{color};" if color else "")
    inner = f"<b>{html_text(value)}</b>" if bold else html_text(value)
    return f"<p style='{style}'>{inner}</p>"


def html_box(value: str, title: str, ground: str, ink: str) -> str:
    """A tinted box with a title and a sentence."""
    inner = f"<span style='color:{ink}'><b>{html_text(title)}</b></span> {html_text(value)}"
    return (
        "<table width='100%' cellpadding='7' cellspacing='0' style='margin-top:6px;margin-bottom:4px'>"
        f"<tr><td bgcolor='{ground}'>{inner}</td></tr></table>"
    )
