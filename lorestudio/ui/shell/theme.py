"""How the window looks: the palette in use, the stylesheet made from it, icons in its colours, fonts.

The colours of the window by name, read from `resources/themes/colors.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QByteArray, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from lorestudio.domain.records import field_names
from lorestudio.domain.resources import resource

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

_OFFSCREEN_FAMILIES: Final = ["Inter", "Noto Sans", "DejaVu Sans"]
_TOKEN = re.compile(r"@(\w+)@")


class Theme(QObject):
    """The palette in use; `changed` tells widgets that paint themselves to do so again."""

    changed = Signal()

    def __init__(self, choice: str = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        self.palette = load_palettes()[self._resolve()]
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)

    @property
    def choice(self) -> str:
        """What the person chose: system, light, dark or contrast."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Take another theme; an unknown name means `system`."""
        self._choice = choice if choice in CHOICES else "system"
        self.apply()

    def apply(self) -> None:
        """Give the application the theme's style, palette and fonts."""
        self.palette = load_palettes()[self._resolve()]
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.setStyleSheet("")  # replacing one by another polishes every widget again and again, for 250 ms
            app.setPalette(_qt_palette(self.palette))
            app.setStyleSheet(stylesheet(self.palette, app.font().pointSizeF()))
        self.changed.emit()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Dress no widget meanwhile, and all of them at the end: a window is built in half the time so."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            yield
            return
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
        return _icon(name, getattr(self.palette, color), self.palette.border_strong)

    def _resolve(self) -> str:
        if self._choice in CHOICES[1:]:
            return self._choice
        return "dark" if QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"

    def _system_changed(self) -> None:
        if self._choice == "system":
            self.apply()


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


@lru_cache(maxsize=512)
def glyph(name: str, color: str, size: int) -> QPixmap:
    """The icon `name` in `color` (`#RRGGBB`) as a square of `size` pixels, drawn for the screen's scale."""
    ratio = 2.0 if size <= 24 else 1.0  # small glyphs stay sharp on a screen of any scale
    pixmap = QPixmap(round(size * ratio), round(size * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    drawing = _svg(name).replace("currentColor", color)
    QSvgRenderer(QByteArray(drawing.encode())).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


@lru_cache(maxsize=512)
def _icon(name: str, color: str, greyed: str) -> QIcon:
    icon = QIcon()
    for size in (16, 32):
        icon.addPixmap(glyph(name, color, size))
        icon.addPixmap(glyph(name, greyed, size), QIcon.Mode.Disabled)
    return icon


@lru_cache(maxsize=256)
def _svg(name: str) -> str:
    return (ICONS / f"{name}.svg").read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def _template() -> str:
    return (THEMES / "window.qss").read_text(encoding="utf-8")


def stylesheet(palette: Palette, points: float) -> str:
    """The application's stylesheet: the template with its `@names@` replaced by colours, sizes and icon files."""
    values = palette.tokens()
    values |= {"small": f"{points * 0.9:.1f}pt", "base": f"{points:.1f}pt", "large": f"{points * 1.25:.1f}pt"}
    # A stylesheet names files, which cannot take its colours.
    arrows = "dark" if palette.dark else "light"
    values["combo_arrow"] = (ICONS / f"combo-{arrows}.svg").as_posix()
    values["spin_arrow"] = (ICONS / f"spin-{arrows}.svg").as_posix()
    values["huge"] = f"{points * 1.7:.1f}pt"
    return _TOKEN.sub(lambda match: values[match[1]], _template())


def _qt_palette(palette: Palette) -> QPalette:
    made = QPalette()
    roles = QPalette.ColorRole
    for role, color in (
        (roles.Window, palette.window),
        (roles.WindowText, palette.text),
        (roles.Base, palette.panel),
        (roles.AlternateBase, palette.raised),
        (roles.Text, palette.text),
        (roles.Button, palette.raised),
        (roles.ButtonText, palette.text),
        (roles.BrightText, palette.error),
        (roles.Highlight, palette.accent_soft),
        (roles.HighlightedText, palette.on_accent_soft),
        (roles.Link, palette.accent),
        (roles.LinkVisited, palette.accent),
        (roles.PlaceholderText, palette.text_faint),
        (roles.ToolTipBase, palette.raised),
        (roles.ToolTipText, palette.text),
        (roles.Mid, palette.border),
    ):
        made.setColor(role, QColor(color))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(palette.border_strong))
    return made
