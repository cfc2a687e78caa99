from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.javascript import length
from lorestudio.domain.state import NOTEPAD_LIMIT
from lorestudio.exchange.chats.notepad import (
    CLOSING,
    OPENING,
    added,
    capped,
    newest_lines,
    pinned_lines,
    tagged_notes,
    withdrawn,
)
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.scribe import EXTRACTION, NOTHING, answered_notes, extraction_request, without_asides
from lorestudio.systems.deeplore.stages.placement import NOTEPAD_INSTRUCTION


def test_the_prompt_asks_for_the_tags_that_are_read():
    assert OPENING in NOTEPAD_INSTRUCTION
    assert CLOSING in NOTEPAD_INSTRUCTION


# Tag mode (rules: deeplore-tools 2.3): reply, what stays visible, the notes.
TAGGED = {
    "one block at the end": ("He nods.\n<dle-notes>\nHe lied.\n</dle-notes>", "He nods.", "He lied."),
    "several blocks join by a line end": (
        "<dle-notes> a </dle-notes>One.<dle-notes>\nb\nc\n</dle-notes>\nTwo.",
        "One.\nTwo.",
        "a\nb\nc",
    ),
    "a block over several lines keeps its inside": ("x<dle-notes>\n- a\n\n  - b\n</dle-notes>", "x", "- a\n\n  - b"),
    "three line ends and more become two": ("One.\n\n<dle-notes>a</dle-notes>\n\n\nTwo.", "One.\n\nTwo.", "a"),
    "the rest is trimmed": ("  One.  \n<dle-notes>a</dle-notes>\n ", "One.", "a"),
    "nothing but a block": ("<dle-notes>a</dle-notes>", "", "a"),
    "an empty block leaves no note": ("One.<dle-notes> \n </dle-notes>", "One.", ""),
    "empty blocks add no empty lines": (
        "<dle-notes>a</dle-notes><dle-notes></dle-notes><dle-notes>b</dle-notes>.",
        ".",
        "a\nb",
    ),
    "capital letters are no tag": (
        "One.\n\n\n\n<DLE-NOTES>a</DLE-NOTES> ",
        "One.\n\n\n\n<DLE-NOTES>a</DLE-NOTES> ",
        "",
    ),
    "a tag with an attribute is none": ("<dle-notes x='1'>a</dle-notes>", "<dle-notes x='1'>a</dle-notes>", ""),
    "an inner opening belongs to the note": ("<dle-notes>a<dle-notes>b</dle-notes>c", "c", "a<dle-notes>b"),
    "a lone closing tag stays": ("One.</dle-notes>", "One.</dle-notes>", ""),
    "no tag: not a character changes": ("  One.\n\n\n\nTwo. ", "  One.\n\n\n\nTwo. ", ""),
    "white space is JavaScript's": ("x<dle-notes>\ufeff\u00a0a\u2003</dle-notes>", "x", "a"),
}


@pytest.mark.parametrize(("reply", "visible", "notes"), TAGGED.values(), ids=TAGGED)
def test_what_tag_mode_takes_from_a_reply(reply: str, visible: str, notes: str):
    found = tagged_notes(reply)
    assert (found.text, found.notes) == (visible, notes)


def test_an_unclosed_block_stays_visible():
    found = tagged_notes("One.\n<dle-notes>\nHe lied.")
    assert (found.text, found.notes, found.removed) == ("One.\n<dle-notes>\nHe lied.", "", ())


def test_an_unclosed_block_behind_a_whole_one_stays_visible():
    found = tagged_notes("One.<dle-notes>a</dle-notes><dle-notes>b")
    assert (found.text, found.notes) == ("One.<dle-notes>b", "a")


def test_what_was_taken_out_is_kept_as_it_stood():
    assert tagged_notes("x<dle-notes> a </dle-notes>y").removed == ("<dle-notes> a </dle-notes>",)


VISIBLE = st.text(alphabet="ab .\n<>-/dlenots", max_size=20).filter(lambda text: "dle-notes>" not in text)


@given(st.lists(st.tuples(VISIBLE, VISIBLE), max_size=5), VISIBLE)
def test_no_visible_character_and_no_note_is_lost(pairs: list[tuple[str, str]], tail: str):
    reply = "".join(f"{text}|{OPENING}{note}{CLOSING}|" for text, note in pairs) + tail
    found = tagged_notes(reply)
    visible = "".join(f"{text}||" for text, _ in pairs) + tail
    assert "".join(found.text.split()) == "".join(visible.split())
    assert found.notes == "\n".join(note.strip() for _, note in pairs if note.strip())
    assert len(found.removed) == len(pairs)


@given(st.lists(st.sampled_from([OPENING, CLOSING, "a", "\n\n\n", " ", "(OOC: x)", "(", "]"]), max_size=12))
def test_reading_what_is_left_finds_nothing_more(pieces: list[str]):
    once = tagged_notes("".join(pieces))
    again = tagged_notes(once.text)
    assert (again.text, again.notes, again.removed) == (once.text, "", ())


# Extract mode: notes in brackets that are taken out of the visible reply.
ASIDES = {
    "note to self": ("He nods. [Note to self: he lied.]", "He nods."),
    "OOC in parentheses": ("(OOC: back soon) He nods.", "He nods."),
    "author's note": ("A.\n\n[Author's note: slow down]\n\nB.", "A.\n\nB."),
    "author’s note with a curly apostrophe": ("A. (Author’s Note: slow down)", "A."),
    "session note and meta": ("A.[Session note: x](Meta: y) B.", "A. B."),
    "any case, blanks around": ("A. [ note TO self : x]", "A."),
    "brackets inside belong to it": ("A. (OOC: see (b) and [c]) D.", "A.  D."),
    "over several lines": ("A.\n[Meta: x\ny]", "A."),
}


@pytest.mark.parametrize(("reply", "visible"), ASIDES.values(), ids=ASIDES)
def test_asides_leave_the_visible_reply(reply: str, visible: str):
    found = without_asides(reply)
    assert found.text == visible
    assert found.removed


@pytest.mark.parametrize(
    "reply",
    [
        "He said (quietly): no.",
        "Note to self: he lied.",
        "[Noted: x]",
        "(OOC without a colon)",
        "  [Meta: never closed  ",
        "(OOC: closed by the wrong one]",
    ],
)
def test_other_text_stays_to_the_character(reply: str):
    found = without_asides(reply)
    assert (found.text, found.removed) == (reply, ())


@given(st.lists(st.sampled_from(["(OOC: ", "[Meta: ", ")", "]", "(", "[", "a ", "b\n"]), max_size=14))
def test_asides_and_the_rest_make_up_the_reply(pieces: list[str]):
    reply = "".join(pieces)
    found = without_asides(reply)
    place = 0
    kept = ""
    for aside in found.removed:
        start = reply.index(aside, place)
        kept += reply[place:start]
        place = start + len(aside)
    kept += reply[place:]
    assert "".join(kept.split()) == "".join(found.text.split())


def test_many_brackets_take_no_long():
    reply = "(OOC: " * 20_000 + OPENING * 5_000
    assert without_asides(reply).removed == ()
    assert tagged_notes(reply).removed == ()


def test_the_extraction_request_has_notes_and_reply():
    settings = DeepLoreSettings(ai_search_model="selector", ai_notepad_max_tokens=512, ai_notepad_timeout=9000)
    request = extraction_request(" Old. ", "He nods.\n", settings)
    assert request.user == "## Notes so far\nOld.\n\n## Latest reply\nHe nods."
    assert (request.kind, request.system, request.max_tokens, request.timeout_ms) == ("notepad", EXTRACTION, 512, 9000)
    assert request.model == "selector"
    assert NOTHING in EXTRACTION


def test_the_extraction_request_without_notes_says_so():
    assert extraction_request("", "Hi.", DeepLoreSettings()).user.startswith("## Notes so far\n(none yet)\n")


@pytest.mark.parametrize(
    ("mode", "own", "model"), [("inherit", "", "s"), ("inherit", "n", "n"), ("profile", "", ""), ("proxy", "n", "n")]
)
def test_which_model_is_asked(mode: str, own: str, model: str):
    settings = DeepLoreSettings(ai_search_model="s", ai_notepad_model=own, ai_notepad_connection_mode=mode)
    assert extraction_request("", "Hi.", settings).model == model


def test_an_own_prompt_replaces_the_built_in_one_unless_blank():
    assert extraction_request("", "x", DeepLoreSettings(ai_notepad_extract_prompt="Mine.")).system == "Mine."
    assert extraction_request("", "x", DeepLoreSettings(ai_notepad_extract_prompt=" \n")).system == EXTRACTION


@pytest.mark.parametrize(
    ("answer", "notes"),
    [
        ("He lied.\nShe knows.\n", "He lied.\nShe knows."),
        ("NOTHING_TO_NOTE", ""),
        (" `NOTHING_TO_NOTE`.\n", ""),
        ("nothing_to_note", ""),
        ("He lied.\nNOTHING_TO_NOTE", "He lied."),
        ("There is NOTHING_TO_NOTE in the letter.", "There is NOTHING_TO_NOTE in the letter."),
        ("  ", ""),
    ],
)
def test_the_answer_of_extract_mode(answer: str, notes: str):
    assert answered_notes(answer) == notes


def test_notes_go_to_the_end_on_a_line_of_their_own():
    assert added("", "a") == "a"
    assert added("a", "b\nc") == "a\nb\nc"
    assert added("a", "") == "a"


def test_a_full_notepad_loses_its_oldest_lines():
    line = "x" * 99
    full = "\n".join([line] * 655) + "\n" + "y" * 35  # 655 * 100 + 35 = 65,535
    assert added(full[1:], "z") == full[1:] + "\nz"  # 65,536: fits
    assert added(full, "z") == full[100:] + "\nz"
    assert added(full, "z" * 101) == full[200:] + "\n" + "z" * 101


def test_a_line_that_is_too_long_loses_its_beginning():
    assert capped("a" + "b" * NOTEPAD_LIMIT) == "b" * NOTEPAD_LIMIT


def test_the_limit_counts_utf16_units_and_cuts_no_character_in_two():
    lanterns = "🏮" * (NOTEPAD_LIMIT // 2)
    assert capped(lanterns) == lanterns
    assert capped(lanterns + "x") == lanterns[1:] + "x"


def test_a_cut_at_a_line_end_takes_no_more_than_it_must():
    newest = "b" * NOTEPAD_LIMIT
    assert capped(f"a\n{newest}") == newest


@given(st.lists(st.sampled_from(["🏮", "a" * 30_000, "\n", "b\nc", "🏮" * 9_000]), max_size=14))
def test_what_is_left_is_the_end_and_within_the_limit(pieces: list[str]):
    text = "".join(pieces)
    kept = capped(text)
    assert text.endswith(kept)
    assert length(kept) <= NOTEPAD_LIMIT
    assert kept == text or length(text) > NOTEPAD_LIMIT


@pytest.mark.parametrize(
    ("notepad", "notes", "rest"),
    [
        ("a\nb", "b", "a"),
        ("a\nb\nc", "b", "a\nc"),
        ("b\na\nb\nc", "b", "b\na\nc"),
        ("b\nc", "b", "c"),
        ("b", "b", ""),
        ("a\nb1\nb2\nc", "b1\nb2", "a\nc"),
        ("a\nbc", "b", "a\nbc"),
        ("a", "b", "a"),
        ("a", "", "a"),
    ],
)
def test_taking_notes_back(notepad: str, notes: str, rest: str):
    assert withdrawn(notepad, notes) == rest


LINES = st.text(alphabet="ab\n", max_size=8)


@given(LINES, LINES.map(str.strip))
def test_taking_back_what_was_just_added_leaves_what_was_there(notepad: str, notes: str):
    assert withdrawn(added(notepad, notes), notes) == notepad or not notes


@pytest.mark.parametrize(
    ("most", "pinned", "expected"),
    [
        (4, (), "a\n\nb\nc\nd"),
        (3, (), "\nb\nc\nd"),
        (1, (), "\nd"),
        (0, (), "a\n\nb\nc\nd"),  # no limit
        (2, ("a",), "a\n\nd"),
        (1, ("a", "b", "c", "d"), "a\n\nb\nc\nd"),
    ],
)
def test_the_oldest_lines_go_unless_they_are_pinned(most: int, pinned: tuple[str, ...], expected: str) -> None:
    assert newest_lines("a\n\nb\nc\nd", most, pinned) == expected


def test_what_is_pinned_stands_in_the_chat() -> None:
    assert pinned_lines({"deeplore_ai_notepad_pins": [" He lied. ", 5, "b"]}) == {"He lied.", "b"}
    assert pinned_lines({"deeplore_ai_notepad_pins": "b"}) == pinned_lines({}) == frozenset()
