"""An editor on a note, without a window around it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("PySide6.QtWidgets")

from lorestudio.domain.entry import FieldDefinition, VaultIndex
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.ui.features.notes.editor import note_editor
from lorestudio.ui.features.notes.editor.buffer import NoteBuffer
from lorestudio.ui.features.notes.editor.fields import FieldContext
from lorestudio.ui.features.notes.editor.names import TitleBook
from lorestudio.ui.features.notes.editor.note_editor import NoteEditor
from lorestudio.vault.entries import ParseRules, parse_note
from tests.ui.conftest import drain
from tests.ui.worlds import ENTRIES, LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from lorestudio.domain.entry import Entry, LeftOutNote
    from lorestudio.ui.shell.theme import Theme

RULES = ParseRules(fields=(FieldDefinition("season", "Season", multi=True, values=("spring", "autumn")),))
ALIASES = {"skarn": ("the Grey One",)}


@pytest.fixture
def make_editor(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], NoteEditor]]:
    """An editor that reads the note after every change, also where a busy computer takes so long that it would wait."""
    monkeypatch.setattr(note_editor, "CHEAP_SECONDS", math.inf)
    made: list[NoteEditor] = []

    def make(text: str) -> NoteEditor:
        def parse(buffer: NoteBuffer) -> Entry | LeftOutNote:
            return parse_note(buffer.text, "Skarn.md", "vault", RULES, CHARS_4)

        editor = NoteEditor(theme, parse)
        made.append(editor)
        book = TitleBook(VaultIndex(ENTRIES, LEFT_OUT), ALIASES)
        editor.set_context(FieldContext(DeepLoreSettings(), RULES, book))
        editor.resize(600, 700)
        editor.show()
        qtbot.waitExposed(editor)
        editor.show_buffer(NoteBuffer(Path("Skarn.md"), text, "d", editor), read_only=False)
        drain()
        return editor

    yield make
    for editor in made:
        editor.close()
        editor.deleteLater()
    drain()
