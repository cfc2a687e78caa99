import asyncio
import json
from collections import Counter

import pytest

from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.problems import InputError
from lorestudio.llm.connections import LiveAnswers
from lorestudio.llm.stand_in import StandInAnswers
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay import runs as runs_module
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.base import Moment
from lorestudio.systems.recap import chat_file as book
from lorestudio.systems.recap import queue as queue_file
from lorestudio.systems.recap import session as session_module
from lorestudio.systems.recap.chat import RecapChat, RecapSurroundings
from lorestudio.systems.recap.overview import message_rows, picture, scene_rows
from lorestudio.systems.recap.queue import queue_path
from lorestudio.systems.recap.records import RecapState
from lorestudio.systems.recap.refresh import ReadChat
from lorestudio.systems.recap.scenes import scenes
from lorestudio.systems.recap.session import RecapSession, recap_cost
from lorestudio.systems.recap.system import RecapSystem
from lorestudio.systems.registry import KINDS
from lorestudio.trace.model import RunOutcome, Turn
from tests.llm.server import Server, completion, reply
from tests.systems.recap.files import SETTINGS, records, without_times, write_chat


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "default_folder", lambda: tmp_path / "data")


async def no_sleep(seconds):
    await asyncio.sleep(0)


def opened(path, answers=None, **settings):
    session = RecapSession.open(path, SETTINGS.model_copy(update=settings), answers)
    session.worker.sleep = no_sleep
    return session


def worked(path, answers=None, **settings):
    """A session that has made everything that was due."""

    async def work():
        session = opened(path, answers, **settings)
        await session.enqueue_missing()
        await session.work()
        await session.close()
        return session

    return asyncio.run(work())


@pytest.fixture
def chat(tmp_path):
    return write_chat(tmp_path / "Tale.jsonl")


def test_everything_that_is_due_is_made_and_kept(chat):
    worked(chat)
    again = opened(chat)
    assert again.chat.breaks == (3, 7)
    assert [row.where for row in scene_rows(again.chat)] == [(0, 3), (4, 7)]
    assert not any(row.is_bookmark for row in scene_rows(again.chat))
    assert [version.reaches for version in again.chat.running.versions] == [3, 7]
    states = [row.state for row in message_rows(again.chat)]
    assert states == [RecapState.INCLUDED] * 11 + [RecapState.NONE]  # the newest waits
    assert [row.hidden for row in message_rows(again.chat)] == [True] * 4 + [False] * 8
    assert again.queue.operations == ()
    assert again.problems == ()


@pytest.mark.long
def test_messages_further_back_than_is_looked_are_told(chat):
    """The newest waits, two are looked at, and nine of twelve get no recap."""
    assert worked(chat, auto_recap_message_limit=2).left_behind == (
        "9 older messages have no recap: “Look back” in the recap settings is 2."
    )
    assert opened(chat, auto_recap_message_limit=2, auto_recap=False).left_behind == ""
    assert worked(chat, auto_recap_message_limit=10).left_behind == (
        "1 older message has no recap: “Look back” in the recap settings is 10."
    )
    assert worked(chat, auto_recap_message_limit=0).left_behind == ""


@pytest.mark.parametrize("every", [pytest.param(9, marks=pytest.mark.long), 27])
def test_after_an_end_at_any_writing_the_work_goes_on_to_the_same_result(tmp_path, monkeypatch, every):
    """Ends before one in so many writings of chat or queue; a new session goes on from what is on the disk."""
    whole = write_chat(tmp_path / "Tale.jsonl")
    worked(whole)
    expected = without_times(records(whole))

    class Killed(BaseException):
        pass

    real = book.write_chat_file, queue_file.write_atomically
    for last in range(2, 400, every):
        folder = tmp_path / str(last)
        folder.mkdir()
        path = write_chat(folder / "Tale.jsonl")
        left = [last]

        def counted(work, left=left):
            def instead(*arguments, **named):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return work(*arguments, **named)

            return instead

        monkeypatch.setattr(book, "write_chat_file", counted(real[0]))
        monkeypatch.setattr(queue_file, "write_atomically", counted(real[1]))
        try:
            worked(path)
            finished = True
        except Killed:
            finished = False
        monkeypatch.setattr(book, "write_chat_file", real[0])
        monkeypatch.setattr(queue_file, "write_atomically", real[1])

        async def go_on(path=path):
            session = opened(path)
            # What had not been queued yet is found to be due again.
            await session.work()
            await session.enqueue_missing()
            await session.work()
            await session.close()
            return session

        session = asyncio.run(go_on())
        made = without_times(records(path))
        assert session.queue.operations == ()
        for index, message in enumerate(made[1:]):
            versions = message["extra"].get("auto_recap", {}).get("scene_recap_versions", [])
            assert len(versions) == len(set(versions)), (last, index)
        assert made[0]["chat_metadata"]["auto_recap_running_scene_recaps"]["versions"][-1]["new_scene_index"] == 7
        assert made == expected, last
        if finished:
            break
    else:
        pytest.fail("the work never came to its end")


def broken_off(call):
    """The server dies in the middle of its answer."""

    async def behave():
        await call.head(Content_Length=500)
        await call.send('{"choices": [{"mess')
        call.writer.transport.abort()

    return behave()


def test_a_server_that_dies_in_the_middle_loses_nothing_and_the_queue_goes_on_after_a_restart(chat):
    good = [reply(completion(f"Recap {number}.")) for number in range(3)]

    async def first():
        async with Server(*good, broken_off) as server:
            session = opened(chat, LiveAnswers(server.client()), max_retries=1, auto_scene_break_on_new_message=False)
            for index in range(6):
                await session.enqueue_recap(index)
            session.worker.max_retries = 0

            async def stop(seconds):
                await session.worker.pause()  # the person gives up while the server is gone

            session.worker.sleep = stop
            await session.work()
            await session.close()

    asyncio.run(first())
    stored = json.loads(queue_path(chat).read_text(encoding="utf-8"))
    assert [item["status"] for item in stored["queue"]] == ["pending"] * 3
    assert stored["queue"][0]["retries"] == 1
    assert "Retry 1 after 10s" in stored["queue"][0]["error"]
    kept = [row.recap for row in message_rows(opened(chat).chat)]
    assert kept[:6] == ["Recap 0.", "Recap 1.", "Recap 2.", "", "", ""]

    async def second():
        async with Server(*[reply(completion(f"Again {number}.")) for number in range(3)]) as server:
            session = opened(chat, LiveAnswers(server.client()))
            assert session.queue.paused
            await session.worker.resume()
            await session.work()
            await session.close()
            return len(server.calls)

    assert asyncio.run(second()) == 3
    assert [row.recap for row in message_rows(opened(chat).chat)][:6] == [
        "Recap 0.", "Recap 1.", "Recap 2.", "Again 0.", "Again 1.", "Again 2.",
    ]  # fmt: skip


def test_a_refused_key_ends_each_operation_with_the_reason_on_its_message(chat):
    async def work():
        refused = reply({"error": {"message": "bad key"}}, "401 Unauthorized")
        async with Server(refused) as server:
            session = opened(chat, LiveAnswers(server.client()))
            await session.enqueue_recap(0)
            await session.work()
            await session.close()
            return len(server.calls)

    assert asyncio.run(work()) == 1
    row = message_rows(opened(chat).chat)[0]
    assert row.state is RecapState.FAILED
    assert "refused the key" in row.error


def test_prefill_and_presets_reach_the_server(chat, tmp_path):
    preset = tmp_path / "preset.json"
    preset.write_text(json.dumps({"system": "Be brief.", "max_tokens": 33}), encoding="utf-8")

    async def work():
        async with Server(reply(completion("opened it."))) as server:
            session = opened(chat, LiveAnswers(server.client()), prefill="Wren ", message_recap_preset=str(preset))
            await session.enqueue_recap(0)
            await session.work()
            await session.close()
            return server.calls[0].body

    body = asyncio.run(work())
    assert body["messages"][0]["content"].startswith("Be brief.\n\nYou keep short records")
    assert body["messages"][-1] == {"role": "assistant", "content": "Wren "}
    assert body["max_tokens"] == 33
    row = message_rows(opened(chat).chat)[0]
    assert row.recap == "opened it."


def test_two_studios_do_not_work_on_one_queue(chat):
    one, two = opened(chat), opened(chat)
    one.hold()
    with pytest.raises(InputError, match="another lorestudio"):
        two.hold()
    one.release()
    two.hold()
    two.release()


def test_what_a_person_changes_is_on_the_disk(chat):
    worked(chat)

    async def work():
        session = opened(chat)
        edits = session.edits
        await edits.edit_message(0, "By hand.")
        await edits.exclude(1, wanted=True)
        await edits.edit_running("Edited by hand.")
        await edits.use_running(0)
        with pytest.raises(InputError, match="is locked"):
            await edits.edit_scene(3, "x")
        with pytest.raises(InputError, match="has no version 9"):
            await edits.use_running(9)
        with pytest.raises(InputError, match="no message 99"):
            await edits.toggle_break(99)
        await edits.toggle_break(9)
        await edits.delete_running(1)
        with pytest.raises(InputError, match="versions of the running recap that reach to message 7 or beyond"):
            await edits.edit_scene(7, "x")  # the version that was edited is of the same scenes

    asyncio.run(work())
    again = opened(chat)
    rows = message_rows(again.chat)
    assert (rows[0].recap, rows[0].edited, rows[1].state) == ("By hand.", True, RecapState.EXCLUDED)
    assert [version.number for version in again.chat.running.versions] == [0, 2]
    assert again.chat.running.current == 0
    assert again.chat.breaks == (3, 7, 9)
    assert scene_rows(again.chat)[-1].is_bookmark
    assert scene_rows(again.chat)[0].lock.locked


def test_a_scene_can_change_once_no_version_of_the_running_recap_reaches_to_it(chat):
    worked(chat)

    async def work():
        session = opened(chat)
        await session.edits.delete_running(1)
        await session.edits.edit_scene(7, "They slept.")
        with pytest.raises(InputError, match="is locked"):
            await session.edits.edit_scene(3, "x")
        await session.edits.delete_running(0)
        await session.edits.edit_scene(3, "They met.")
        await session.enqueue_combine(3)
        await session.work()

    asyncio.run(work())
    again = opened(chat)
    assert [(row.recap, row.lock.locked) for row in scene_rows(again.chat)] == [
        ("They met.", True), ("They slept.", False),
    ]  # fmt: skip
    assert [version.reaches for version in again.chat.running.versions] == [3]


@pytest.mark.parametrize(("left", "locked"), [([], [False, False]), ([0], [True, False]), ([1], [True, True])])
def test_marks_that_were_left_by_versions_lock_nothing(chat, left, locked):
    worked(chat)
    lines = chat.read_text("utf-8").split("\n")
    header = json.loads(lines[0])
    store = header["chat_metadata"]["auto_recap_running_scene_recaps"]
    store["versions"] = [store["versions"][place] for place in left]
    chat.write_text("\n".join([json.dumps(header), *lines[1:]]), "utf-8")
    assert [row.lock.locked for row in scene_rows(opened(chat).chat)] == locked


def test_a_message_that_was_changed_after_its_recap_is_marked(chat):
    worked(chat)
    text = chat.read_text(encoding="utf-8").replace('"mes":"I greet him."', '"mes":"I greet nobody."')
    chat.write_text(text, encoding="utf-8")
    assert [row.index for row in message_rows(opened(chat).chat) if row.stale] == [2]


def test_clearing_takes_everything_out_and_the_next_search_begins_at_the_first_message(chat):
    before = records(chat)
    worked(chat)

    async def work():
        session = opened(chat)
        counts = await session.clear_all()
        await session.enqueue_missing()
        return counts, session

    counts, session = asyncio.run(work())
    assert (counts.single_recaps, counts.scene_recaps, counts.scene_breaks, counts.running_recaps) == (11, 2, 2, 2)
    found = [item for item in session.queue.operations if item.type == "detect_scene_break"]
    assert found[0].params["startIndex"] == 0
    assert "forceFullRescan" not in session.queue.extra
    after = records(chat)
    assert [message["extra"] for message in after[1:]] == [message["extra"] for message in before[1:]]
    assert after[0]["chat_metadata"]["auto_recap_running_scene_recaps"] == {
        "chat_id": "Tale", "current_version": 0, "versions": [],
    }  # fmt: skip


def test_the_cost_is_counted_without_asking_or_changing_anything(chat):
    async def work():
        session = opened(chat)
        await session.enqueue_missing()
        waiting = session.queue
        cost = await recap_cost(session)
        return session, waiting, cost

    session, waiting, cost = asyncio.run(work())
    assert session.queue == waiting
    assert session.chat.breaks == ()
    assert cost.calls >= 11 + 2  # recaps of messages and of scenes, beside what looks for the scenes


def test_a_replay_shows_each_turn_what_it_knew(chat):
    worked(chat)
    empty = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000)
    project = empty.with_chat(chat)
    traces = asyncio.run(Simulator(project, KINDS["recap"].make(SETTINGS, project.scene())).replay())
    # The replies before message 4 are hidden by now; they were written all the same.
    replies = [(1, 0), (1, 1), (3, 2), (5, 3), (7, 4), (9, 5), (11, 6), (12, 7)]
    assert [(trace.turn.message, trace.turn.number) for trace in traces] == replies
    assert [trace.injections[0].title[-1] for trace in traces[3:]] == ["0", "0", "1", "1", "1"]
    assert {trace.system for trace in traces} == {"recap"}
    # What was in sight then is not told as shown again.
    verdicts = [verdict for trace in traces for record in trace.stages for verdict in record.verdicts]
    assert not any(verdict.reason == "recap_shown_again" for verdict in verdicts)
    nothing = asyncio.run(Simulator(empty, RecapSystem.of(SETTINGS, empty.scene())).replay())
    assert [trace.outcome for trace in nothing] == [RunOutcome.NOTHING_INJECTED]


@pytest.mark.parametrize("off", ["tom.png", " tom.png ,ada.png"])
def test_what_members_say_that_are_left_out_takes_part_only_where_the_chat_is_no_group(tmp_path, off):
    said = [("Wren", ""), ("Ada", "ada.png"), ("Tom", "tom.png"), ("Ada", "ada.png"), ("Tom", "tom.png")]
    settings = SETTINGS.model_copy(update={"disabled_members": off})
    for character, expected in (("unused", {"tom.png": 2, "ada.png": 2}), ("Ada", {})):
        path = tmp_path / f"{character}.jsonl"
        header = {"user_name": "Wren", "character_name": character, "chat_metadata": {}}
        rows = [{"name": name, "is_user": not file, "mes": name, "original_avatar": file} for name, file in said]
        path.write_text("\n".join(map(json.dumps, (header, *rows))), encoding="utf-8")
        told = {name: amount for name, amount in expected.items() if name in off}
        session = opened(path, disabled_members=off)
        assert left_out(picture(session).trace, said) == told
        session.use(SETTINGS)
        assert left_out(picture(session).trace, said) == {}
        session.use(settings)
        assert left_out(picture(session).trace, said) == told
        project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(path)
        *_, last = asyncio.run(Simulator(project, KINDS["recap"].make(settings, project.scene())).replay())
        assert left_out(last, said) == told


def test_a_member_that_is_left_out_may_have_a_comma_in_the_name():
    for text in ("Smith, Tom.png", "ada.png ,Smith, Tom.png", "Smith, Tom.PNG,ada.png, "):
        settings = SETTINGS.model_copy(update={"disabled_members": text})
        group = RecapChat("Tale", is_group=True)
        off = RecapSurroundings.of(group, settings, CHARS_4).disabled
        assert {each.lower() for each in off} == {"smith, tom.png", *(["ada.png"] if "ada" in text else [])}


def test_a_chat_that_becomes_a_group_leaves_members_out_of_its_first_replies_too(tmp_path):
    said = [("Wren", ""), ("Ada", "ada.png"), ("Wren", ""), ("Ada", "ada.png"), ("Tom", "tom.png")]
    settings, before, path = SETTINGS.model_copy(update={"disabled_members": "ada.png"}), (), tmp_path / "Tale.jsonl"
    for length, expected in ((4, {}), (5, {"ada.png": 1})):
        rows = [{"name": name, "is_user": not file, "mes": name, "original_avatar": file} for name, file in said]
        header = {"user_name": "Wren", "character_name": "unused", "chat_metadata": {}}
        path.write_text("\n".join(map(json.dumps, (header, *rows[:length]))), encoding="utf-8")
        project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(path)
        simulator = Simulator(project, KINDS["recap"].make(settings, project.scene()), earlier=before)
        _, third, *_ = asyncio.run(simulator.replay())
        assert third.turn.message == 3
        assert left_out(third, said) == expected
        before = (simulator,)


def left_out(trace, said):
    """How many messages of whom a trace says that the speaker is switched off."""
    verdicts = trace.stage("exclusion tree").verdicts
    out = [each for each in verdicts if each.reason == "excluded_character_disabled"]
    places = [int(trace.entries[each.entry].title.partition(" ")[0].strip("#")) for each in out]
    return dict(Counter(said[place][1] for place in places))


def test_traces_that_are_not_kept_are_made_again_as_they_were(chat, monkeypatch):
    worked(chat)
    project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(chat)
    system = KINDS["recap"].make(SETTINGS, project.scene())
    kept = Simulator(project, system)
    wanted = asyncio.run(kept.replay())
    monkeypatch.setattr(runs_module, "NAMED", 0)
    first = Simulator(project, system)
    asyncio.run(first.run_missing())
    again = Simulator(project, system, earlier=(first,))
    asyncio.run(again.run_missing())
    assert again.ran == 0
    for simulator in (first, again):
        held = [run.run for run in simulator.traces.places.values()]
        assert [run.packed for run in held] == [None] * len(wanted)
        assert [run.trace is None for run in held[:-1]] == [True] * (len(wanted) - 1), "only the last one stays"
        told = [trace.stages[0].duration_ms for trace in simulator.traces.values()]
        assert told == [trace.stages[0].duration_ms for trace in simulator.traces.values()], "what it took is kept"
        assert [untimed(trace) for trace in simulator.traces.values()] == [untimed(trace) for trace in wanted]
    run = first.traces.places[first.generations[0]].run
    assert run.in_small.opened() == first.traces[first.generations[0]]


def test_once_traces_were_let_go_one_is_told_when_somebody_asks(chat, monkeypatch):
    session = worked(chat)
    project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(chat)
    whole = Simulator(project, KINDS["recap"].make(SETTINGS, project.scene()))
    wanted, gists = asyncio.run(whole.replay()), [whole.traces.gist(one) for one in whole.generations]
    monkeypatch.setattr("lorestudio.studio.replay.runs.NAMED", 1)
    told, walked = [], ReadChat._walked
    monkeypatch.setattr(ReadChat, "_walked", lambda read, *how: told.append(how[0]) or walked(read, *how))
    late = Simulator(project, KINDS["recap"].make(SETTINGS, project.scene()))
    asyncio.run(late.run_missing())
    assert session.chat.running.versions
    assert len(late.generations) > 4
    assert late.generations[0].message == late.generations[1].message == 1
    last = late.generations[-1].message
    assert told == [1, last], "of the swipes before the first was let go, and of the one that was asked for"
    assert [late.traces.gist(one) for one in late.generations] == gists
    assert [run.seen for run in late.finished] == [trace.seen for trace in wanted]
    assert [untimed(trace) for trace in late.traces.values()] == [untimed(trace) for trace in wanted]
    times = [[trace.stages[0].duration_ms for trace in late.traces.values()] for _ in range(2)]
    assert times[0] == times[1], "what it took when it was made first is kept"


def test_a_trace_that_is_told_in_short_is_not_given_to_who_asks_for_all_of_it(chat):
    worked(chat)
    project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(chat)
    simulator = Simulator(project, KINDS["recap"].make(SETTINGS, project.scene()))
    moment = simulator.moment(simulator.generations[-1])
    names = [
        [stage.name for stage in simulator.system.traced(replace(moment, recorded=recorded)).stages]
        for recorded in (False, True, False)
    ]
    assert names[0] == names[2]
    assert len(names[0]) < len(names[1])


def untimed(trace):
    return replace(trace, stages=tuple(replace(record, duration_ms=0.0) for record in trace.stages))


def test_all_swipes_of_a_reply_are_given_the_same_by_one_reading(chat):
    worked(chat)
    project = Project((), VaultIndex(), DeepLoreSettings(), context_size=1000).with_chat(chat)
    system = KINDS["recap"].make(SETTINGS, project.scene())
    turns = [Turn(9, 0, 5), Turn(9, 1, 6), Turn(9, 2, 7)]
    moments = [Moment(VaultIndex(), (), turn, context_size=1000, digests={"inputs": str(turn.swipe)}) for turn in turns]
    one, other, last = (asyncio.run(system.decide(moment)).trace for moment in moments)
    assert (one.turn, other.turn, last.digests) == (turns[0], turns[1], {"inputs": "2"})
    assert one.entries is other.entries
    assert untimed(one).stages == untimed(last).stages


def test_before_the_first_scene_was_over_there_was_no_running_recap(chat):
    session = worked(chat)
    read = ReadChat(session.chat, session.context.around)
    three, four, all_of_it = (read.refreshed(length, 0).storage.store for length in (3, 4, 12))
    assert three.versions == ()
    assert four.current == 0
    assert all_of_it == session.chat.running


def test_the_questions_of_a_session_are_in_its_trace(chat):
    session = worked(chat, StandInAnswers())
    calls = session.trace().ai_calls
    assert {call.kind for call in calls} == {"recap", "scene_recap", "running_recap", "scene_break"}
    assert all(call.source == "offline stand-in" for call in calls)


def test_a_search_says_why_it_cannot_be_made(chat):
    async def work():
        session = opened(chat, auto_scene_break_minimum_scene_length=40)
        with pytest.raises(InputError, match="41 are needed"):
            await session.enqueue_search()
        await session.enqueue_recap(0)
        with pytest.raises(InputError, match="the queue is at work"):
            await session.enqueue_search()
        with pytest.raises(InputError, match="ends no scene"):
            await session.enqueue_scene(2)

    asyncio.run(work())


@pytest.mark.parametrize("form", ["text", "stages"])
def test_the_recap_of_a_scene_asked_for_by_hand_leaves_the_running_recap_alone(chat, form):
    async def work():
        session = opened(chat, StandInAnswers(), scene_recap_format=form)
        await session.edits.toggle_break(5)
        await session.enqueue_scene(5)
        await session.work()
        return session

    session = asyncio.run(work())
    assert scenes.has_recap(session.chat.messages[5])
    assert session.chat.running.versions == ()
    assert not scenes.is_combined(session.chat.messages[5])


def test_a_break_set_by_hand_makes_no_recap(chat):
    async def work():
        session = opened(chat)
        await session.edits.toggle_break(5)
        return session

    session = asyncio.run(work())
    assert session.queue.operations == ()
    assert scenes.is_visible_break(session.chat.messages[5])
