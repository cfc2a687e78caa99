"""Prompts of the selecting models (rules: deeplore 4.7 "Request"; deeplore-tools 1.5, 1.6).

The candidate manifest (rules: deeplore 4.5): exact blocks and headers.
"""

from __future__ import annotations

from typing import Any

import pytest

from lorestudio.domain.entry import BUILT_IN_FIELDS, FieldDefinition
from lorestudio.domain.state import Counters
from lorestudio.systems.deeplore.ai import prompts
from lorestudio.systems.deeplore.ai.prompts import CLOSING, SCHEMA, SELECTION, UNLIMITED, Manifest, WantedEntries, build
from tests.systems.worlds import Draft, entries_of, entry, settings_of


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


DECAY = {"V:Stale": 5}


def manifest(
    *drafts: Draft,
    fields: tuple[FieldDefinition, ...] = BUILT_IN_FIELDS,
    decay: dict[str, int] | None = None,
    streaks: dict[str, int] | None = None,
    bootstrapping: bool = False,
    count_forced: bool = False,
    **settings: Any,
) -> Manifest:
    return build(
        entries_of(drafts),
        fields,
        settings_of(**settings),
        Counters(decay=decay or {}, consecutive=streaks or {}),
        bootstrapping=bootstrapping,
        count_forced=count_forced,
    )


def test_the_verified_block() -> None:
    values = {"era": ["a", "b"], "location": [], "foo": "bar", "n": 0, "b": False, "z": None, "e": ""}
    stale = entry("Stale", summary="s1", tokens=10, custom_fields=values)
    assert manifest(stale, decay=DECAY, decay_enabled=True, decay_boost_threshold=5).text == (
        '<entry name="Stale">\n'
        "Stale (10tok) [STALE — consider refreshing]\n"
        "[Era: a, b | foo: bar | n: 0 | b: false]\n"
        "s1\n"
        "</entry>"
    )


def test_the_verified_escapes() -> None:
    text = manifest(entry("NoD<&\"'>", summary="<s>", tokens=10)).text
    assert text == '<entry name="NoD&lt;&amp;&quot;\'&gt;">\nNoD<&"\'> (10tok)\n<s>\n</entry>'


def test_links() -> None:
    text = manifest(entry("A", resolved_links=("B", "C d"), summary="s", tokens=1)).text
    assert text.split("\n")[1] == "A (1tok) → B, C d"


def test_links_then_hint_then_fields() -> None:
    stale = entry("Stale", resolved_links=("B",), summary="s", tokens=1, custom_fields={"era": "x"})
    lines = manifest(stale, decay=DECAY, decay_enabled=True).text.split("\n")
    assert lines[1:3] == ["Stale (1tok) → B [STALE — consider refreshing]", "[Era: x]"]


STALE, FREQUENT = " [STALE — consider refreshing]", " [FREQUENT — consider diversifying]"


@pytest.mark.parametrize(
    ("decay", "streaks", "settings", "hint"),
    [
        ({"V:A": 5}, {}, {}, STALE),
        ({"V:A": 4}, {}, {}, ""),
        ({"V:A": 5}, {"V:A": 9}, {}, STALE),  # never both
        ({"V:A": 0}, {"V:A": 2}, {}, FREQUENT),
        ({"V:A": 0}, {"V:A": 1}, {}, ""),
        ({}, {"V:A": 9}, {}, ""),  # nothing is tracked yet
        ({"V:B": 0}, {"V:A": 9}, {}, FREQUENT),  # somebody is
        ({"V:A": 0}, {"V:A": 9}, {"decay_penalty_threshold": 0}, ""),
        ({"V:A": 5}, {}, {"decay_enabled": False}, ""),
        ({"W:A": 5}, {}, {}, ""),
    ],
)
def test_hints(decay: dict[str, int], streaks: dict[str, int], settings: dict[str, Any], hint: str) -> None:
    settings = {"decay_enabled": True, "decay_boost_threshold": 5, "decay_penalty_threshold": 2, **settings}
    text = manifest(entry("A", summary="s", tokens=1), decay=decay, streaks=streaks, **settings).text
    assert text.split("\n")[1] == f"A (1tok){hint}"


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"era": "x"}, "[Era: x]"),
        ({"scene_type": ["a", 5, True]}, "[Scene Type: a, 5, true]"),
        ({"sticky": 3}, "[sticky: 3]"),  # fields without a definition go by their own names
        ({"zero": 0, "no": False}, "[zero: 0 | no: false]"),
        ({"b": "2", "a": "1"}, "[b: 2 | a: 1]"),  # as stored
        ({"none": None, "blank": "", "list": []}, None),
        ({}, None),
    ],
)
def test_fields(values: dict[str, Any], line: str | None) -> None:
    lines = manifest(entry("A", summary="s", custom_fields=values)).text.split("\n")
    assert lines[2:-2] == ([] if line is None else [line])


def test_labels_are_those_of_the_loaded_definitions() -> None:
    fields = (FieldDefinition("mood", "Mood of the scene"),)
    lines = manifest(entry("A", custom_fields={"mood": "grim", "era": "x"}), fields=fields).text.split("\n")
    assert lines[2] == "[Mood of the scene: grim | era: x]"


LONG = "word " * 40


@pytest.mark.parametrize(
    ("draft", "mode", "text"),
    [
        ({"summary": "S\n\nT", "content": "C"}, "prefer_summary", "S\n\nT"),
        ({"summary": "S" * 700, "content": "C"}, "prefer_summary", "S" * 700),  # never truncated
        ({"summary": "S", "content": "C"}, "content_only", "C"),
        ({"summary": "S", "content": "C"}, "summary_only", "S"),
        ({"summary": "", "content": "a\n\n\nb\nc"}, "prefer_summary", "a b c"),
        ({"summary": " ", "content": "C"}, "prefer_summary", " "),  # a blank summary is a summary
        ({"summary": "", "content": f"One sentence here. {LONG}"}, "prefer_summary", "One sentence here."),
        # a sentence that ends within the first 40 % is too short
        ({"summary": "", "content": "One. " + "x" * 99}, "prefer_summary", "One. " + "x" * 35 + "..."),
        ({"summary": "", "content": "x" * 30 + ". " + "y" * 40}, "prefer_summary", "x" * 30 + "."),
        ({"summary": "", "content": "\n" * 130 + "late"}, "prefer_summary", ""),  # cut at 120 units before trimming
        ({"summary": "", "content": ""}, "prefer_summary", ""),
    ],
)
def test_descriptions(draft: Draft, mode: str, text: str) -> None:
    settings = {"manifest_summary_mode": mode, "ai_search_manifest_summary_length": 40}
    built = manifest(entry("A", **draft, tokens=1), **settings)
    assert built.text == f'<entry name="A">\nA (1tok)\n{text}\n</entry>'


def offered(built: Manifest) -> list[str]:
    return [one.title for one in built.selectable]


@pytest.mark.parametrize(
    ("drafts", "settings", "titles", "header"),
    [
        (
            [entry("A", tokens=5), entry("K", constant=True, tokens=7), entry("B", tokens=5)],
            {},
            ["A", "B"],
            (
                "Candidate entries: 2 (from 3 total).\n1 entries are always included (~7 tokens).\n"
                "Token budget: ~3072 tokens total."
            ),
        ),
        ([entry("A")], {"unlimited_budget": True}, ["A"], "Candidate entries: 1 (from 1 total)."),
        ([entry("A")], {"max_tokens_budget": 500}, ["A"],
         "Candidate entries: 1 (from 1 total).\nToken budget: ~500 tokens total."),
        (
            [entry("A"), entry("Boot", bootstrap=True, tokens=9)], {"unlimited_budget": True}, ["A", "Boot"],
            "Candidate entries: 2 (from 2 total).",
        ),
        (
            [entry("A"), entry("Boot", bootstrap=True, tokens=9)], {"unlimited_budget": True, "bootstrapping": True},
            ["A"], "Candidate entries: 1 (from 2 total).\n1 entries are always included (~9 tokens).",
        ),
        (
            [entry("A"), entry("S", seed=True)], {"unlimited_budget": True}, ["A", "S"],
            "Candidate entries: 2 (from 2 total).",
        ),
        (
            [entry("A", summary="s"), entry("B"), entry("C", summary=" \n")],
            {"unlimited_budget": True, "manifest_summary_mode": "summary_only"}, ["A"],
            "Candidate entries: 1 (from 3 total).\n2 entries are always included (~0 tokens).",  # the known miscount
        ),
        (
            [entry("A", summary="s"), entry("B"), entry("K", constant=True, tokens=3)],
            {"unlimited_budget": True, "manifest_summary_mode": "summary_only", "count_forced": True}, ["A"],
            "Candidate entries: 1 (from 3 total).\n1 entries are always included (~3 tokens).",
        ),
        ([entry("K", constant=True)], {}, [], ""),
        ([entry("A")], {"manifest_summary_mode": "summary_only"}, [], ""),
        ([], {}, [], ""),
    ],
)  # fmt: skip
def test_who_is_offered_and_the_header(
    drafts: list[Draft], settings: dict[str, Any], titles: list[str], header: str
) -> None:
    built = manifest(*drafts, **settings)
    assert (offered(built), built.header) == (titles, header)
    assert bool(built.text) is bool(titles)


def test_there_is_no_cap() -> None:
    built = manifest(*(entry(f"E{number}", summary="s" * 700) for number in range(500)))
    assert len(built.selectable) == built.text.count("<entry ") == 500
    assert [line for line in built.text.split("\n") if line.endswith("(0tok)")][-1] == "E499 (0tok)"
