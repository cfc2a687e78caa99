from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.scribe.scribe import (
    SUMMARY,
    SessionNote,
    is_due,
    last_length,
    stored,
    summary_request,
)

WRITTEN = datetime(2026, 3, 1, 0, 30, 5, 123_000, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("enabled", "interval", "length", "noted", "due"),
    [
        (True, 5, 4, 0, False),
        (True, 5, 5, 0, True),
        (True, 5, 9, 5, False),
        (True, 5, 10, 5, True),
        (True, 1, 6, 5, True),
        (True, 5, 3, 20, False),  # messages were deleted since
        (False, 5, 50, 0, False),
    ],
)
def test_when_a_note_is_due(enabled: bool, interval: int, length: int, noted: int, due: bool):
    settings = DeepLoreSettings(scribe_enabled=enabled, scribe_interval=interval)
    assert is_due(settings, length, noted) is due


@pytest.mark.parametrize(
    ("value", "length"), [(12, 12), (12.0, 12), ("7", 7), (None, 0), ("x", 0), (float("inf"), 0), ([], 0), ({}, 0)]
)
def test_the_noted_length_in_the_metadata(value: Any, length: int):
    assert last_length({"deeplore_lastScribeChatLength": value}) == length


def test_no_metadata_no_length():
    assert last_length({}) == 0


def test_the_request_has_a_section_for_each_part_that_is_there():
    settings = DeepLoreSettings(scribe_max_tokens=300, scribe_timeout=7000, ai_search_model="s")
    request = summary_request("Wren (user): Hi.", "They met. ", "the lamp", settings)
    assert request.user == (
        "## Previous session note\nThey met.\n\n"
        "## Recent conversation\nWren (user): Hi.\n\n"
        "## Additional focus\nthe lamp"
    )
    assert (request.kind, request.system, request.max_tokens, request.timeout_ms) == ("scribe", SUMMARY, 300, 7000)
    assert request.model == "s"


def test_the_request_leaves_out_what_is_not_there():
    assert summary_request("Hi.", " ", "", DeepLoreSettings()).user == "## Recent conversation\nHi."


def test_own_prompt_and_model():
    settings = DeepLoreSettings(scribe_prompt="Mine.", scribe_model="m", ai_search_model="s")
    request = summary_request("Hi.", "", "", settings)
    assert (request.system, request.model) == ("Mine.", "m")


@pytest.mark.parametrize("word", ["events", "characters", "revelations", "states", "past tense", "third person"])
def test_the_built_in_prompt_covers_what_a_note_has_to(word: str):
    assert word in SUMMARY


def test_what_the_metadata_keeps():
    assert stored(SessionNote("Ottoline", WRITTEN, "They met."), 12) == {
        "deeplore_lastScribeSummary": "They met.",
        "deeplore_lastScribeChatLength": 12,
    }


def test_the_file_of_a_note():
    note = SessionNote("Ottoline", WRITTEN, "They met.\n\nShe left.")
    assert note.filename == "Ottoline - 2026-03-01 00-30-05.md"  # both parts local
    assert note.markdown == (
        "---\ntags:\n  - lorebook-session\ndate: 2026-02-28T22:30:05.123Z\ncharacter: Ottoline\n---\n"
        "# Session: Ottoline, 2026-03-01 00:30\n\nThey met.\n\nShe left.\n"
    )


@given(st.text(max_size=90))
def test_a_file_name_is_one_part_of_at_most_255_bytes(name: str):
    filename = SessionNote(name, WRITTEN, "x").filename
    assert "/" not in filename
    assert "\\" not in filename
    assert len(filename.encode("utf-8")) < 250


@pytest.mark.parametrize("name", ["Ottoline", 'The "Lamp"', "O'Hara: x", "true", "a\\b", "both ' and \" and \\"])
def test_a_yaml_library_reads_the_same_name(name: str):
    block = SessionNote(name, WRITTEN, "x").markdown.split("---\n")[1]
    fields = YAML(typ="safe").load(block)
    assert fields["character"] == name
    assert fields["tags"] == ["lorebook-session"]
    assert fields["date"] in {WRITTEN.astimezone(UTC), WRITTEN.astimezone(UTC).replace(tzinfo=None)}
