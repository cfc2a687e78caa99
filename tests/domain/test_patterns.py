"""Patterns as JavaScript reads them."""

import contextlib
import re
import time
from itertools import count

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain import patterns
from lorestudio.domain.javascript import WHITE_SPACE
from lorestudio.domain.patterns import PatternError, PatternTimeoutError, compile_guarded, compile_pattern

EVERY = "".join(map(chr, range(0x10000)))
SPACES = {(ord(char), ord(char) + 1) for char in WHITE_SPACE}


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        (r"drag(on|oness)s?\b", "", "two dragons over", True),
        ("^user", "", "\nuser: x", False),
        ("^user", "m", "\nuser: x", True),
        (r"\u0041sh7", "i", "over ash7", True),
        (r"\x41", "", "A", True),
        ("ŻURAW", "i", "żuraw", True),
        (r"\bŻ", "", "aŻ", True),  # Ż is no word character, so a word ends before it
        (r"[\w-]+x", "", "a-bx", True),
        ("a{", "", "a{", True),
        ("a{2}", "", "aa", True),
        ("a{2}", "", "a", False),
        ("a{1,}b", "", "aab", True),
        ("]", "", "]", True),
        (r"(?<y>a)\k<y>", "", "aa", True),
        (r"(a)\1", "", "aa", True),
        (r"less\s+than", "", "less\u3000than", True),
        (r"trying\sto", "", "trying\u00a0to", True),
        (r"[^\W]", "", "é", False),
        (r"[\W]", "", "é", True),
        (r"[\D]", "", "7", False),
        (r"[\b]", "", "\x08", True),
        ("x$", "", "x\n", False),
        ("x$", "m", "x\ny", True),
        (".", "", "\u2028", False),
        (".", "s", "\u2028", True),
        ("[^]", "", "\n", True),
        ("[]", "", "a", False),
        ("[[]", "", "[", True),
        ("[a-c]", "", "b", True),
        ("[a&&b]", "", "&", True),
        (r"\d", "", "٣", False),
        ("a#b c", "", "a#b c", True),
        (r"\cJ", "", "\n", True),
        (r"\/x\/", "", "/x/", True),
        ("(?<=a+)b", "", "aab", True),
        ("(?<!a)b", "", "ab", False),
        (r"\p{Lu}torm", "u", "Storm", True),
        (r"\p{Script=Han}", "u", "龙", True),
        (r"\P{L}", "u", "abc", False),
        (r"\p{L}", "", "p{L}", True),  # without u it stands for itself
        (r"\u{64}ragon", "u", "dragon", True),
        (r"\u{3}", "", "uuu", True),
        (r"\k<n>(?<n>a)", "", "a", True),  # a group that took no part is empty
        (r"\k<n>", "", "k<n>", True),
        (r"(a)|b\1", "", "b", True),
        (r"[a-\d]", "", "-", True),
        (r"[[:a:]]", "", ":]", True),
        ("river", "y", "a river", False),
        ("river", "y", "river", True),
        ("İ", "i", "i", False),
        ("k", "i", "\u212a", False),
        ("k", "iu", "\u212a", True),
        ("i", "iu", "\u0130", False),
        ("[a-z]", "iu", "\u0131", False),
        ("[é-ü]", "i", "É", True),
        (r"\w", "iu", "\u017f", True),
        (r"\A", "", "A", True),
        ("iron{,2}", "", "iron{,2}", True),
        (r"\08", "", "\x008", True),
    ],
)
def test_patterns(source, flags, text, found):
    assert (compile_pattern(source, flags).search(text) is not None) is found


@pytest.mark.parametrize(
    ("source", "flags", "words"),
    [
        ("(unclosed", "", "is no pattern"),
        ("[", "", "is not closed"),
        ("a\\", "", "ends in a backslash"),
        ("a", "x", "are no flags"),
        ("a", "ii", "are no flags"),
        ("*", "", "is no pattern"),
        ("(?i)fox", "", "JavaScript does not know"),
        ("(?P<n>a)", "", "JavaScript does not know"),
        ("(?>fox)", "", "JavaScript does not know"),
        ("a++", "", "could repeat"),
        ("a**", "", "could repeat"),
        ("{1}", "", "could repeat"),
        ("^*", "", "could repeat"),
        ("a{2,1}", "", "out of order"),
        ("[b-a]", "", "out of order"),
        (r"[a-\d]", "u", "begins or ends with a class"),
        ("}", "u", "stands alone"),
        (r"\q", "u", "means nothing"),
        (r"\p{Nonsense}", "u", "is no pattern"),
        (r"\2(a)", "u", "no group 2"),
        (r"\k<b>(?<a>)", "", "no group “b”"),
        ("[😀-😂]", "", "“[😀-😂]” is no pattern: a range is out of order"),  # from the half of one to that of another
        (r"[\ud83d\ude00-\ud83d\ude02]", "", "out of order"),
        ("🐉" * 10_001, "", "more than 20,000 characters"),
        ("(?<a>)(?<a>)", "", "one name"),
    ],
)
def test_what_is_no_pattern_is_said(source, flags, words):
    with pytest.raises(PatternError, match=re.escape(words)):
        compile_pattern(source, flags)


@pytest.mark.parametrize(
    ("source", "flags", "text", "found"),
    [
        ("🐉", "", "a 🐉", True),
        ("[🐉]", "", "🐈", True),  # both begin with the same half
        ("[🐉]", "u", "🐈", False),
        ("^.$", "", "🐉", False),
        ("^.$", "u", "🐉", True),
        ("^..$", "", "🐉", True),
        ("🐉{2}", "u", "🐉🐉", True),
        ("🐉{2}", "", "🐉🐉", False),
        ("[😀-😂]", "u", "😁", True),
        ("[😀-😂]", "v", "😁", True),
        ("^.$", "v", "🐉", True),
        (r"\ud83d\ude00", "", "😀", True),
        (r"\ud83d[\ude00-\ude4f]", "", "😁", True),
        (r"^[\ud83d\ude00]{2}$", "", "😀", True),
        ("é", "i", "🐉É", True),
    ],
)
def test_without_u_a_character_may_be_two_halves(source, flags, text, found):
    assert compile_pattern(source, flags).holds(text) is found


def test_a_pattern_that_runs_away_is_given_up():
    pattern = compile_pattern("(a|a)*$")
    with pytest.raises(PatternTimeoutError, match=r"\(a\|a\)\*\$"):
        pattern.search("a" * 60 + "b", seconds=0.02)


@given(st.text(max_size=8))
def test_every_text_is_a_pattern_or_is_refused(text):
    with contextlib.suppress(PatternError):
        assert compile_pattern(text).source == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6))
def test_an_escaped_text_finds_itself(text):
    escaped = "".join(f"\\{char}" if char in r"\^$.*+?()[]{}|/" else char for char in text)
    assert compile_pattern(escaped).search(f"…{text}…") is not None


@pytest.mark.parametrize(("flags", "result"), [("", "-ba"), ("g", "-b-"), ("gi", "-b-")])
def test_replacing_is_done_once_or_everywhere(flags: str, result: str) -> None:
    assert compile_pattern("a", flags).replaced("aba", lambda _found: "-") == result


def test_a_replacement_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(PatternTimeoutError, match="takes too long"):
        compile_pattern("(a|a)*$").replaced("a" * 50 + "b", lambda found: found[0])


@pytest.mark.parametrize(
    "source",
    [
        "a{2000000000}", "a{100001,}", "(?:a{400}){400}", "[ab]{3,}(?=x{200000})", r"\d{200000}",
        "a{" + "9" * 4301 + "}", "(?:(?:(?:a{99}){99}){99}){99}", r"(?<n>a)(?:(\k<n>){400}){400}",
        "(" * 50 + "a+" + ")+" * 50, "(" * 20 + "a" + "){1,}" * 20,
    ],
)  # fmt: skip
def test_what_would_take_gigabytes_is_refused(source: str) -> None:
    with pytest.raises(PatternError, match="repeat"):
        compile_pattern(source)


@pytest.mark.parametrize(
    "source", ["a{1000}", "a{0,2000000000}", r"\{200000}", "[{200000}]", "(?:ab){300}c{300}", "(" * 9 + "a" + ")+?" * 9]
)
def test_what_takes_little_is_not(source: str) -> None:
    compile_pattern(source)


def test_a_class_of_thousands_counts_as_what_it_takes() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x5600, 2)))
    with pytest.raises(PatternError, match="repeat"):
        compile_pattern(f"[{letters}]{{99999}}")
    compile_pattern(r"[\u0000-\uffff]{99999}")


def test_other_cases_that_a_class_has_already_make_it_no_larger() -> None:
    pattern = compile_pattern(r"(?:[\u0100-\uffff]{999}){9}|[à-ö]|[^\u0000-\u03ff\u0500-\uffff]", "i")
    assert [each for each in "aÀÖßжЖ" if pattern.search(each)] == ["À", "Ö", "ж", "Ж"]


def test_a_pattern_of_twenty_thousand_characters_is_taken_and_a_longer_one_refused() -> None:
    assert compile_pattern("ab" * 10_000).search("c" + "ab" * 10_001).span() == (1, 20_001)
    with pytest.raises(PatternError, match="more than 20,000 characters"):
        compile_pattern("ab" * 10_000 + "c")


@pytest.mark.parametrize(
    "source", ["a" * 3000, "[é]" * 3000, r"\(" * 3000, "ab" * 1500 + "+", "(?<name>a)" + "x" * 3000]
)
@pytest.mark.parametrize("flags", ["", "i", "u"])
def test_a_long_run_of_characters_is_prepared_at_once(source: str, flags: str) -> None:
    """`regex` took half a minute for the first one, and no time limit ended it."""
    begun = time.process_time()
    pattern = compile_pattern(source, flags)
    found = [pattern.search(text * 70_000) for text in ("é", "a", "(", "ab")]
    assert time.process_time() - begun < 2
    assert sum(each is not None for each in found) == (0 if "name" in source else 1)


def test_a_reference_of_thousands_of_figures_is_to_no_group() -> None:
    assert compile_pattern("\\" + "9" * 5000).search("9" * 5000) is not None  # without u it is its figures
    with pytest.raises(PatternError, match="there is no group"):
        compile_pattern("\\" + "9" * 5000, "u")


def test_a_number_of_thousands_of_figures_is_refused_in_words() -> None:
    with pytest.raises(PatternError):
        compile_pattern("a{2," + "9" * 4301 + "}")


def test_a_pattern_that_took_too_long_once_is_not_tried_again() -> None:
    pattern = compile_pattern("(a|a)*$")
    with pytest.raises(PatternTimeoutError, match="on this text"):
        pattern.search("a" * 60 + "b", seconds=0.02)
    with pytest.raises(PatternTimeoutError, match="on another text"):
        pattern.search("nothing of the kind")


def test_a_pattern_that_takes_a_little_too_long_on_many_texts_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "thread_time", count(0, 0.125).__next__)
    pattern, others = compile_pattern("(.*a){25}$"), compile_pattern("a")
    assert not any(pattern.holds(f"{number}") for number in range(9))  # the ninth makes it more than a second
    with pytest.raises(PatternTimeoutError, match="on another text"):
        pattern.holds("9")
    for _ in range(20):  # a long text takes its time
        assert others.search("a" * 2_000_000)


def test_a_class_of_thousands_of_characters_costs_as_many_as_it_has_ranges() -> None:
    text = "The quick brown fox. " * 10_000
    neighbours = "".join(map(chr, range(0x3400, 0x8000)))
    begun = time.process_time()
    assert compile_pattern(f"[{neighbours}]").search(text) is None
    assert compile_pattern(f"[{neighbours[::-1]}a-z]+").search(text).group() == "he"
    assert time.process_time() - begun < 1  # some milliseconds; each of the characters alone took a second
    with pytest.raises(PatternError, match="more than 5,000 characters that are no neighbours"):
        compile_pattern(f"[{neighbours[::2]}]")


@pytest.mark.parametrize("source", ["[b-da-be]+", "[^b-da-be]+", r"[e\db-c]+", "[c-e]+|[a-c]"])
def test_members_of_a_class_may_overlap(source: str) -> None:
    text = "xyz abcde 123 fgh-"
    expected = [found.span() for found in re.finditer(source, text, re.ASCII)]
    assert compile_pattern(source).spans(text) == expected


@pytest.mark.parametrize("source", [r"\s", r"[\s]", r"[^\S]"])
@pytest.mark.parametrize("flags", ["", "i", "iu"])
def test_white_space_is_what_trim_removes(source: str, flags: str) -> None:
    assert set(compile_pattern(source, flags + "g").spans(EVERY)) == {
        (ord(char), ord(char) + 1) for char in WHITE_SPACE
    }


@given(
    st.lists(st.tuples(st.sampled_from([r"\w", r"\s", ".", "[a-c]", "a"]), st.integers(1, 45)), max_size=4),
    st.sampled_from(["", "+", "*", "?", "{2}", "{0,3}?", "+?"]),
    st.lists(st.tuples(st.sampled_from("ab z"), st.integers(1, 60)), max_size=5),
)
def test_a_class_that_follows_itself_means_what_is_written(
    classes: list[tuple[str, int]], last: str, texts: list[tuple[str, int]]
) -> None:
    source = "".join(each * times for each, times in classes) + (last if classes else "")
    text = "".join(each * times for each, times in texts)
    plain = [found.span() for found in re.finditer(source, text, re.ASCII) if found[0]]
    assert compile_pattern(source, "g").spans(text) == plain


@pytest.mark.long
def test_classes_without_an_end_are_read_once() -> None:
    with pytest.raises(regex.error, match="unterminated"):
        compile_guarded("[" * 200_000)


def test_a_class_that_follows_itself_thousands_of_times_is_compiled_with_its_number() -> None:
    assert len(compile_guarded("[a-c]" * 5_000 + "+").pattern) < 50
    assert compile_guarded("[[:alpha:]" * 30 + "]").search("{") is None  # one class
    assert len(compile_guarded("(?-i:[a-c])" * 5_000 + "+").pattern) < 60
    assert len(compile_guarded("(?-i:[a-c]b)" * 30).pattern) == len("(?-i:[a-c]b)") * 30


@pytest.mark.parametrize(("escape", "fits", "not_so"), [("w", "sſK_", "é"), ("s", "\ufeff\t ", "x"), ("W", "é!", "ſ")])
def test_escapes_that_follow_each_other_find_as_many_characters_with_i_and_u(
    escape: str, fits: str, not_so: str
) -> None:
    pattern = compile_pattern("^(?:" + f"\\{escape}" * 30 + "{2})$", "iu")
    many = (fits * 31)[:31]
    assert pattern.search(many) is not None
    assert pattern.search(many[:-1]) is None
    assert pattern.search(many[:15] + not_so + many[16:]) is None
