from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.scribe import SessionNote, save_session_note, scribe_folder
from lorestudio.vault.files import SaveError

WRITTEN = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)
NOTE = SessionNote("Ottoline", WRITTEN, "They met.")
SETTINGS = DeepLoreSettings()


def test_a_note_goes_into_a_new_folder_of_the_vault(tmp_path: Path):
    path = save_session_note(tmp_path, NOTE, SETTINGS)
    assert path == tmp_path / "Sessions" / "Ottoline - 2026-03-01 12-30-05.md"
    assert path.read_text("utf-8") == NOTE.markdown


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path):
    first = save_session_note(tmp_path, NOTE, SETTINGS)
    first.write_text("mine now", "utf-8")
    second = save_session_note(tmp_path, NOTE, SETTINGS)
    assert second.name == "Ottoline - 2026-03-01 12-30-05 (2).md"
    assert first.read_text("utf-8") == "mine now"


@pytest.mark.parametrize(
    ("setting", "folder"), [("Log/2026", "Log/2026"), ("Log\\2026", "Log/2026"), ("/Log/", "Log"), ("", ".")]
)
def test_the_folder_of_the_setting(tmp_path: Path, setting: str, folder: str):
    assert scribe_folder(tmp_path, DeepLoreSettings(scribe_folder=setting)) == tmp_path / folder


@pytest.mark.parametrize("setting", ["..", "../elsewhere", "a/../../b", "a\\..\\..\\b"])
def test_a_folder_outside_the_vault_is_refused(tmp_path: Path, setting: str):
    settings = DeepLoreSettings(scribe_folder=setting)
    with pytest.raises(SaveError, match="leads out of the vault"):
        save_session_note(tmp_path / "vault", NOTE, settings)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "Sessions").write_text("a file", "utf-8")
    with pytest.raises(SaveError, match=r"“.*Sessions” cannot be made"):
        save_session_note(tmp_path, NOTE, SETTINGS)


def test_half_a_character_is_refused_with_a_sentence(tmp_path: Path):
    with pytest.raises(SaveError, match="half of a character"):
        save_session_note(tmp_path, SessionNote("\ud83c", WRITTEN, "x"), SETTINGS)
    assert list((tmp_path / "Sessions").iterdir()) == []
