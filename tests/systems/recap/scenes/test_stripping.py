import pytest

from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.asking import WorkContext, patterns_of, stripped
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.message_recaps import recap_request
from lorestudio.systems.recap.queue import HopelessError
from lorestudio.systems.recap.scenes.break_search import BreakSearch, detection_request
from lorestudio.systems.recap.scenes.recaps import scene_request

PATTERN = r"/<status>.*?<\/status>/gs"


def said(text, *, user=False):
    return {"name": "Wren" if user else "Quay", "is_user": user, "mes": text}


def settings(**more):
    return RecapSettings(**{"strip_patterns": PATTERN, **more})


def texts(messages, **more):
    keep = more.pop("keep", 0)
    return [each["mes"] for each in stripped(messages, range(len(messages)), settings(**more), keep=keep)]


CHAT = (
    said("<status>a</status> One."),
    said("<status>b</status> Two.", user=True),
    said("Three. <status>c\nd</status>"),
)


def test_finds_are_taken_out_of_the_characters_messages():
    assert texts(CHAT) == ["One.", "<status>b</status> Two.", "Three."]


@pytest.mark.parametrize(
    ("which", "expected"),
    [("user", ["<status>a</status> One.", "Two.", CHAT[2]["mes"]]), ("both", ["One.", "Two.", "Three."])],
)
def test_whose_messages(which, expected):
    assert texts(CHAT, strip_message_types=which) == expected


def test_the_newest_finds_stay():
    assert texts(CHAT, keep=1) == ["One.", "<status>b</status> Two.", CHAT[2]["mes"]]
    assert texts(CHAT, keep=2) == [each["mes"] for each in CHAT]


def test_within_a_message_finds_count_from_its_start():
    assert texts([said("<status>a</status> x <status>b</status>")], keep=1) == ["<status>a</status> x"]


def test_finds_that_overlap_are_one():
    assert texts([said("abcd e")], strip_patterns="abc\nbcd") == ["e"]


def test_the_chat_itself_and_messages_elsewhere_stay():
    found = stripped(CHAT, [0], settings())
    assert found[2] is CHAT[2]
    assert CHAT[0]["mes"] == "<status>a</status> One."


def test_without_patterns_nothing_is_looked_at():
    assert stripped(CHAT, range(3), RecapSettings()) == CHAT


def test_lines_are_patterns_with_or_without_slashes():
    assert [(each.source, each.flags) for each in patterns_of("a+\n\n/b/gi\n  c/d ")] == [
        ("a+", ""), ("b", "i"), ("c/d", ""),
    ]  # fmt: skip


def test_a_broken_pattern_names_its_line():
    with pytest.raises(HopelessError, match="Line 2 of the recap setting"):
        patterns_of("fine\n(broken")


def test_every_question_reads_stripped_messages():
    ctx = WorkContext(
        RecapSurroundings(
            settings(include_message_history_mode="messages_only", auto_scene_break_minimum_scene_length=1)
        )
    )
    chat = RecapChat("c", (*CHAT, said("<status>e</status> Four.")))
    search = BreakSearch(0, 3, 0, "forward")
    for request in (
        recap_request(chat, 3, ctx), scene_request(chat, (0, 3), ctx),
        detection_request(chat, search, search.choices(chat, ctx), ctx),
    ):  # fmt: skip
        whole = "\n".join(request.texts)
        assert "Four." in whole
        assert "<status>e" not in whole
        assert "<status>c" not in whole


def test_a_scene_keeps_the_newest_finds_and_a_search_none():
    ctx = WorkContext(RecapSurroundings(settings(strip_depth=1, auto_scene_break_minimum_scene_length=1)))
    chat = RecapChat("c", CHAT)
    search = BreakSearch(0, 2, 0, "forward")
    assert "<status>c" in "\n".join(scene_request(chat, (0, 2), ctx).texts)
    assert "<status>c" not in "\n".join(detection_request(chat, search, search.choices(chat, ctx), ctx).texts)
