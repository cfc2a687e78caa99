from __future__ import annotations

import re

import pytest

from lorestudio.ui.shell.theme import FILLS, THEMES, Palette, ThemeError, contrast, load_palettes, luminance, stylesheet

THEME_NAMES = ["light", "dark", "contrast"]
GROUNDS = ("panel", "raised", "window")
TEXT_ON = [
    *((text, ground) for text in ("text", "text_muted", "text_faint") for ground in GROUNDS),
    ("text_muted", "sunken"),
    ("text", "hover"),
    ("accent", "panel"),
    ("accent", "raised"),
    ("on_accent", "accent"),
    ("on_accent_soft", "accent_soft"),
    ("on_mark", "mark"),
    *((text, "accent_soft") for text in ("text", "text_muted", "text_faint", "accent")),  # on a chosen row, links too
    *((tone, "accent_soft") for tone in ("good", "neutral", "warning", "error")),
    ("accent", "hover"),
    *((tone, f"{tone}_soft") for tone in ("good", "neutral", "warning", "error")),
    *((tone, "panel") for tone in ("good", "neutral", "warning", "error")),
    *(("text", f"{tone}_soft") for tone in ("good", "neutral", "warning", "error")),
]
SHAPES_ON = [
    ("border_strong", "panel"),
    ("border_strong", "window"),
    ("focus", "panel"),
    ("focus", "accent_soft"),
    ("focus", "window"),
    ("accent", "accent_soft"),
]


@pytest.mark.parametrize("name", THEME_NAMES)
@pytest.mark.parametrize(("ink", "ground"), TEXT_ON)
def test_text_has_enough_contrast(name: str, ink: str, ground: str) -> None:
    palette = load_palettes()[name]
    assert contrast(getattr(palette, ink), getattr(palette, ground)) >= 4.5


@pytest.mark.parametrize(("ink", "ground"), TEXT_ON)
def test_the_theme_of_high_contrast_has_more_of_it(ink: str, ground: str) -> None:
    palette = load_palettes()["contrast"]
    assert contrast(getattr(palette, ink), getattr(palette, ground)) >= 7  # WCAG AAA


@pytest.mark.parametrize("name", THEME_NAMES)
@pytest.mark.parametrize(("shape", "ground"), SHAPES_ON)
def test_shapes_have_enough_contrast(name: str, shape: str, ground: str) -> None:
    palette = load_palettes()[name]
    assert contrast(getattr(palette, shape), getattr(palette, ground)) >= 3


@pytest.mark.parametrize("name", THEME_NAMES)
@pytest.mark.parametrize("fill", [*FILLS, "ink"])
def test_what_is_drawn_on_a_fill_can_be_read_and_its_outline_seen(name: str, fill: str) -> None:
    palette = load_palettes()[name]
    ground, ink = palette.fill(fill)
    assert contrast(ground, ink) >= 4.05  # the measured floor of the Okabe-Ito palette with black or white upon it
    assert max(contrast(ground, palette.panel), contrast(palette.fill_edge, palette.panel)) >= 3


def test_known_values_of_the_contrast_formula() -> None:
    assert luminance("#FFFFFF") == pytest.approx(1)
    assert luminance("#000000") == 0
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#FFFFFF", "#0072B2") == pytest.approx(5.19, abs=0.01)  # anchors: white on blue
    assert contrast("#000000", "#009E73") == pytest.approx(6.14, abs=0.01)  # anchors: black on green


def test_dark_is_dark() -> None:
    palettes = load_palettes()
    assert palettes["dark"].dark
    assert not palettes["light"].dark


def test_stylesheet_has_no_name_left_and_no_colour_of_its_own() -> None:
    made = stylesheet(10)
    assert not re.findall(r"@\w+@", made)
    assert not re.findall(r"#[0-9A-Fa-f]{6}", made)


def test_widgets_name_no_colours() -> None:
    here = THEMES.parents[1] / "lorestudio" / "ui"
    found = [
        f"{path.name}: {match}"
        for path in here.rglob("*.py")
        for match in re.findall(r"""["']#[0-9A-Fa-f]{3,8}["']|QColor\(\d""", path.read_text(encoding="utf-8"))
    ]
    assert not found


def test_a_colour_file_with_a_slip_is_refused_by_name(tmp_path) -> None:
    text = (THEMES / "colors.toml").read_text(encoding="utf-8")
    odd = tmp_path / "odd.toml"
    odd.write_text(text.replace('focus = "#0072B2"', 'focus = "blue"'), encoding="utf-8")
    with pytest.raises(ThemeError, match="focus"):
        load_palettes(odd)
    missing = tmp_path / "missing.toml"
    missing.write_text(text.replace("hover", "hoover"), encoding="utf-8")
    with pytest.raises(ThemeError, match="hoover"):
        load_palettes(missing)


def test_palette_lists_its_tokens() -> None:
    palette = load_palettes()["light"]
    assert isinstance(palette, Palette)
    assert palette.tokens()["focus"] == palette.focus
    assert "fills" not in palette.tokens()
