"""What is said of an entry's keys above its text, and the chips that say the rest."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetricsF, QPaintEvent
from pytestqt.qtbot import QtBot

from lorestudio.domain.records import replace
from lorestudio.trace.found_keys import KeyMatch, WouldMatch
from lorestudio.ui.features.notes.pane import ChipRow, NoteChip, match_words
from lorestudio.ui.shell.theme import Theme, scaled
from tests.ui.conftest import drain
from tests.ui.drawing import drawn

BELL = KeyMatch("bell", 1, 3)
NONE = KeyMatch("ring")
MATCH = WouldMatch((NONE, BELL), (), 4, "bell")


@pytest.mark.parametrize(
    ("match", "words", "tone"),
    [
        (MATCH, "Would match: “bell” in message #3.", "good"),
        (replace(MATCH, keys=(BELL, replace(BELL, key="gong", count=2)), key="gong"),
         "Would match: “gong” in message #3, 2 times in all and 1 other key.", "good"),
        (replace(MATCH, keys=(NONE,), key=""), "Would not match: no key occurs in the last 4 messages.", "neutral"),
        (replace(MATCH, key="", refine_keys=(NONE,)),
         "Would not match: “bell” in message #3, but none of the refine keys.", "warning"),
        (replace(MATCH, key="", refine_keys=(BELL,)),
         "Would not match: “bell” in message #3, but its refine logic keeps it out.", "warning"),
        (replace(MATCH, unused="constant"), "The entry is constant, so its keys decide nothing.", "neutral"),
        (replace(MATCH, unused="else"), "The keys decide nothing here.", "neutral"),
    ],
)  # fmt: skip
def test_whether_the_keys_would_match(match: WouldMatch, words: str, tone: str) -> None:
    assert match_words(match) == (words, tone)


def test_chips_are_drawn_in_lines(theme: Theme, qtbot: QtBot) -> None:
    row = ChipRow(theme)
    qtbot.addWidget(row)
    row.resize(400, 60)
    chips = (NoteChip("constant", "good", "check"), NoteChip("20 tokens"), NoteChip("broken", "error"))
    row.set_chips(chips)
    assert row.accessibleName() == "constant, 20 tokens, broken"
    inks = [(each.words, each.fill) for each in drawn(row) if each.kind == "text"]
    assert inks == [(words, theme.color("text").name()) for words in ("constant", "20 tokens", "broken")]
    boxes = [each for each in drawn(row) if each.kind == "path"]
    assert [each.fill for each in boxes] == [theme.color(f"{chip.tone}_soft").name() for chip in chips]
    assert len({each.box.top() for each in boxes}) == 1
    low = row.heightForWidth(400)
    row.resize(110, 90)
    assert len({each.box.top() for each in drawn(row) if each.kind == "path"}) > 1
    assert row.heightForWidth(110) > low
    row.set_chips(())
    assert row.isHidden()


def test_chips_are_drawn_anew_for_other_chips_and_another_theme(theme: Theme, qtbot: QtBot) -> None:
    painted: list[int] = []

    class Watched(ChipRow):
        def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt)
            painted.append(1)
            super().paintEvent(event)

    row = Watched(theme)
    qtbot.addWidget(row)
    row.set_chips((NoteChip("one"),))
    row.resize(200, 40)
    row.show()
    qtbot.waitExposed(row)
    for change in (lambda: row.set_chips((NoteChip("two"),)), lambda: theme.choose("dark")):
        drain()
        painted.clear()
        change()
        drain()
        assert painted
    (words,) = (each for each in drawn(row) if each.kind == "text")
    row.set_chips((NoteChip("two", icon="check"),))
    with_icon = drawn(row)
    (moved,) = (each for each in with_icon if each.kind == "text")
    (icon,) = (each for each in with_icon if each.kind == "image")
    assert moved.box.left() == words.box.left() + 17
    assert words.box.left() <= icon.box.left() < icon.box.right() <= moved.box.left()
    end = moved.box.left() + QFontMetricsF(scaled(row.font(), 0.9)).horizontalAdvance("two")
    (frame,) = (each.box for each in with_icon if each.kind == "path")
    assert end <= frame.right()
