"""What is claimed about keys holds for every text, as the engine's own matcher finds them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry
from lorestudio.domain.javascript import fold
from lorestudio.systems.deeplore.matching.keys import KeyMatcher
from lorestudio.vault.lint.keyforms import KeyRules, contained, covers, is_short, key_form, seen, unseen
from tests.examples import examples

SIGNS = "ab -'é魔_"
KEYS = st.text(SIGNS, min_size=1, max_size=5).filter(lambda key: bool(key.strip()))


@given(KEYS, KEYS, st.text(SIGNS, max_size=6), st.text(SIGNS, max_size=6), st.booleans())
@settings(max_examples=examples(400), deadline=None)
def test_a_covered_key_is_found_wherever_the_longer_one_is(
    short: str, long: str, before: str, after: str, whole: bool
) -> None:
    rules = KeyRules(match_whole_words=whole)
    if not covers(key_form(short, rules), key_form(long, rules)):
        return
    entries = [Entry(0, "", "", "", keys=(short,)), Entry(1, "", "", "", keys=(long,))]
    matcher = KeyMatcher(entries, case_sensitive=False, whole_words=whole)
    hit = matcher.hit_entries(matcher.find(fold(before + long + after)))
    assert 1 not in hit or 0 in hit


@given(st.lists(KEYS, max_size=8), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_all_at_once_is_one_by_one(keys: list[str], whole: bool) -> None:
    rules = KeyRules(match_whole_words=whole)
    forms = list(dict.fromkeys(key_form(key, rules) for key in keys))
    pairs = {short: [long for long in forms if covers(short, long)] for short in forms}
    expected = {short: longer for short, longer in pairs.items() if longer}
    assert contained(forms) == expected


def test_short_keys_count_characters_of_the_script() -> None:
    assert is_short("ai")
    assert not is_short("ais")
    assert is_short("魔")
    assert not is_short("魔法")
    assert not is_short("용사")


def test_invisible_signs_are_named_and_replaced() -> None:
    assert list(unseen("old\u00a0quay\u200b!")) == ["no-break space", "zero width space"]
    assert seen("old\u00a0quay\u200b!") == "old quay!"
    assert list(unseen(" quay ")) == []
    assert list(unseen("👩\u200d🚀")) == []
