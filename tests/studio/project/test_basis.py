"""What is kept beside a chat about looking back at it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.history import ChatHistory, HiddenSince
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import KeptBasis, basis_path, basis_problems, hidden_rows, keep_basis, load_basis
from lorestudio.studio.project.project import open_project

WORD = KeptBasis(ChatBasis(history="now", context_size=8000), (HiddenSince(1, 4, 9), HiddenSince(7, 7, 0)))


def chat(*hidden: int, size: int = 12) -> Chat:
    return Chat(tuple(Message("Ada", f"Text {at}.", is_system=at in hidden) for at in range(size)))


def test_it_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    path = basis_path(tmp_path / "My chat.jsonl")
    assert path.name == "My chat.lorestudio.json"
    keep_basis(path, WORD)
    assert load_basis(path) == WORD
    keep_basis(path, KeptBasis())
    assert not path.exists()
    assert load_basis(path) == KeptBasis()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "no object"),
        ('{"histori": "now"}', "Did you mean “history”"),
        ('{"history": "once"}', "is none of then, now"),
        ('{"hidden": [[1, 2]]}', "three message numbers"),
        ('{"hidden": [[3, 2, 5]]}', "three message numbers"),
        ('{"hidden": 4}', "three message numbers"),
        ('{"hidden": [[1, true, 5]]}', "three message numbers"),
        ('{"history": ', "line 1"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "chat.lorestudio.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=told):
        load_basis(path)


def test_another_word_takes_the_place_of_the_one_before_it() -> None:
    kept = KeptBasis().saying(0, 9, 20).saying(3, 4, 6)
    assert kept.hidden == (HiddenSince(0, 2, 20), HiddenSince(3, 4, 6), HiddenSince(5, 9, 20))
    assert kept.saying(0, 9, None) == KeptBasis()


@pytest.mark.parametrize(
    ("size", "place", "expected"),
    [
        (13, 0, (HiddenSince(2, 5, 10),)),  # one was put in before
        (13, 2, (HiddenSince(1, 5, 10),)),
        (13, 9, (HiddenSince(1, 4, 10),)),
        (11, 2, (HiddenSince(1, 3, 8),)),
        (11, 11, (HiddenSince(1, 4, 9),)),
    ],
)
def test_words_follow_messages_that_are_put_in_and_taken_out(
    size: int, place: int, expected: tuple[HiddenSince, ...]
) -> None:
    before = chat()
    said = list(before.messages)
    if size > 12:
        said.insert(place, Message("Wren", "New."))
    else:
        del said[place]
    kept = KeptBasis(hidden=(HiddenSince(1, 4, 9),))
    assert kept.followed(before, replace(before, messages=tuple(said))).hidden == expected


def test_a_branch_has_the_words_on_its_messages() -> None:
    assert WORD.until(4).hidden == (HiddenSince(1, 3, 9),)
    assert WORD.until(8) == WORD
    assert WORD.until(1).hidden == ()


def test_a_word_on_what_is_not_hidden_is_told() -> None:
    assert basis_problems(WORD, chat(1, 2, 3, 4, 7)) == ()
    told = basis_problems(WORD, chat(1, 2, size=4))
    assert told == ("It is said since when #3 to #4, #7 are hidden, but they are not.",)
    one = KeptBasis(hidden=(HiddenSince(3, 3, 9),))
    assert basis_problems(one, chat(1, 2, size=4)) == ("It is said since when #3 is hidden, but it is not.",)
    endless = KeptBasis(hidden=(HiddenSince(1, 10**15, 9),))
    assert basis_problems(endless, chat(1, 2, size=4))[0].startswith("It is said since when #3 to ")


def test_rows_in_words() -> None:
    history = ChatHistory(chat(0, 1, 2, 5, 8), said=(HiddenSince(1, 2, 6), HiddenSince(8, 8, 0)))
    assert [(row.messages, row.words) for row in hidden_rows(history)] == [
        ("#0", "after the last reply (assumed)"),
        ("#1 to #2", "for replies from #6 on"),
        ("#5", "after the last reply (assumed)"),
        ("#8", "since it was said"),
    ]


def test_opening_a_chat_reads_what_is_kept_and_what_is_attached(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    path = tmp_path / "chats" / "Ada" / "tale.jsonl"
    path.parent.mkdir(parents=True)
    (tmp_path / "user" / "files").mkdir(parents=True)
    (tmp_path / "user" / "files" / "1.txt").write_text("Eels.", "utf-8")
    files = [{"name": "map.txt", "url": "/user/files/1.txt"}, {"name": "gone.txt", "url": "/user/files/2.txt"}]
    records = [{"user_name": "Wren"}, {"name": "Ada", "mes": "Hi."}, {"name": "Wren", "mes": "Look.", "is_user": True}]
    records[2]["extra"] = {"files": files}
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    keep_basis(basis_path(path), WORD)
    project = open_project([tmp_path / "vault"], path)
    assert project.basis == WORD
    assert project.chat is not None
    assert project.chat.files == {"/user/files/1.txt": "Eels."}
    told = [each for each in project.problems if "not" in each]
    assert [each.partition(": ")[2][:30] for each in told] == [
        "Attached files are not where S", "It is said since when #1 to #4",
    ]  # fmt: skip
    basis_path(path).write_text("[", "utf-8")
    damaged = open_project([tmp_path / "vault"], path)
    assert damaged.basis == KeptBasis()
    assert any("Until then hidden messages count as visible" in each for each in damaged.problems)


def test_a_file_that_cannot_go_is_named(tmp_path: Path) -> None:
    (place := tmp_path / "Chat.lorestudio.json").mkdir()
    with pytest.raises(InputError, match=r"Chat\.lorestudio\.json: the file cannot be removed"):
        keep_basis(place, KeptBasis())
