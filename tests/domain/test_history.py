"""Which messages counted as hidden when a reply was written (rules: sillytavern 5.9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.history import ChatHistory, HiddenSince, HistoryRule, Sight, ranges_of, shown_again
from lorestudio.domain.records import replace


def chat(*hidden: int, size: int = 8) -> Chat:
    """The person and Ada in turn, Ada first; some messages are hidden today."""
    said = (Message("Ada" if at % 2 == 0 else "Wren", f"Text {at}.", is_user=at % 2 == 1) for at in range(size))
    return Chat(tuple(replace(each, is_system=at in hidden) for at, each in enumerate(said)))


def test_what_was_hidden_later_was_in_sight_and_that_is_assumed() -> None:
    sight = ChatHistory(chat(0, 1, 2, 3)).sight(Generation(4))
    assert sight == Sight(frozenset(), ((0, 3),), ((0, 3),))


def test_the_reply_to_come_goes_by_today() -> None:
    assert ChatHistory(chat(0, 1, 2)).sight(Generation(8)) == Sight(frozenset({0, 1, 2}))


def test_a_swipe_that_is_still_to_be_written_goes_by_today() -> None:
    story = chat(0, 1)
    last = replace(story.messages[6], swipes=("Text 6.", ""), swipe_id=1)
    story = replace(story, messages=(*story.messages[:6], last))
    history = ChatHistory(story)
    assert history.sight(Generation(6, 0)).shown == ((0, 1),)
    assert history.sight(Generation(6, 1)) == Sight(frozenset({0, 1}))


def test_a_swipe_before_the_first_is_none_that_is_still_to_be_written() -> None:
    story = chat(0, 1)
    last = replace(story.messages[6], swipes=("",), swipe_id=-5)
    history = ChatHistory(replace(story, messages=(*story.messages[:6], last)))
    assert history.sight(Generation(6, -5)).shown == ((0, 1),)


def test_as_it_is_now_everything_hidden_was_always_hidden() -> None:
    history = ChatHistory(chat(0, 1, 5), HistoryRule.NOW)
    assert history.sight(Generation(4)) == Sight(frozenset({0, 1}))


def test_a_persons_word_goes_before_the_assumption() -> None:
    history = ChatHistory(chat(0, 1, 2), said=(HiddenSince(0, 1, 5),))
    assert history.sight(Generation(4)) == Sight(frozenset(), ((0, 2),), ((2, 2),))
    assert history.sight(Generation(5)) == Sight(frozenset({0, 1}), ((2, 2),), ((2, 2),))
    assert history.sight(Generation(6)) == Sight(frozenset({0, 1}), ((2, 2),), ((2, 2),))


@pytest.mark.parametrize("text", ["(( wait ))", "[OOC: wait]", "(ooc wait)", "OOC: wait"])
def test_what_was_said_aside_is_taken_for_hidden_at_once(text: str) -> None:
    story = chat(3)
    aside = replace(story.messages[3], text=text)
    history = ChatHistory(replace(story, messages=(*story.messages[:3], aside, *story.messages[4:])))
    assert history.sight(Generation(4)) == Sight(frozenset({3}), (), ((3, 3),))


@pytest.mark.parametrize(
    "notice",
    [
        Message("SillyTavern System", "Welcome.", is_system=True),
        Message("Note", "Later.", is_system=True, extra={"type": "comment"}),
        Message("Ada", "", is_system=True),
        Message("Ada", "ran", is_system=True, extra={"tool_invocations": [{}]}),
        Message("Ada", "Help", is_system=True, extra={"type": "help"}),
        Message("Note", "small", is_system=True, extra={"isSmallSys": True}),
    ],
)
def test_what_the_host_wrote_was_never_in_sight(notice: Message) -> None:
    assert not notice.was_hidden
    story = Chat((Message("Ada", "Hi."), notice, Message("Wren", "Go.", is_user=True), Message("Ada", "Well.")))
    assert ChatHistory(story).sight(Generation(3)) == Sight()
    assert story.replies == (3,)


def test_a_hidden_narrator_was_in_sight_and_no_generation() -> None:
    narrator = Message("Narrator", "Rain.", is_system=True, extra={"type": "narrator"})
    story = Chat((Message("Ada", "Hi."), narrator, Message("Ada", "Well.", is_system=True)))
    assert ChatHistory(story).sight(Generation(2)).shown == ((1, 1),)
    assert story.replies == (2,)


def test_shown_again_changes_nothing_else() -> None:
    story = chat(0, 1, 5)
    seen = shown_again(story, ((0, 1),))
    assert [each.is_system for each in seen.messages] == [False] * 5 + [True] + [False] * 2
    assert [each.text for each in seen.messages] == [each.text for each in story.messages]
    assert shown_again(story, ()) is story


_WORDS = st.builds(lambda first, more, since: HiddenSince(first, first + more, since), *[st.integers(0, 9)] * 3)


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.lists(_WORDS, max_size=3), st.integers(0, 10))
def test_each_hidden_message_counts_by_itself(hidden: list[bool], said: list[HiddenSince], at: int) -> None:
    texts = ("Fog.", "(( wait ))", "Rain.")
    messages = tuple(
        Message("Wren", texts[place % 3], is_user=place % 2 == 0, is_system=each) for place, each in enumerate(hidden)
    )
    history = ChatHistory(Chat(messages), said=tuple(said))
    sight = history.sight(Generation(at))
    shown, assumed = ({place for first, last in ranges for place in range(first, last + 1)}
                      for ranges in (sight.shown, sight.assumed))  # fmt: skip
    assert all(first <= last for first, last in (*sight.shown, *sight.assumed))
    before = [place for place, each in enumerate(hidden) if each and place < at]
    past = at < len(messages)
    since = {place: history.since(place) for place in before}
    assert assumed == {place for place in before if past and since[place] is None}
    assert shown == {
        place for place in before
        if past and at < (history.assumed_since(place) if since[place] is None else since[place])
    }  # fmt: skip
    assert sight.hidden == set(before) - shown


def test_ranges() -> None:
    assert ranges_of(()) == ()
    assert ranges_of((0, 1, 3, 5, 6)) == ((0, 1), (3, 3), (5, 6))
    assert ranges_of({7, 5, 6, 1}) == ranges_of((6, 1, 5, 7, 7)) == ((1, 1), (5, 7))
