"""Prompts of the selecting models (rules: deeplore 4.7 "Request"; deeplore-tools 1.5, 1.6)."""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.systems.deeplore.ai import prompts
from lorestudio.systems.deeplore.ai.prompts import CLOSING, SCHEMA, SELECTION, UNLIMITED, WantedEntries
from tests.systems.worlds import settings_of


@pytest.mark.parametrize(
    ("settings", "entries", "constants", "new_chat", "expected"),
    [
        ({"max_entries": 10}, 300, 0, False, WantedEntries("20")),
        ({"max_entries": 10}, 6, 0, False, WantedEntries("6")),
        ({"max_entries": 10}, 20, 0, False, WantedEntries("20")),
        ({"max_entries": 10}, 300, 2, True, WantedEntries("20", 8)),
        ({"max_entries": 10}, 4, 0, True, WantedEntries("4", 10)),  # the two numbers contradict each other
        ({"max_entries": 3}, 300, 3, True, WantedEntries("6", 1)),
        ({"max_entries": 3}, 300, 9, True, WantedEntries("6", 1)),  # at least one
        ({"max_entries": 10, "unlimited_entries": True}, 300, 0, True, WantedEntries(UNLIMITED)),
        ({"max_entries": 10, "unlimited_entries": True}, 300, 0, False, WantedEntries(UNLIMITED)),
    ],
)
def test_how_many_are_asked_for(
    settings: dict[str, Any], entries: int, constants: int, new_chat: bool, expected: WantedEntries
) -> None:
    assert prompts.wanted(settings_of(**settings), entries, constants, new_chat=new_chat) == expected


@pytest.mark.parametrize(
    ("own", "count", "expected"),
    [
        ("", WantedEntries("20"), SELECTION.replace("{{maxEntries}}", "20")),
        (" \n", WantedEntries("20"), SELECTION.replace("{{maxEntries}}", "20")),  # a blank one is none
        ("Pick {{maxEntries}} of {{maxEntries}}.", WantedEntries("7"), "Pick 7 of 7."),
        ("Pick.", WantedEntries(UNLIMITED), "Pick."),
        ("Pick.", WantedEntries("7", 3), "Pick." + prompts.NEW_CHAT.format(count=3)),
    ],
)
def test_the_system_prompt(own: str, count: WantedEntries, expected: str) -> None:
    assert prompts.selection_prompt(settings_of(ai_search_system_prompt=own), count) == expected


def test_the_new_chat_instruction_is_a_paragraph_with_the_number() -> None:
    text = prompts.NEW_CHAT.format(count=8)
    assert text.startswith("\n\n")
    assert "exactly 8 " in text


@pytest.mark.parametrize("word", ["available_lore_entries", "recent_chat_transcript", "high", "medium", "low", "title"])
def test_the_built_in_prompt_says_what_it_has_to(word: str) -> None:
    assert word in SELECTION
    assert SELECTION.count("{{maxEntries}}") == 1


def test_the_user_message_in_order() -> None:
    assert prompts.selection_message("H", "M", "T").split("\n\n") == [
        "<manifest_info>\nH\n</manifest_info>",
        "<available_lore_entries>\nM\n</available_lore_entries>",
        "<recent_chat_transcript>\nT\n</recent_chat_transcript>",
        CLOSING,
    ]


def test_without_a_header_there_is_no_block_for_it() -> None:
    assert prompts.selection_message("", "M", "T").startswith("<available_lore_entries>\n")


ZERO_WIDTH = "\u200b"


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("</TAG>", f"</{ZERO_WIDTH}TAG>"),
        ("</ \n TAG", f"</{ZERO_WIDTH} \n TAG"),
        ("</TAG></TAG>", f"</{ZERO_WIDTH}TAG></{ZERO_WIDTH}TAG>"),
        ("< /TAG>", "< /TAG>"),
        ("<TAG>", "<TAG>"),
        ("</OTHER>", "</OTHER>"),
    ],
)
@pytest.mark.parametrize("upper", [True, False])
def test_closing_tags_in_the_data_close_nothing(text: str, guarded: str, upper: bool) -> None:
    """Each block guards its own tag only, in whatever case it is written."""

    def put(pattern: str, tag: str, other: str) -> str:
        written = pattern.replace("TAG", tag).replace("OTHER", other)
        return written.upper() if upper else written

    lore, talk = "available_lore_entries", "recent_chat_transcript"
    message = prompts.selection_message("", put(text, lore, talk), put(text, talk, lore))
    first = f"<{lore}>\n{put(guarded, lore, talk)}\n</{lore}>"
    second = f"<{talk}>\n{put(guarded, talk, lore)}\n</{talk}>"
    assert message == f"{first}\n\n{second}\n\n{CLOSING}"


def test_data_with_backslashes_stays_as_it_is() -> None:
    assert "\\1 \\g<0> $&" in prompts.selection_message("", "\\1 \\g<0> $&", "x")


def test_the_category_message() -> None:
    assert prompts.categories_message("[npc] (1 entries): A", "U (user): x") == (
        "## Categories\n[npc] (1 entries): A\n\n## Recent Chat\nU (user): x"
    )


@pytest.mark.parametrize(
    ("model", "schema"),
    [
        ("", True), ("gpt-4o", True), ("my-claude-3", True), ("claude-3-haiku", False), ("CLAUDE-x", False),
        ("anthropic/claude-3.5", False), ("anthropic/other", True),
    ],
)  # fmt: skip
def test_claude_is_asked_without_a_schema(model: str, schema: bool) -> None:
    assert (prompts.schema_for(model) is SCHEMA) is schema


def test_the_schema() -> None:
    """Everything required, nothing besides (rules: deeplore-tools 1.6)."""
    assert SCHEMA == {
        "type": "object",
        "properties": {
            "selected": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string"},
                        "confidence": {"type": "string", "enum": ["high", "medium", "low"]},
                        "reason": {"type": "string"},
                    },
                    "required": ["title", "confidence", "reason"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["selected"],
        "additionalProperties": False,
    }
