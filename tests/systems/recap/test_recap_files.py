import asyncio
import json

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.settings.recap import RecapSettings
from lorestudio.systems.recap.chat_file import (
    ChatBook,
    RecapFileChangedError,
    carried_over,
    read_chat_file,
    write_chat_file,
)
from lorestudio.systems.recap.queue import QueuedOperation, QueueState, load_queue, queue_path, save_queue
from lorestudio.systems.recap.records import set_data
from lorestudio.systems.recap.session import RecapSession
from tests.systems.recap.files import records, write_chat


def with_memory(chat, index, text):
    return chat.with_message(index, set_data(chat.messages[index], "memory", text))


class TestChatFile:
    def test_only_what_changed_is_spelled_anew(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        before = path.read_text(encoding="utf-8").split("\n")
        file = read_chat_file(path)
        written = write_chat_file(file, with_memory(file.chat, 2, "She greets him."))
        after = path.read_text(encoding="utf-8").split("\n")
        changed = [number for number, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        assert changed == [3]
        assert after[3] == before[3].replace(
            '"own":[1.5,"ż"]}', '"own":[1.5,"ż"],"auto_recap":{"memory":"She greets him."}}'
        )
        assert written.chat.messages[2]["extra"]["auto_recap"] == {"memory": "She greets him."}

    def test_nothing_changed_writes_nothing(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        file = read_chat_file(path)
        before = path.stat().st_mtime_ns
        assert write_chat_file(file, file.chat) is file
        assert path.stat().st_mtime_ns == before

    def test_data_stands_where_the_original_looks_for_it(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        file = read_chat_file(path)
        chat = with_memory(file.chat, 1, "He looks up.")
        chat = chat.with_running(chat.running.added("So far.", 1, 1, 0, 3, now_ms=5))
        write_chat_file(file, chat)
        header, _, message = records(path)[:3]
        assert header["chat_metadata"] == {
            "note_depth": 4,
            "auto_recap_running_scene_recaps": {
                "chat_id": "Tale",
                "current_version": 0,
                "versions": [
                    {
                        "version": 0, "timestamp": 5, "content": "So far.", "scene_count": 1, "excluded_count": 1,
                        "prev_scene_index": 0, "new_scene_index": 3, "event_keys": [],
                    }
                ],
            },
        }  # fmt: skip
        assert message["extra"]["auto_recap"] == {"memory": "He looks up."}
        assert message["swipe_info"] == [
            {"extra": {}},
            {"send_date": "d", "extra": {"api": "x", "auto_recap": {"memory": "He looks up."}}},
        ]

    def test_a_file_without_a_header_gets_one(self, tmp_path):
        path = tmp_path / "group.jsonl"
        path.write_text('{"name":"A","is_user":false,"mes":"x","send_date":"2024-09-28@14h05m09s"}', encoding="utf-8")
        file = read_chat_file(path)
        written = write_chat_file(file, file.chat.with_running(file.chat.running.added("r", 1, 0)))
        assert written.chat.running.content == "r"
        assert records(path)[0]["create_date"] == "2024-09-28@14h05m09s"
        assert records(path)[1]["mes"] == "x"

    def test_lines_that_cannot_be_read_stay(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        text = path.read_text(encoding="utf-8").replace("\n", '\n{"broken\n', 1)
        path.write_text(text, encoding="utf-8")
        file = read_chat_file(path)
        assert len(file.problems) == 1
        write_chat_file(file, with_memory(file.chat, 0, "x"))
        assert path.read_text(encoding="utf-8").split("\n")[1] == '{"broken'

    def test_a_file_that_changed_meanwhile_is_not_overwritten(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        file = read_chat_file(path)
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        with pytest.raises(RecapFileChangedError):
            write_chat_file(file, with_memory(file.chat, 0, "x"))

    def test_plain_text_holds_no_recaps(self, tmp_path):
        path = tmp_path / "chat.txt"
        path.write_text("Wren: hello\nQuay: yes", encoding="utf-8")
        file = read_chat_file(path)
        assert [message["mes"] for message in file.chat.messages] == ["hello", "yes"]
        with pytest.raises(InputError, match="plain text holds no recaps"):
            write_chat_file(file, with_memory(file.chat, 0, "x"))

    def test_changes_are_carried_over_to_what_another_program_wrote(self, tmp_path):
        base = read_chat_file(write_chat(tmp_path / "Tale.jsonl")).chat
        longer = read_chat_file(write_chat(tmp_path / "Tale.jsonl", ("I open the gate of the old mill.", "x"))).chat
        assert len(longer.messages) == 2
        ours = with_memory(base, 0, "mine")
        theirs = longer.with_message(0, {**longer.messages[0], "title": "theirs"})
        merged = carried_over(base, ours, theirs)
        assert merged.messages[0]["title"] == "theirs"
        assert merged.messages[0]["extra"]["auto_recap"] == {"memory": "mine"}
        with pytest.raises(ValueError, match="message 1 is another one"):
            carried_over(base, with_memory(base, 1, "mine"), theirs)


class TestBook:
    def test_what_another_program_wrote_is_taken_over(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")

        async def work():
            book = ChatBook.open(path)
            new = {"name": "Wren", "is_user": True, "mes": "A new message."}
            path.write_text(path.read_text(encoding="utf-8") + "\n" + json.dumps(new), encoding="utf-8")
            return await book.change(lambda chat: with_memory(chat, 0, "mine"))

        chat = asyncio.run(work())
        assert chat.messages[-1]["mes"] == "A new message."
        assert records(path)[-1]["mes"] == "A new message."
        assert records(path)[1]["extra"]["auto_recap"] == {"memory": "mine"}

    def test_a_change_that_cannot_be_written_is_not_made(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")

        async def work():
            book = ChatBook.open(path)
            before = book.chat

            def spoil(chat):
                path.unlink()
                return with_memory(chat, 0, "mine")

            with pytest.raises(InputError):
                await book.change(spoil)
            assert book.chat == before

        asyncio.run(work())

    def test_a_message_that_was_changed_on_both_sides_is_told(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")

        async def work():
            book = ChatBook.open(path)

            def late(chat):
                path.write_text(path.read_text(encoding="utf-8").replace("I open", "I close"), encoding="utf-8")
                return with_memory(chat, 0, "mine")

            with pytest.raises(InputError, match="message 0 is another one now"):
                await book.change(late)

        asyncio.run(work())
        assert "I close" in path.read_text(encoding="utf-8")


class TestQueueFile:
    def test_the_queue_lies_beside_the_chat(self, tmp_path):
        path = queue_path(tmp_path / "Tale.jsonl")
        assert path.name == "Tale.recap-queue.json"
        save_queue(path, QueueState())
        assert not path.exists()
        state = QueueState((QueuedOperation("op_1", "recap", {"index": 3}),), paused=True)
        save_queue(path, state)
        assert load_queue(path) == (state, ())

    @pytest.mark.parametrize("data", [b"{half", b"[]", b"\xff\xfe"])
    def test_a_damaged_file_is_moved_aside(self, tmp_path, data):
        path = queue_path(tmp_path / "Tale.jsonl")
        path.write_bytes(data)
        state, problems = load_queue(path)
        assert state == QueueState()
        assert len(problems) == 1
        assert (tmp_path / "Tale.recap-queue.json.damaged-1").read_bytes() == data
        assert not path.exists()


class TestHiddenByHand:
    def hidden(self, path, index, *, hidden=True):
        lines = path.read_text(encoding="utf-8").split("\n")
        record = json.loads(lines[index + 1])
        lines[index + 1] = json.dumps({**record, "is_system": hidden})
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def test_what_a_person_hid_is_not_shown_by_a_change(self, tmp_path):
        path = self.hidden(write_chat(tmp_path / "Tale.jsonl"), 1)
        before = path.read_bytes()

        async def work():
            session = RecapSession.open(path, RecapSettings(auto_hide_scene_count=0), copies=tmp_path / "kept")
            await session.book.change(lambda chat: chat)
            assert path.read_bytes() == before, "looking changes nothing"
            await session.edits.edit_message(0, "A gate.")
            assert records(path)[2]["is_system"] is True
            self.hidden(path, 1, hidden=False)
            await session.edits.edit_message(0, "An old gate.")
            assert records(path)[2]["is_system"] is False, "shown by hand, it stays so"
            self.hidden(path, 1)
            await session.edits.edit_message(0, "A new gate.")
            assert records(path)[2]["is_system"] is True
            await session.edits.keep_hidden(1, wanted=False)
            assert records(path)[2]["is_system"] is False, "asked for, it is shown"
            await session.close()

        asyncio.run(work())

    def test_what_scenes_hid_is_shown_again_when_more_of_them_are(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")

        async def work():
            session = RecapSession.open(path, RecapSettings(auto_hide_scene_count=1))
            await session.edits.toggle_break(1)
            assert records(path)[1]["is_system"] is True
            session.use(RecapSettings(auto_hide_scene_count=0))
            await session.edits.refresh()
            assert records(path)[1]["is_system"] is False
            await session.close()

        asyncio.run(work())

    def test_the_chat_as_it_was_is_kept_before_the_first_change(self, tmp_path):
        path = write_chat(tmp_path / "Tale.jsonl")
        before = path.read_bytes()

        async def work():
            session = RecapSession.open(path, copies=tmp_path / "kept")
            for text in ("one", "two"):
                await session.edits.edit_message(0, text)
            await session.close()

        asyncio.run(work())
        (kept,) = (tmp_path / "kept").rglob("*.jsonl")
        assert kept.read_bytes() == before
