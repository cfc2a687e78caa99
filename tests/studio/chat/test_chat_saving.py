from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.domain.chat import Chat
from lorestudio.domain.entry import Folder
from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.chats.sillytavern import LoadedChat
from lorestudio.exchange.problems import InputError
from lorestudio.studio.chat import editing
from lorestudio.studio.chat.saving import (
    NO_HEADER,
    ChatChangedError,
    ChatLosesError,
    ChatToSave,
    carry_answers,
    going_on,
    new_chat,
    save_branch,
    save_chat,
)

NOW = datetime(2024, 9, 28, 14, 5, 9)  # noqa: DTZ001  # SillyTavern notes local time without its zone
HEADER = '{"user_name":"Wren","character_name":"Ada","chat_metadata":{"deeplore_pins":["Lamp"],"x":1.0}}'
FILE = HEADER + '\n{"name":"Ada","mes":"Welcome."}\n{"name":"Wren","is_user":true,"mes":"Hi."}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "chats" / "Ada.jsonl"
    path.parent.mkdir()
    path.write_text(FILE, "utf-8")
    return path


def wanted(loaded: LoadedChat, controls: ChatControls | None = None) -> ChatToSave:
    return ChatToSave(loaded.document, loaded.chat, controls or ChatControls(pins=(EntryRule("Lamp"),)))


def edited(path: Path) -> ChatToSave:
    loaded = load_chat(path)
    return replace(wanted(loaded), chat=editing.edit(loaded.chat, 1, "Hello!"))


def test_saving_changes_what_was_changed(path: Path, tmp_path: Path) -> None:
    saved = save_chat(edited(path), path, tmp_path / "backups", NOW)
    assert path.read_text() == FILE.replace("Hi.", "Hello!")
    assert saved.backup is not None
    assert saved.backup.read_text() == FILE
    assert load_chat(path).document.digest == saved.document.digest


def test_the_first_version_is_kept_and_later_ones_of_our_own_are_not(path: Path, tmp_path: Path) -> None:
    first = edited(path)
    saved = save_chat(first, path, tmp_path / "backups", NOW)
    again = replace(first, document=saved.document, chat=editing.edit(first.chat, 1, "Hey."))
    later = save_chat(again, path, tmp_path / "backups", NOW.replace(second=10))
    assert later.backup is None
    assert path.read_text() == FILE.replace("Hi.", "Hey.")
    assert [each.read_text() for each in (tmp_path / "backups").rglob("*.jsonl")] == [FILE]


def test_a_chat_that_is_nested_deeply_is_saved(path: Path, tmp_path: Path) -> None:
    deep = '{"a":' * 500 + "1" + "}" * 500
    text = path.read_text("utf-8")
    path.write_text(f'{text.rstrip()}\n{{"name":"U","is_user":true,"mes":"Hm.","extra":{deep}}}\n', "utf-8")
    save_chat(edited(path), path, tmp_path / "backups", NOW)
    assert "Hello!" in path.read_text()
    assert deep in path.read_text()


def test_a_half_copy_that_a_crash_left_is_no_copy(path: Path, tmp_path: Path) -> None:
    saved = save_chat(edited(path), path, tmp_path / "backups", NOW)
    kept = saved.backup
    assert kept is not None
    kept.rename(kept.with_name(f".{kept.name}.0a1b2c3d.tmp"))  # as it is until the last step of writing it
    path.write_text(FILE, "utf-8")
    again = save_chat(edited(path), path, tmp_path / "backups", NOW.replace(second=10))
    assert again.backup is not None
    assert again.backup.read_text() == FILE


def test_a_file_that_somebody_else_changed_is_left_alone_until_the_person_says_so(path: Path, tmp_path: Path) -> None:
    ours = edited(path)
    path.write_text(FILE + "\n", "utf-8")
    with pytest.raises(ChatChangedError, match="another program") as caught:
        save_chat(ours, path, tmp_path / "backups", NOW)
    assert str(path) in str(caught.value)
    assert path.read_text() == FILE + "\n"
    saved = save_chat(ours, path, tmp_path / "backups", NOW, overwrite=True)
    assert saved.backup is not None
    assert saved.backup.read_text() == FILE + "\n"
    assert path.read_text() == FILE.replace("Hi.", "Hello!")


def test_a_file_that_is_gone_is_written_anew(path: Path) -> None:
    ours = edited(path)
    path.unlink()
    save_chat(ours, path, None, NOW)
    assert load_chat(path).chat.messages[1].text == "Hello!"


def test_saving_elsewhere_keeps_every_line_and_asks_before_it_replaces(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy.jsonl"
    save_chat(edited(path), other, None, NOW, elsewhere=True)
    assert other.read_text() == FILE.replace("Hi.", "Hello!")
    assert path.read_text() == FILE
    with pytest.raises(ChatChangedError):
        save_chat(edited(path), other, None, NOW, elsewhere=True)


def test_choices_for_the_chat_go_into_its_header(path: Path) -> None:
    controls = ChatControls(
        pins=(EntryRule("Lamp"), EntryRule("Tide", "v")), context={"era": "now"}, notebook="Mind.", folders=("a",)
    )
    save_chat(wanted(load_chat(path), controls), path, None, NOW)
    header = path.read_text().split("\n")[0]
    assert header == (
        '{"user_name":"Wren","character_name":"Ada","chat_metadata":{"deeplore_pins":["Lamp",'
        '{"title":"Tide","vaultSource":"v"}],"x":1.0,"deeplore_folder_filter":["a"],'
        '"deeplore_context":{"era":"now"},"deeplore_notebook":"Mind."}}'
    )


def test_a_folder_that_the_vault_does_not_have_is_not_lost_from_the_filter(path: Path) -> None:
    text = FILE.replace('"x":1.0', '"deeplore_folder_filter":["a","gone"]')
    path.write_text(text, "utf-8")
    controls = ChatControls(pins=(EntryRule("Lamp"),), folders=("a",))
    save_chat(replace(wanted(load_chat(path), controls), folders=(Folder("a", 1),)), path, None, NOW)
    assert path.read_text() == text


def test_a_group_chat_without_a_header_says_what_was_not_saved(path: Path) -> None:
    path.write_text(FILE.split("\n", 1)[1], "utf-8")
    saved = save_chat(wanted(load_chat(path)), path, None, NOW)
    assert saved.remarks == (NO_HEADER,)
    assert path.read_text() == FILE.split("\n", 1)[1]


def test_plain_text_becomes_lines_of_json_and_back(path: Path, tmp_path: Path) -> None:
    text = tmp_path / "chat.txt"
    text.write_text("Wren: Hello.\nAda: Late!\n", "utf-8")
    loaded = load_chat(text)
    other = tmp_path / "chat.jsonl"
    save_chat(ChatToSave(loaded.document, loaded.chat, ChatControls()), other, None, NOW, elsewhere=True)
    again = load_chat(other)
    assert (again.chat.messages, again.chat.user_name, again.chat.character_name) == (
        loaded.chat.messages, "Wren", "Ada",
    )  # fmt: skip
    back = tmp_path / "back.txt"
    save_chat(ChatToSave(again.document, again.chat, ChatControls()), back, None, NOW, elsewhere=True)
    assert load_chat(back).chat.messages == loaded.chat.messages


def test_a_header_that_came_with_saving_stays_when_it_is_saved_again(tmp_path: Path) -> None:
    text = tmp_path / "chat.txt"
    text.write_text("Wren: Hello.\nAda: Late!\n", "utf-8")
    loaded = load_chat(text)
    wanted = ChatToSave(loaded.document, loaded.chat, ChatControls(notebook="Mind."))
    path = tmp_path / "chat.jsonl"
    saved = save_chat(wanted, path, None, NOW, elsewhere=True)
    first = path.read_bytes()
    save_chat(replace(wanted, document=saved.document), path, None, NOW)
    assert path.read_bytes() == first
    assert load_chat(path).chat.metadata == {"deeplore_notebook": "Mind."}


def test_what_plain_text_cannot_hold_is_said_before_anything_is_written(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "chat.txt"
    with pytest.raises(ChatLosesError, match="Pins, blocks") as caught:
        save_chat(wanted(load_chat(path)), other, None, NOW, elsewhere=True)
    assert not other.exists()
    assert len(caught.value.losses) == 1
    save_chat(wanted(load_chat(path)), other, None, NOW, elsewhere=True, lossy=True)
    assert other.read_text() == "Ada: Welcome.\nWren: Hi."


def test_a_branch_is_a_file_beside_the_chat(path: Path) -> None:
    loaded = load_chat(path)
    made = editing.branch(loaded.chat, 0, path.stem, NOW)
    found = save_branch(loaded.document, made, path.parent)
    assert found.name == "Branch #0 - 2024-09-28@14h05m09s.jsonl"
    chat = load_chat(found).chat
    assert [each.text for each in chat.messages] == ["Welcome."]
    assert chat.metadata["main_chat"] == "Ada"
    assert path.read_text() == FILE
    with pytest.raises(InputError, match="there is a file of this name"):
        save_branch(loaded.document, made, path.parent)


def test_a_branch_of_plain_text_overwrites_no_file(tmp_path: Path) -> None:
    path = tmp_path / "Ada.txt"
    path.write_text("Ada: Welcome.\nWren: Hi.\n", encoding="utf-8")
    loaded = load_chat(path)
    made = editing.branch(loaded.chat, 0, path.stem, NOW)
    found = save_branch(loaded.document, made, tmp_path)
    found.write_text("Ada: Changed since.\n", encoding="utf-8")
    with pytest.raises(InputError, match="there is a file of this name"):
        save_branch(loaded.document, made, tmp_path)
    assert found.read_text(encoding="utf-8") == "Ada: Changed since.\n"


def test_recorded_answers_go_with_a_chat_and_overwrite_none(path: Path) -> None:
    answers, copied = path.with_name("Ada.answers.jsonl"), path.with_name("Copy.answers.jsonl")
    copy = path.with_name("Copy.jsonl")
    assert carry_answers(path, copy) == ""
    assert not copied.exists()
    answers.write_text("those of Ada")
    assert carry_answers(path, path.with_suffix(".txt")) == carry_answers(path, copy) == carry_answers(path, copy) == ""
    assert copied.read_text() == answers.read_text() == "those of Ada"
    copied.write_text("those of another chat")
    assert carry_answers(path, copy) == (
        "Copy.answers.jsonl was there already and stays, so the chat's recorded answers were not copied."
    )
    assert copied.read_text() == "those of another chat"
    copied.unlink()
    copied.mkdir()
    assert "could not be copied to Copy.answers.jsonl (" in carry_answers(path, copy)


def test_a_chat_that_begins_here(tmp_path: Path) -> None:
    chat, document = new_chat("Wren", "Ada", NOW)
    chat = editing.append(chat, editing.new_message(chat, "Hello?", editing.Voice.YOU, NOW))
    path = tmp_path / "new.jsonl"
    save_chat(ChatToSave(document, chat, ChatControls()), path, None, NOW, elsewhere=True)
    again = load_chat(path)
    assert again.chat == chat
    assert again.problems == ()
    assert path.read_text().split("\n")[0] == (
        '{"user_name":"Wren","character_name":"Ada","create_date":"2024-09-28@14h05m09s","chat_metadata":{}}'
    )


@pytest.mark.parametrize(
    ("messages", "change", "marked"),
    [
        (1, lambda chat: editing.edit(chat, 0, "Come in."), True),
        (2, lambda chat: editing.delete(chat, 1), True),
        (2, lambda chat: editing.edit(chat, 1, "Hello!"), False),
        (1, lambda chat: chat, False),
        (1, lambda chat: editing.hide(chat, 0, hidden=True), False),
    ],
)
def test_a_greeting_that_was_changed_here_is_not_replaced_when_the_card_is_saved(
    path: Path, messages: int, change: Callable[[Chat], Chat], marked: bool
) -> None:
    """SillyTavern 1.18 writes the card's over the one message of a chat that nobody has marked as touched."""
    path.write_text("\n".join(FILE.split("\n")[: messages + 1]), "utf-8")
    loaded = load_chat(path)
    save_chat(replace(wanted(loaded), chat=change(loaded.chat)), path, None, NOW)
    assert load_chat(path).chat.metadata.get("tainted", False) is marked


def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_lost(path: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "backups"
    blocked.write_text("a file where a folder should be")
    with pytest.raises(InputError, match="could not be kept"):
        save_chat(edited(path), path, blocked, NOW)
    assert path.read_text() == FILE


# ---- what another program writes meanwhile ---------------------------------------------------------------------------

HERE = ("edit", "hide", "delete", "write after")
THERE = ("field", "spelling", "blank line after")


def spelled(number: int) -> str:
    """A line as no program of ours spells it."""
    return f'{{"name":"Ada","mes": "said \\u0023{number}","is_system":false,"n":1.0,"extra":{{}}}}'


@given(
    st.lists(st.tuples(st.sets(st.sampled_from(HERE)), st.sets(st.sampled_from(THERE))), min_size=1, max_size=5),
    st.booleans(),
    st.integers(0, 2),
)
def test_what_was_changed_on_either_side_is_in_the_file_or_the_person_is_asked(
    changes: list[tuple[set[str], set[str]]], header: bool, more: int
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chat.jsonl"
        path.write_text("\n".join((HEADER, *map(spelled, range(len(changes))))), "utf-8")
        known = load_chat(path)
        theirs = [HEADER.replace('"x":1.0', '"x":2.0,"log":[1]') if header else HEADER]
        wanted_lines = [*theirs]
        mine, place = known.chat, 0
        for number, (here, there) in enumerate(changes):
            line = spelled(number)
            line = line.replace('"n":1.0', '"n":1.0,"gen_started":"then"') if "field" in there else line
            line = line.replace(":", " : ") if "spelling" in there else line
            after = [" "] if "blank line after" in there and "delete" not in here else []
            theirs += [line, *after]
            if "delete" in here:
                mine = editing.delete(mine, place)
                continue
            if "edit" in here:
                mine = editing.edit(mine, place, f"mine {number}")
                line = line.replace(f'"said \\u0023{number}"', f'"mine {number}"')
            if "hide" in here:
                mine = editing.hide(mine, place, hidden=True)
                line = line.replace("false", "true")
            wanted_lines += [line, *after]
            place += 1
            if "write after" in here:
                made = editing.new_message(mine, f"new {number}", editing.Voice.YOU, NOW)
                mine = editing.insert(mine, place, made)
                wanted_lines.append(json.dumps(dict(made.raw), separators=(",", ":")))
                place += 1
        new = [spelled(100 + number) for number in range(more)]
        path.write_text("\n".join((*theirs, *new)), "utf-8")
        read = load_chat(path)
        chat = going_on(known.chat, read.chat)(mine)
        both = any("delete" in here and "field" in there for here, there in changes)
        assert (chat is None) is both
        if chat is not None:
            save_chat(ChatToSave(read.document, chat, ChatControls(pins=(EntryRule("Lamp"),))), path, None, NOW)
            there, left = (
                [json.loads(line) for line in (*lines, *new) if line.strip()] for lines in (theirs, wanted_lines)
            )
            if len(left) == 2 and left != there and not left[1].get("is_user") and not left[1]["is_system"]:
                wanted_lines[0] = wanted_lines[0].replace("}}", ',"tainted":true}}')
            assert path.read_text("utf-8").split("\n") == [*wanted_lines, *new]


def gone_on(known: LoadedChat, mine: Chat, path: Path, *more: tuple[str, str]) -> LoadedChat | None:
    """The chat and the document of its file, in which another program has replaced texts."""
    text = path.read_text("utf-8")
    for old, new in more:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    read = load_chat(path)
    chat = going_on(known.chat, read.chat)(mine)
    return None if chat is None else replace(read, chat=chat)


def test_a_field_that_both_sides_changed_is_asked_about(path: Path) -> None:
    infos = '"swipes":["Hi."],"swipe_id":0,"swipe_info":[{"extra":{}}]'
    path.write_text(FILE.replace('"mes":"Hi."', f'"mes":"Hi.",{infos}'), "utf-8")
    known = load_chat(path)
    swiped = editing.edit(editing.add_swipe(known.chat, 1, NOW), 1, "Hey.")
    edited = editing.edit(known.chat, 1, "Hello!")
    thought = ('[{"extra":{}}]', '[{"extra":{"reasoning":"Hm."}}]')
    assert gone_on(known, swiped, path, thought) is None
    path.write_text(path.read_text().replace(*reversed(thought)), "utf-8")
    now = gone_on(known, edited, path, thought)
    assert now is not None
    assert now.chat.messages[1].text == "Hello!"
    assert now.chat.messages[1].raw["swipe_info"] == [{"extra": {"reasoning": "Hm."}}]


def test_metadata_are_those_of_both_sides_and_one_that_both_changed_is_asked_about(path: Path) -> None:
    known = load_chat(path)
    mine = replace(known.chat, metadata={**known.chat.metadata, "mine": 1})
    now = gone_on(known, mine, path, ('"x":1.0', '"theirs":2'))
    assert now is not None
    assert now.chat.metadata == {"deeplore_pins": ["Lamp"], "theirs": 2, "mine": 1}
    assert gone_on(known, mine, path, ('"theirs":2', '"mine":3')) is None


def test_what_is_no_longer_the_chat_that_was_known_is_asked_about(path: Path) -> None:
    known = load_chat(path)
    assert gone_on(known, known.chat, path, ("Welcome.", "Who are you?")) is None
    assert going_on(None, known.chat)(known.chat) is None
    assert going_on(known.chat, None)(known.chat) is None
