from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.json_text import parse_json
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.document import ChatDocument, ChatFormat
from lorestudio.exchange.chats.loading import load_chat, lost_as_text, read_plain_text
from lorestudio.exchange.chats.sillytavern import LoadedChat, parse_chat
from lorestudio.exchange.json_file import changed_text, same_value
from lorestudio.exchange.problems import InputError

HEADER = (
    '{"user_name": "Wren","character_name":"Ottoline","create_date":"x","chat_metadata":{"n":1.0,"deeplore_pins":[]}}'
)
FIRST = (
    r'{"name":"Ottoline","is_user":0,"mes":"Caf\u00e9 \ud83d.","gen":1e2,"big":12345678901234567890123.50,"extra":{}}'
)
SECOND = '{"zz":null, "name":"Wren" , "is_user":true,"mes":"Yes.","force_avatar":"a/b"}'
BROKEN = '{"name":"Wren","mes":"cut o'


def lf(*lines: str) -> str:
    return "\n".join(lines)


def crlf(*lines: str) -> str:
    return "\r\n".join(lines)


def loaded(text: str) -> LoadedChat:
    return parse_chat(text, "chat.jsonl")


def bytes_for(document: ChatDocument, chat: Chat) -> bytes:
    return document.text_for(chat).encode("utf-8", "surrogateescape")


def with_text(chat: Chat, place: int, text: str) -> Chat:
    messages = list(chat.messages)
    messages[place] = replace(messages[place], text=text)
    return replace(chat, messages=tuple(messages))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_unchanged_chat_is_written_byte_for_byte(tmp_path: Path, end: str, final: bool, mark: str) -> None:
    text = mark + end.join([HEADER, "", FIRST, BROKEN, " " + SECOND + "  ", "[1]", ""]) + (end if final else "")
    path = tmp_path / "chat.jsonl"
    path.write_bytes(text.encode())
    found = load_chat(path)
    assert bytes_for(found.document, found.chat) == text.encode()


ZEROS = "\0" * 9


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "texts", "broken"),
    [
        ([HEADER, ZEROS + FIRST, SECOND], ["Caf\u00e9 \ud83d.", "Yes."], [ZEROS]),
        ([HEADER, FIRST + ZEROS + SECOND], ["Caf\u00e9 \ud83d.", "Yes."], []),
        ([HEADER, FIRST + ZEROS, SECOND], ["Caf\u00e9 \ud83d.", "Yes."], []),
        ([HEADER, BROKEN + ZEROS + SECOND + ZEROS + BROKEN], ["Yes."], [BROKEN + ZEROS, BROKEN]),
        ([ZEROS + HEADER + ZEROS + FIRST], ["Caf\u00e9 \ud83d."], [ZEROS]),
    ],
)
def test_what_stands_beside_the_zeros_of_a_crash_is_read_and_all_stays(
    tmp_path: Path, lines: list[str], texts: list[str], broken: list[str], end: str
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(end.join(lines).encode())
    found = load_chat(path)
    assert [message.text for message in found.chat.messages] == texts
    assert found.chat.user_name == "Wren"
    place = next(number for number, line in enumerate(lines, start=1) if ZEROS in line)
    assert found.problems[0].startswith(f"Line {place} has zeros in it, as a crash leaves them. What stands beside")
    assert len(found.problems) == 1 + len([each for each in broken if each != ZEROS])
    assert [each.line.text.strip("\r\n") for each in found.document.broken_lines(found.chat)] == broken
    assert bytes_for(found.document, found.chat) == path.read_bytes()
    path.write_bytes(bytes_for(found.document, with_text(found.chat, 0, "New.")))
    assert [message.text for message in load_chat(path).chat.messages] == ["New.", *texts[1:]]


def test_what_comes_behind_zeros_for_the_first_time_has_a_line_of_its_own() -> None:
    found = loaded(lf(HEADER, ZEROS + FIRST, SECOND))
    first, second = found.chat.messages
    assert found.document.text_for(replace(found.chat, messages=(second,))) == lf(HEADER, ZEROS, SECOND)
    new = Message("Ottoline", "New.", raw={"mes": "New."})
    text = found.document.text_for(replace(found.chat, messages=(new, first)))
    assert text.splitlines() == [HEADER, ZEROS, '{"mes":"New.","name":"Ottoline"}', FIRST]


def test_what_stood_behind_zeros_and_comes_before_them_has_a_line_of_its_own() -> None:
    found = loaded("\n".join((HEADER, FIRST + ZEROS + SECOND)))
    first, second = found.chat.messages
    text = found.document.text_for(replace(found.chat, messages=(second, first)))
    assert text.splitlines() == [HEADER, SECOND, FIRST + ZEROS]


def test_a_line_of_bytes_that_are_no_text_is_broken_and_stays(tmp_path: Path) -> None:
    data = HEADER.encode() + b"\n" + b'{"mes":"caf\xe9"}' + b"\n" + FIRST.encode()
    path = tmp_path / "chat.jsonl"
    path.write_bytes(data)
    found = load_chat(path)
    assert found.problems == ("Line 2 is not UTF-8 text; it was left out and stays in the file.",)
    assert bytes_for(found.document, with_text(found.chat, 0, "New.")).startswith(data[: data.index(FIRST.encode())])
    assert bytes_for(found.document, found.chat) == data


def test_a_changed_message_changes_its_own_field_and_nothing_else() -> None:
    found = loaded(lf(HEADER, FIRST, SECOND))
    text = found.document.text_for(with_text(found.chat, 0, 'Tea, "now".\nß'))
    changed = FIRST.replace(r'"Caf\u00e9 \ud83d."', r'"Tea, \"now\".\nß"')
    assert text == lf(HEADER, changed, SECOND)


def test_swipes_that_were_not_changed_keep_their_escapes() -> None:
    line = r'{"mes":"b","swipes":["\u0061","b","\u0063"],"swipe_id":1,"swipe_info":[{"t":1.0},{"t":2.0},{"t":3.0}]}'
    found = loaded(HEADER + "\n" + line)
    message = replace(found.chat.messages[0], text="B!", swipes=("a", "B!", "c"))
    text = found.document.text_for(replace(found.chat, messages=(message,)))
    assert text.split("\n")[1] == line.replace('"mes":"b"', '"mes":"B!"').replace(r'"b","\u0063"', r'"B!","\u0063"')


def test_a_message_without_a_name_or_with_odd_fields_keeps_them_when_its_text_changes() -> None:
    line = '{"is_user":1,"mes":"a","name":7,"extra":null,"swipes":"none","send_date":1700000000000}'
    found = loaded(HEADER + "\n" + line)
    text = found.document.text_for(with_text(found.chat, 0, "b"))
    assert text.split("\n")[1] == line.replace('"a"', '"b"')


def test_a_message_written_since_has_a_line_of_its_own_in_its_place() -> None:
    found = loaded(crlf(HEADER, FIRST, BROKEN, SECOND))
    new = Message(name="Wren", text="Why?", is_user=True, send_date="now")
    messages = (found.chat.messages[0], new, found.chat.messages[1])
    text = found.document.text_for(replace(found.chat, messages=messages))
    line = '{"name":"Wren","is_user":true,"is_system":false,"send_date":"now","mes":"Why?","extra":{}}'
    assert text == crlf(HEADER, FIRST, BROKEN, line, SECOND)


def test_a_broken_line_stays_when_the_message_before_it_is_deleted() -> None:
    found = loaded(lf(HEADER, FIRST, BROKEN, SECOND))
    chat = replace(found.chat, messages=found.chat.messages[1:])
    assert found.document.text_for(chat) == lf(HEADER, BROKEN, SECOND)
    assert [(line.before, line.line.number) for line in found.document.broken_lines(chat)] == [(0, 3)]
    assert [line.before for line in found.document.broken_lines(found.chat)] == [1]


def test_metadata_change_only_their_own_place_in_the_header() -> None:
    found = loaded(HEADER + "\n" + FIRST)
    chat = replace(found.chat, metadata={**found.chat.metadata, "deeplore_pins": ["Lamp"]})
    assert found.document.text_for(chat) == HEADER.replace("[]", '["Lamp"]') + "\n" + FIRST


def test_a_group_chat_gets_no_header() -> None:
    found = loaded(FIRST)
    assert found.document.text_for(replace(found.chat, metadata={"deeplore_pins": ["Lamp"]})) == FIRST


def test_the_end_of_the_file_keeps_its_habit() -> None:
    new = Message(name="Wren", text="x", is_user=True)
    for end in ("", "\n"):
        found = loaded(HEADER + "\n" + FIRST + end)
        text = found.document.text_for(replace(found.chat, messages=(*found.chat.messages, new)))
        assert text.startswith(HEADER + "\n" + FIRST + "\n")
        assert text.endswith("}" + end)
        shorter = found.document.text_for(replace(found.chat, messages=()))
        assert shorter == HEADER + end


def test_a_message_that_stands_twice_is_written_twice() -> None:
    found = loaded(HEADER + "\n" + SECOND)
    twice = replace(found.chat, messages=found.chat.messages * 2)
    again = loaded(found.document.text_for(twice)).chat
    assert [message.text for message in again.messages] == ["Yes.", "Yes."]


def test_the_beginning_of_a_chat_in_a_file_of_its_own_has_the_lines_up_to_there() -> None:
    found = loaded(lf(HEADER, FIRST, BROKEN, SECOND, "junk"))
    chat = replace(found.chat, messages=found.chat.messages[:1])
    assert found.document.until(found.chat, 1).text_for(chat) == lf(HEADER, FIRST, BROKEN)


def test_numbers_that_json_allows_and_python_does_not_read_are_no_reason_to_fail() -> None:
    line = '{"mes":"a","n":' + "9" * 5000 + ',"m":1e999}'
    found = loaded(HEADER + "\n" + line)
    assert found.problems == ()
    assert found.document.text_for(with_text(found.chat, 0, "b")).endswith(line.replace('"a"', '"b"'))


@pytest.mark.parametrize("odd", ['{"mes":NaN}', '{"mes":1,}', "[" * 100_000, '{"a":"\t"}'])
def test_what_sillytavern_cannot_read_is_broken(odd: str) -> None:
    found = loaded(lf(HEADER, FIRST, odd))
    assert len(found.problems) == 1
    assert len(found.chat.messages) == 1
    assert found.document.text_for(found.chat) == lf(HEADER, FIRST, odd)


# ---- any file --------------------------------------------------------------------------------------------------------

_numbers = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.sampled_from(["1.0", "1e5", "1E-400", "-0", "-0.0", "1e999", "0.10", "100000000000000000000000.5"]),
)
_strings = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)


@st.composite
def spelled_strings(draw: st.DrawFn) -> str:
    text = draw(st.text(max_size=8))
    plain = json.dumps(text, ensure_ascii=draw(st.booleans()))
    plain.encode("utf-8", "ignore")
    return json.dumps(text) if any("\ud800" <= each <= "\udfff" for each in text) else plain


@st.composite
def spelled(draw: st.DrawFn, depth: int = 2) -> str:
    kinds = [spelled_strings(), _numbers, st.sampled_from(["true", "false", "null"])]
    if depth:
        blank = draw(st.sampled_from(["", " ", "  "]))
        inner = spelled(depth - 1)
        lists = st.lists(inner, max_size=3).map(lambda items: f"[{blank}" + f",{blank}".join(items) + "]")
        pairs = st.lists(st.tuples(spelled_strings(), inner), max_size=3)
        objects = pairs.map(
            lambda items: "{" + f",{blank}".join(f"{k}{blank}:{blank}{v}" for k, v in items) + f"{blank}}}"
        )
        kinds += [lists, objects]
    return draw(st.one_of(kinds))


_fields = ("name", "mes", "is_user", "is_system", "swipe_id", "swipes", "swipe_info", "extra", "send_date", "x", "")


@st.composite
def records(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(_fields), max_size=7))  # with doubles
    members = [f"{json.dumps(name)}:{draw(spelled())}" for name in names]
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, len(members))), f'"mes":{draw(spelled_strings())}')
    return "{" + ",".join(members) + "}"


_lines = st.one_of(
    records(), records(), st.sampled_from(["", "  ", "{", "[]", "nonsense", '{"mes": "cut', "\udce9\udcff"])
)


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = [draw(records()), *draw(st.lists(_lines, max_size=6)), '{"mes":"one"}']
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end, end + end]))


@given(files())
def test_any_file_is_written_as_it_was_read(text: str) -> None:
    found = loaded(text)
    data = text.encode("utf-8", "surrogateescape")
    assert bytes_for(found.document, found.chat) == data


@given(files(), st.data())
def test_any_change_of_one_message_leaves_every_other_line_alone(text: str, data: st.DataObject) -> None:
    found = loaded(text)
    place = data.draw(st.integers(0, len(found.chat.messages) - 1))
    changed = replace(found.chat.messages[place], text=data.draw(st.text(max_size=5)), is_system=True)
    messages = [*found.chat.messages]
    messages[place] = changed
    chat = replace(found.chat, messages=tuple(messages))
    written = found.document.text_for(chat)
    assert changed.line is not None
    before = [line.text for line in found.document.lines]
    again = loaded(written)
    after = [line.text for line in again.document.lines]
    assert before[: changed.line] == after[: changed.line]
    assert before[changed.line + 1 :] == after[changed.line + 1 :]
    assert again.chat.messages[place].text == changed.text
    assert again.chat.messages[place].is_system
    old, new = dict(found.chat.messages[place].raw), dict(again.chat.messages[place].raw)
    for name in ("mes", "is_system"):
        old.pop(name, None)
        new.pop(name, None)
    assert same_value(old, new)


@given(st.lists(st.tuples(st.sampled_from(["Wren", "Hob"]), st.text(max_size=9)), max_size=5), st.booleans())
def test_any_written_chat_is_read_back(said: list[tuple[str, str]], header: bool) -> None:
    messages = tuple(Message(name=name, text=text, is_user=name == "Wren") for name, text in said)
    base = loaded(HEADER + "\n" + FIRST) if header else loaded(FIRST)
    chat = replace(base.chat, messages=(base.chat.messages[0], *messages))
    again = loaded(base.document.text_for(chat)).chat
    assert again.messages == chat.messages


@given(spelled(), spelled())
def test_a_changed_text_has_the_wanted_value(text: str, wanted: str) -> None:
    value = parse_json(wanted)
    if "1e999" in wanted:
        return  # no spelling of its own
    assert same_value(parse_json(changed_text(text, value)), value)  # type: ignore[arg-type]  # any value will do


@given(spelled())
def test_a_text_without_a_change_stays_as_it_is(text: str) -> None:
    assert changed_text(text, parse_json(text)) == text  # type: ignore[arg-type]  # any value will do


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ([], {}, False),
        ("1", 1, False),
        ({"a": 1}, {"a": 1.0}, True),
    ],
)
def test_values_are_the_same_as_in_javascript(one: Any, other: Any, same: bool) -> None:
    assert same_value(one, other) is same


# ---- plain text ------------------------------------------------------------------------------------------------------


@given(st.text(max_size=60))
def test_any_plain_text_is_written_as_it_was_read(text: str) -> None:
    try:
        found = read_plain_text(text, "chat.txt")
    except InputError:
        assert not text.removeprefix("\ufeff").strip()
        return
    if any("\ud800" <= each <= "\udfff" for each in text):
        return
    assert bytes_for(found.document, found.chat) == text.encode()


def test_a_changed_message_of_a_plain_text() -> None:
    text = "Wren: Hello\r\n  there.\r\n\r\nOttoline: You are early.\r\n"
    found = read_plain_text(text, "chat.txt")
    changed = found.document.text_for(with_text(found.chat, 0, "Good\nevening."))
    assert changed == "Wren: Good\r\nevening.\r\n\r\nOttoline: You are early.\r\n"
    new = Message(name="Wren", text="Sorry.", is_user=True)
    longer = replace(found.chat, messages=(*found.chat.messages, new))
    assert found.document.text_for(longer) == text + "Wren: Sorry.\r\n"


def test_what_plain_text_cannot_hold_is_said() -> None:
    chat = loaded(HEADER + "\n" + r'{"name":"A","mes":"b","swipes":["a","b"],"swipe_id":1,"is_system":true}').chat
    text = ChatDocument(ChatFormat.PLAIN_TEXT).text_for(chat)
    said = " ".join(lost_as_text(chat, text))
    assert text == "A: b"
    assert "swipes of 1 message" in said
    assert "1 hidden message" in said
    assert "Pins" in said


def test_a_line_that_would_begin_another_message_is_said() -> None:
    chat = Chat((Message(name="Wren", text="He said:\nHob: no.", is_user=True),), user_name="Wren")
    assert "begin a message of its own" in lost_as_text(chat, "Wren: He said:\nHob: no.")[0]
    fine = Chat((Message(name="Wren", text="Hello.", is_user=True),), user_name="Wren")
    assert lost_as_text(fine, "Wren: Hello.") == ()
