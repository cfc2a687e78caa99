from __future__ import annotations

import ast
import math
import re
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorestudio import ui
from lorestudio.ui.features.notes.editor.buffer import for_editor, restore
from lorestudio.ui.shell.words import (
    LONGEST_SAYING,
    count,
    number,
    sentence_case,
    sentence_of,
    shorten,
    tr,
    with_full_stop,
)
from lorestudio.ui.widgets.picker import ranked, score


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (1842, "1,842"), (2.5, "2.5"), (3.0, "3"), (math.inf, "∞"), (-math.inf, "-∞"), (math.nan, "?")],
)
def test_numbers(value: float, expected: str) -> None:
    assert number(value) == expected


def test_counting_and_filling_in() -> None:
    assert count(1, "entry", "entries") == "1 entry"
    assert count(1200, "entry", "entries") == "1,200 entries"
    assert tr("{a} of {b}", a=1, b=2) == "1 of 2"
    assert tr("a {brace} stays") == "a {brace} stays"
    assert shorten("one\n two  three", 9) == "one two…"
    assert shorten("one two", 7) == "one two"


def test_one_and_many_stand_in_this_order_and_differ_as_they_do_in_english() -> None:
    counted = re.compile(r'\bcount\([^"\n]*"([^"]*)",\s*"([^"]*)"\)')
    sources = [path.read_text(encoding="utf-8") for path in Path(ui.__file__).parent.rglob("*.py")]
    pairs = [pair for source in sources for pair in counted.findall(source)]
    assert len(pairs) > 150
    wrong = []
    for one, many in pairs:
        words = [[each.strip(",.") for each in said.split()] for said in (one, many)]
        first = next(((a, b) for a, b in zip(*words, strict=False) if a != b), (one, many))
        regular = (f"{first[0]}s", f"{first[0]}es", re.sub("y$", "ies", first[0]))
        if not (first[0] != first[1] in regular or first in {("is", "are"), ("was", "were"), ("cannot", "cannot")}):
            wrong.append((one, many))
    assert wrong == []


@cache
def trees() -> dict[Path, ast.Module]:
    """What is written in each module of the window."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in Path(ui.__file__).parent.rglob("*.py")}


def test_every_text_says_something_and_what_it_leaves_open_is_filled_in() -> None:
    """A text with its `{names}` is shown with all of them; without one it is a form, which nobody is shown as it is."""
    texts, wrong = 0, []
    for path, tree in trees().items():
        nodes = ast.walk(tree)
        for around, call in ((above, below) for above in nodes for below in ast.iter_child_nodes(above)):
            match call:
                case ast.Call(func=ast.Name(id="tr"), args=[ast.Constant(value=str(text))], keywords=keywords):
                    texts += 1
                    open_ones = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
                    filled = {each.arg for each in keywords}
                    form = not filled and not isinstance(around, ast.Call | ast.keyword)
                    if not text.strip(" ") or (open_ones != filled and None not in filled and not form):
                        wrong.append(f"{path.name}:{call.lineno}: {text}")
    assert texts > 2500
    assert wrong == []


EXPLAINED = re.compile(r".*((empty|nothing|gaps|elsewhere)\.say|say_empty|show_nothing|_say_nothing|_say_instead)")
"""What puts a title on an empty page, with sentences below it."""
WITH_TIP = re.compile(".*(row_button|small_button)")
"""What makes a button with a word, and a tip that says more."""


def test_a_title_stands_before_its_sentences_and_the_word_on_a_button_before_its_tip() -> None:
    titles, buttons = [], []
    for name, call in calls():
        if EXPLAINED.fullmatch(name) and len(call.args) > 1:
            titles.append((said_by(call.args[0]), said_by(call.args[1])))
        elif WITH_TIP.fullmatch(name):
            buttons.append([said for said in map(said_by, call.args) if said])
    assert len(titles) > 40
    assert [both for both in titles if both[0].endswith(".") or both[1][-1:] not in {".", "…", ""}] == []
    with_tips = [both for both in buttons if len(both) == 2]
    assert len(with_tips) > 5
    assert [(word, tip) for word, tip in with_tips if len(word) >= len(tip)] == []


WHY_NOT = re.compile(r"(.*\.)?(able|also|Need)")
"""What says why something cannot be done."""
SENTENCES = re.compile(r"\w\. [A-Z]")


def test_sentences_end_with_a_full_stop() -> None:
    """Why something cannot be done stands below the tip, and is one, too."""
    reasons = [
        part.value
        for name, call in calls()
        if WHY_NOT.fullmatch(name)
        for part in ast.walk(call.args[-1])
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    several = [said for _, call in calls() if SENTENCES.search(said := said_by(call))]
    assert min(len(reasons), len(several)) > 150
    assert [each for each in (*reasons, *several) if each and each[-1] not in {".", "…", "?", "}"}] == []


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Whatever is called by a name in the window, with all of that name."""
    found = [each for tree in trees().values() for each in ast.walk(tree) if isinstance(each, ast.Call)]
    return [(name, call) for call in found if (name := name_of(call.func))]


def name_of(part: ast.expr) -> str:
    match part:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            return f"{name_of(owner)}.{name}"
    return ""


def said_by(argument: ast.expr) -> str:
    """The text in an argument of a call, "" where it is made elsewhere."""
    match argument:
        case ast.Call(func=ast.Name(id="tr"), args=[ast.Constant(value=str(text)), *_]):
            return text
    return ""


def test_words_of_others_become_sentences() -> None:
    assert [with_full_stop(each) for each in ("too slow", "Too slow.", "No!", "Why?", "And…")] == [
        "too slow.", "Too slow.", "No!", "Why?", "And…",
    ]  # fmt: skip
    advice = "Check the key of the profile, and that it may use this model."
    refused = f"Mine (127.0.0.1:8765) refused the key (HTTP 401). It says: {'Incorrect API key. ' * 6}{advice}"
    assert with_full_stop(refused) == refused
    assert with_full_stop("word " * 200).endswith("word word…")
    assert len(with_full_stop("x" * 2000)) == LONGEST_SAYING
    assert (sentence_case("aBC"), sentence_case("")) == ("ABC", "")
    assert sentence_of(ValueError("It broke.")) == "It broke."
    assert sentence_of(OSError(5, "No answer", "/net/vault")) == (
        "/net/vault: No answer. Look whether its disk and folder are there, and try again."
    )
    assert sentence_of(OSError("It broke.")) == "It broke."
    assert sentence_of(ValueError()) == "Something failed without saying why (ValueError)."


def test_letters_at_word_starts_win() -> None:
    titles = ["Search in vault", "Save", "Replay all", "Copy trace report", "Save current file"]
    assert ranked("scf", titles) == [4]
    assert ranked("save", titles)[0] == 1
    assert score("xq", "Save") is None
    assert ranked("", titles) == [0, 1, 2, 3, 4]


def test_the_start_of_a_text_comes_before_that_of_a_word_and_that_before_the_rest() -> None:
    assert ranked("dawn", ["Sundawn Ridge", "The Keep of Dawn", "Dawnkeep"]) == [2, 1, 0]
    assert ranked("sv", ["Save", "Save chat over", "Search in vault"])[0] == 2
    assert ranked("  ", ["b", "a"]) == [0, 1]


def test_line_ends_of_untouched_lines_stay() -> None:
    original = "one\r\ntwo\nthree\r\nfour\r\n"
    edited = for_editor(original).replace("two", "2\n2b")
    assert restore(original, edited) == "one\r\n2\r\n2b\nthree\r\nfour\r\n"


def test_a_file_of_one_kind_keeps_it() -> None:
    assert restore("a\r\nb\r\n", "a\nb\nc\n") == "a\r\nb\r\nc\r\n"
    assert restore("", "a\nb") == "a\nb"


@given(st.text(alphabet="ab\r\n\u2029\u2028\u00a0", max_size=40))
def test_an_unedited_text_comes_back_as_it_was(text: str) -> None:
    assert restore(text, for_editor(text)) == text


@example("\n\n\r\r", 0, 0, "\n")  # one mended line end brought the next one about
@given(
    st.text(alphabet="ab\r\n", max_size=20),
    st.integers(0, 20),
    st.integers(0, 20),
    st.text(alphabet="xy\n", max_size=5),
)
def test_an_edit_changes_only_what_was_edited(text: str, start: int, length: int, new: str) -> None:
    shown = for_editor(text)
    edited = shown[:start] + new + shown[start + length :]
    assert for_editor(restore(text, edited)) == edited


def test_lines_put_before_the_first_leave_the_others_as_they_were() -> None:
    assert restore("a\r\nb\nc\nd", "x\na\nb\nc\nd") == "x\na\r\nb\nc\nd"
