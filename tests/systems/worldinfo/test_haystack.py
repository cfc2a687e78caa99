"""Looking at those entries only that may matter, and making a vault a lorebook once."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from lorestudio.domain.entry import Entry, VaultIndex
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.lorebooks.entry import NEW_ENTRY
from lorestudio.exchange.lorebooks.keys import MARK, KeyMatching
from lorestudio.exchange.lorebooks.reading import InsertionStrategy, in_order, read_lorebook
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import Moment
from lorestudio.systems.macros import Macros
from lorestudio.systems.worldinfo.decision import world_of
from lorestudio.systems.worldinfo.haystack import Haystack, Scan, TextSource, Watch
from lorestudio.systems.worldinfo.scan import Scanner, TimedState, at
from lorestudio.systems.worldinfo.system import WorldInfoSystem
from lorestudio.trace.model import Turn

NOTES = (Entry(0, "Skarn.md", "v", "Skarn", "A dragon.", ("dragon",)),)


def book(*raws):
    listed = {str(uid): {**NEW_ENTRY, "uid": uid, **raw} for uid, raw in enumerate(raws)}
    return in_order([read_lorebook({"entries": listed}, "B")], InsertionStrategy.EVENLY)


def test_only_entries_whose_key_stands_in_the_text_are_looked_at() -> None:
    entries = book({"key": ["river"]}, {"key": ["storm"]}, {"key": ["/st.rm/"]}, {"key": ["sea"], "disable": True})
    haystack = Haystack(TextSource(("The Storm.",)), WorldInfoSettings())
    watch = Watch(entries)
    assert watch.places(haystack, Scan.FIRST, ()) == [1, 2, 3]
    assert watch.places(haystack, Scan.FIRST, (["B.0"],)) == [0, 1, 2, 3]


def test_what_is_lent_stands_on_a_line_of_its_own_without_messages_too() -> None:
    """As SillyTavern joins them; keys such as `/\\n\\x01/` find that (rules: sillytavern 5.6)."""
    source = TextSource((), prompts=(("the author's note", "Fog."),))
    assert Haystack(source, WorldInfoSettings()).text(book({})[0], Scan.FIRST) == f"{MARK}\n{MARK}Fog."
    source = TextSource(("Wind.",), prompts=(("the author's note", ""),))
    assert Haystack(source, WorldInfoSettings()).text(book({})[0], Scan.FIRST) == f"{MARK}Wind."


def test_an_entry_with_a_key_too_long_for_an_automaton_is_always_looked_at() -> None:
    haystack = Haystack(TextSource(("lamp",)), WorldInfoSettings())
    assert Watch(book({"key": ["river" * 5000]}, {"key": ["storm"]})).places(haystack, Scan.FIRST, ()) == [0]


@example([("ΑΣ", 0, True)], ["ΑΣΑ"])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["river", "Storm", "ÉTÉ", "a b", "/b+/", "{{char}}", " ", "σΣ", "Σ", ""]),
            st.integers(0, 3),
            st.booleans(),
        ),
        max_size=8,
    ),
    st.lists(st.sampled_from(["the River", "storms", "été A b", "bb", "Skarn ΣΣ", "aΣb", ""]), max_size=4),
)
def test_what_is_watched_changes_no_decision(raws: list[tuple[str, int, bool]], texts: list[str]) -> None:
    """A scan that looks at every entry in every loop says the same, event by event."""
    entries = book(*(
        {"key": [key], "content": key, "scanDepth": depth or None, "caseSensitive": case} for key, depth, case in raws
    ))  # fmt: skip
    every = Watch(entries)
    every.always = frozenset(range(len(entries)))
    found = []
    for watch in (Watch(entries), every):
        source, timed = TextSource(tuple(texts)), at(1, entries, TimedState())
        fill = Macros({"char": "Skarn"}).fill
        scanner = Scanner(entries, source, WorldInfoSettings(), timed, CHARS_4, lambda: 0.5, 999, fill, {}, watch)
        found.append(scanner.run())
    assert found[0] == found[1]


def test_only_as_many_messages_as_an_entry_reaches_back_are_made_ready() -> None:
    read: list[int] = []
    source = TextSource(range(100), line=lambda number: read.append(number) or f" message {number} ")
    haystack = Haystack(source, WorldInfoSettings(depth=2))
    near, far = book({"key": ["message"]}, {"key": ["message"], "scanDepth": 3})
    assert haystack.text(near, Scan.FIRST) == f"{MARK}message 0\n{MARK}message 1"
    assert haystack.where("message 1", KeyMatching(False, False), near) == {"key": "message 1", "back": 1}
    assert read == [0, 1]
    assert haystack.text(far, Scan.FIRST).endswith("message 2")
    assert (read, haystack.length) == ([0, 1, 2], 100)


def test_the_vault_is_made_a_lorebook_once() -> None:
    """A vault of thousands of notes takes a quarter of a second; a generation must not pay for it again."""
    system, same = WorldInfoSystem(), VaultIndex(NOTES)
    made = [
        world_of(Moment(index, (), Turn(0, 0, 0)), system.settings, None, system.shared)
        for index in (same, same, VaultIndex(NOTES))
    ]
    assert made[0] is made[1]
    assert made[2] is not made[1]
    assert WorldInfoSystem(WorldInfoSettings(depth=9)).knowing(system).shared is system.shared
