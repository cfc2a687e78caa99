"""Facts of a chat file: its passages, going on after failures, and looking after the memories."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.problems import InputError
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import ChatReply
from lorestudio.settings.facts import FactsSettings
from lorestudio.systems.base import Scene
from lorestudio.systems.facts.picture import facts_picture
from lorestudio.systems.facts.records import ThreadState
from lorestudio.systems.facts.session import MOST_ATTEMPTS, FactsSession
from lorestudio.systems.facts.system import FactsSystem
from lorestudio.systems.facts.threads import chat_name, owner_of


class Answers:
    """One fact a request, its number; the requests in `failing` fail."""

    name = label = "by hand"

    def __init__(self, *failing, kind=ErrorKind.CONNECTION):
        self.failing, self.asked, self.kind = failing, [], kind

    async def answer(self, request):
        self.asked.append(request)
        if len(self.asked) in self.failing:
            raise LlmError(self.kind, "no connection")
        word = "abcdefghij"[len(self.asked)] * 5
        return ChatReply(f'{{"memories": [{{"content": "{word} holds", "source": "confirmed"}}]}}')


class Failing(HashEmbedder):
    async def embed(self, _texts):
        raise LlmError(ErrorKind.CONNECTION, "no connection")


def said(text, day, *, is_user=False):
    return Message("Wren" if is_user else "Ottoline", text, is_user, send_date=f"2024-10-{day:02d}T10:00:00Z")


CHAT = Chat(
    (
        said("One.", 1), said("I carry the lantern.", 1, is_user=True), said("Two.", 1),
        said("Three.", 3), said("I want the north road.", 3, is_user=True),
    ),
    "Wren",
    "Ottoline",
)  # fmt: skip


def session(answers=None, path=None, **settings):
    made = FactsSession(FactsSettings(**settings), path, answers, in_memory=path is None)
    made.now = lambda: 1_728_000_000_000  # 4 October 2024, a day after the last message
    return made


def extracted(made, chat=CHAT, **how):
    return asyncio.run(made.extract(chat, None, made.waiting(chat, None, **how)))


def test_a_long_silence_ends_a_passage():
    with session() as made:
        assert [(each.first, each.last) for each in made.waiting(CHAT, None)] == [(0, 2), (3, 4)]
    with session(passage=2) as made:
        assert [(each.first, each.last) for each in made.waiting(CHAT, None)] == [(0, 1), (2, 2), (3, 4)]
    with session(cooling_timeout_ms=3 * 86_400_000) as made:
        assert [(each.first, each.last) for each in made.waiting(CHAT, None)] == [(0, 4)]


def test_the_last_passage_is_due_once_its_silence_is_long_enough():
    ended = 1_727_949_600_000  # 3 October 2024, 10:00
    for hours, due in ((11, 1), (12, 2)):
        with session() as made:
            made.now = lambda hours=hours: ended + hours * 3_600_000
            assert len(made.waiting(CHAT, None, due=True)) == due


def test_facts_are_kept_with_where_and_when_they_were_said():
    with session() as made:
        extracted(made)
        found = made.memories(owner_of(made.settings, CHAT, None))
        assert [memory.content for memory in found] == ["I carry the lantern", "I want the north road"]
        assert [(memory.origin.first, memory.origin.last) for memory in found] == [(0, 2), (3, 4)]
        assert found[0].created_at == 1_727_776_800_000  # 1 October 2024, 10:00
        assert made.run_of(found[0]).counters["memoriesSaved"] == 1
        assert made.run_of(found[0]).model == "plain rules"


def test_what_is_kept_is_not_read_again_and_new_messages_are():
    with session() as made:
        extracted(made)
        assert made.waiting(CHAT, None) == ()
        longer = Chat((*CHAT.messages, said("Five.", 3), said("I need rope.", 3, is_user=True)), "Wren", "Ottoline")
        assert [(each.first, each.last) for each in made.waiting(longer, None)] == [(5, 6)]
        edited = Chat((said("Other.", 1), *CHAT.messages[1:]), "Wren", "Ottoline")
        waiting = made.waiting(edited, None)
        assert [(each.first, each.last, each.changed) for each in waiting] == [(0, 2, True)]
        asyncio.run(made.extract(edited, None, waiting))
        assert made.waiting(edited, None) == ()
        assert len(made.memories()) == 2  # the same facts again are the same memories


def test_what_messages_before_it_have_moved_is_not_read_again():
    later = Chat((*CHAT.messages, said("Five.", 5), said("I need rope.", 5, is_user=True)), "Wren", "Ottoline")
    with session() as made:
        extracted(made, later)
        for chat in (
            replace(later, messages=(*later.messages[:1], *later.messages[2:])),
            replace(later, messages=(later.messages[0], said("New.", 1), said("I sing.", 1), *later.messages[1:])),
        ):
            waiting = made.waiting(chat, None)
            assert [each.changed for each in waiting if each.first == 0] == [True]
            assert not any(
                "north road" in line.content or "rope" in line.content for each in waiting for line in each.lines
            )
            shown = facts_picture(made, chat, None, everything=True).rows
            asyncio.run(made.extract(chat, None, waiting))
            assert made.waiting(chat, None) == ()
            for memory in (*(row.memory for row in shown), *made.memories()):
                told = [each.text for each in chat.messages[memory.origin.first : memory.origin.last + 1]]
                assert any(memory.content in text for text in told) or memory.content == "I carry the lantern"


def origins(made, chat):
    rows = facts_picture(made, chat, None, everything=True).rows
    return {row.memory.content: (row.memory.origin.first, row.memory.origin.last) for row in rows}


def things(*kept):
    """Those of sixteen messages, four a passage; a text in the place of a number is an edited one."""
    texts = [each if isinstance(each, str) else f"I bring thing{each}x" for each in kept]
    return Chat(tuple(said(f"{text}.", 1, is_user=True) for text in texts), "Wren", "Ottoline")


@pytest.mark.parametrize(
    ("kept", "places"),
    [
        ((0, 2, 3, 5, 6, 8, 9, 11, 12, 13, 15), [(0, 2), (3, 4), (5, 7), (8, 10)]),  # each lost some
        ((2, 3, 6, 7, 10, 14, 15), [(0, 1), (2, 3), (4, 4), (5, 6)]),  # each lost its first ones
        ((3, "I sing", 8, 10, 11, 12, 13), [(0, 0), (1, 1), (2, 4), (5, 6)]),  # the second is edited and lost three
        ((3, "I sing", 9, 10, 11, 15), [(0, 0), (None, None), (1, 4), (5, 5)]),  # the second is gone, an edit beside it
        ((0, 1, 2, "I sing", 11, 12, 13, 14), [(0, 3), (None, None), (4, 4), (5, 7)]),
        ((1, "I sing", 3, 5, "I dance", 7, 9, "New", 11, 13, 15), [(0, 2), (3, 5), (6, 8), (9, 10)]),
    ],
)
def test_what_is_left_of_each_passage_is_known_by_its_messages(kept, places):
    whole, left = things(*range(16)), things(*kept)
    with session(passage=4) as made:
        extracted(made, whole)
        known = {content: places[where[0] // 4] for content, where in origins(made, whole).items()}
        for _ in range(2):  # before and after the numbers are kept
            assert origins(made, left) == known
            waiting = made.waiting(left, None)
            assert {(each.first, each.last) for each in waiting} <= {*places}
            assert all(each.changed for each in waiting)
            asyncio.run(made.extract(left, None, ()))
        extracted(made, left)
        assert made.waiting(left, None) == ()


def test_passages_of_an_older_file_learn_their_lines_when_they_are_met_again(tmp_path):
    path = tmp_path / "m.sqlite"
    whole, left = things(*range(16)), things(0, 3, 5, 6, 7, 9, 11, 12, 13)
    with session(path=path, passage=4) as made:
        extracted(made, whole)
        known, threads = made.memories(), made.threads()
    lines = sqlite3.connect(path)
    with lines:
        lines.executescript("ALTER TABLE threads DROP COLUMN line_digests; PRAGMA user_version = 2;")
    lines.close()
    with session(path=path, passage=4) as made:
        assert (made.memories(), [each.id for each in made.threads()]) == (known, [each.id for each in threads])
        assert made.waiting(whole, None) == ()
        extracted(made, whole)
        assert made.threads() == threads
        assert {*origins(made, left).values()} == {(0, 1), (2, 4), (5, 6), (7, 8)}


def test_two_passages_of_the_same_text_stand_at_two_places():
    whole = things("I sing", "I dance", "I sing", "I dance", "I bring rope")
    left = replace(whole, messages=whole.messages[2:])
    with session(passage=2) as made:
        extracted(made, whole)
        waiting = made.waiting(left, None)
        assert waiting == ()
        extracted(made, left)
        assert [row.key for row in facts_picture(made, left, None, everything=True).passages] == ["0-1", "2-2"]


@pytest.mark.parametrize("few", [0, 500])
def test_what_is_left_after_most_passages_are_deleted_is_known_and_the_others_stand_nowhere(few, monkeypatch):
    monkeypatch.setattr("lorestudio.systems.facts.threads._FEW", few)
    whole = Chat(tuple(said(f"I bring thing{k}x.", 1, is_user=True) for k in range(60)), "Wren", "Ottoline")
    left = replace(whole, messages=(*whole.messages[24:28], *whole.messages[56:60]))

    with session(passage=4) as made:
        extracted(made, whole)
        known = origins(made, whole)
        places = {(24, 27): (0, 3), (56, 59): (4, 7)}
        assert {*places} < set(known.values())
        for _ in range(2):  # before and after the numbers are kept
            assert made.waiting(left, None) == ()
            assert origins(made, left) == {content: places.get(where, (None, None)) for content, where in known.items()}
            asyncio.run(made.extract(left, None, ()))
        keys = [row.key for row in facts_picture(made, left, None, everything=True).passages]
        assert keys == ["0-3", "4-7"]
        undone = origins(made, whole).items()
        moved = {where for content, where in undone if where != known[content]}
        assert not few or moved <= {(None, None)}  # one gave its numbers up


def test_passages_that_others_have_moved_keep_their_own_names(tmp_path):
    path = tmp_path / "m.sqlite"
    before = (said("Who?", 1), said("I bring rope.", 1, is_user=True))
    longer = replace(CHAT, messages=(*before, *before, *CHAT.messages))
    with session(Answers(), path, passage=2) as made:
        extracted(made)
        first = facts_picture(made, longer, None, everything=True)
        assert [(row.first, row.waiting, row.memories) for row in first.passages] == [
            (0, True, 0), (2, True, 0), (4, False, 1), (6, False, 1), (7, False, 1),
        ]  # fmt: skip
        pinned = [replace(each, pinned=True) for each in made.memories()]
        assert first.altered(pinned).passages == first.passages
        assert [row.memory.origin.first for row in first.altered(pinned).rows] == [4, 6, 7]
        later = FactsSystem.of(FactsSettings(store=str(path)), Scene(VaultIndex(()), chat=longer)).known.memories
        assert [each.origin.first for each in later] == [4, 6, 7]
        asyncio.run(made.extract(longer, None, made.waiting(longer, None)))
        assert made.waiting(longer, None) == ()
        assert [each.origin.first for each in made.memories()] == [4, 6, 7, 0, 2]
        assert {made.store.get_thread(each.thread_id).digest for each in made.memories()} == {
            each.digest for each in made.threads()
        }
        asyncio.run(made.extract(CHAT, None, made.waiting(CHAT, None)))
        assert [each.origin.first for each in made.memories()][:3] == [0, 2, 3]
        assert made.waiting(CHAT, None) == ()


def test_a_passage_that_fails_waits_and_the_others_are_kept(tmp_path):
    path = tmp_path / "m.sqlite"
    with session(Answers(2), path, passage=2) as made:
        drawn = extracted(made)
        assert [bool(each.problem) for each in drawn] == [False, True, False]
        assert "no connection" in drawn[1].problem
    with session(Answers(), path, passage=2) as made:  # after a restart
        waiting = made.waiting(CHAT, None)
        assert [(each.first, each.last, each.changed) for each in waiting] == [(2, 2, False)]
        asyncio.run(made.extract(CHAT, None, waiting))
        assert made.waiting(CHAT, None) == ()
        assert {thread.state for thread in made.threads("chat")} == {ThreadState.DORMANT}


@pytest.mark.parametrize("kind", [ErrorKind.AUTHENTICATION, ErrorKind.QUOTA, ErrorKind.MODEL_UNKNOWN])
def test_what_would_fail_with_every_passage_is_asked_once(kind):
    answers = Answers(2, 3, kind=kind)
    with session(answers, passage=2) as made:
        told = []
        drawn = asyncio.run(made.extract(CHAT, None, made.waiting(CHAT, None), lambda *how: told.append(how[:2])))
        assert [bool(each.problem) for each in drawn] == [False, True]
        assert (len(answers.asked), told[-1]) == (2, (2, 3))
        assert [(each.first, each.last) for each in made.waiting(CHAT, None)] == [(2, 2), (3, 4)]


def test_a_passage_that_failed_too_often_is_due_no_more_but_is_read_when_asked_for():
    with session(Answers(1, 2, 3)) as made:
        first, last = made.waiting(CHAT, None)
        for _ in range(MOST_ATTEMPTS):
            assert made.waiting(CHAT, None, due=True) == (first, last)
            assert asyncio.run(made.extract(CHAT, None, (first,)))[0].problem
        assert made.waiting(CHAT, None, due=True) == (last,)
        assert made.waiting(CHAT, None) == (first, last)
        assert not extracted(made)[0].problem
        assert made.waiting(CHAT, None) == ()


def test_models_are_told_who_speaks():
    answers = Answers()
    with session(answers) as made:
        extracted(made)
    assert "user: Wren: I carry the lantern." in answers.asked[0].user
    assert "2024-10-01" in answers.asked[0].user


def test_dormant_threads_close_in_time():
    with session() as made:
        extracted(made)
        made.now = lambda: 1_727_949_600_000 + 31 * 86_400_000
        extracted(made)
        assert {thread.state for thread in made.threads("chat")} == {ThreadState.CLOSED}


def test_memories_are_found_edited_pinned_deleted_and_taken_back():
    with session() as made:
        extracted(made)
        owner = owner_of(made.settings, CHAT, None)
        lantern, road = made.memories(owner)
        assert asyncio.run(made.search("the lantern", owner))[0].memory.id == lantern.id
        asyncio.run(made.edit(lantern, " Wren carries a bell ", ["thing"]))
        found = asyncio.run(made.search("Wren carries a bell", owner))[0]
        assert (found.memory.id, found.memory.tag_names) == (lantern.id, ("thing",))
        assert found.score == pytest.approx(1)
        made.pin(road, pinned=True)
        assert made.find(road.id[:12]).pinned
        made.delete([lantern, road])
        assert made.memories() == []
        made.restore([road])
        assert [memory.id for memory in made.memories()] == [road.id]


def test_an_edit_without_a_vector_changes_nothing():
    with session() as made:
        extracted(made)
        first = made.memories()[0]
        made.embedder = Failing()
        with pytest.raises(LlmError):
            asyncio.run(made.edit(first, "other"))
        assert made.memories()[0] == first
        with pytest.raises(InputError, match="needs a text"):
            asyncio.run(made.edit(first, "  "))


def test_vectors_of_another_model_are_made_anew(tmp_path):
    path = tmp_path / "m.sqlite"
    with session(None, path) as made:
        extracted(made)
    with FactsSession(FactsSettings(), path, embedder=HashEmbedder(64)) as made:
        assert len(made.stale()) == 2
        asyncio.run(made.refresh(made.stale()))
        assert made.stale() == []
        assert {len(memory.embedding) for memory in made.memories()} == {64}


def test_whose_memories_they_are():
    assert owner_of(FactsSettings(), CHAT, None) == "chat:chat"
    assert owner_of(FactsSettings(owner="character"), CHAT, None) == "character:Ottoline"
    assert chat_name(Chat(metadata={"integrity": "mark"}), None) == "mark"
    assert chat_name(Chat(), Path("/tales/Ottoline/evening.jsonl")) == "Ottoline/evening"
    assert chat_name(Chat(), Path("/tales/Ottoline/\udcf6l.jsonl")) == "Ottoline/\\udcf6l"  # bytes that are no text


def test_a_branch_has_memories_of_its_own():
    parent, branch = Path("/tales/Ottoline/evening.jsonl"), Path("/tales/Ottoline/Branch 3.jsonl")
    told = replace(CHAT, metadata={"integrity": "mark"})
    forked = replace(told, messages=(*told.messages[:3], said("I sold it.", 3, is_user=True)))
    forked = replace(forked, metadata={**told.metadata, "main_chat": "evening"})
    with session() as made:
        asyncio.run(made.extract(told, parent, made.waiting(told, parent)))
        assert made.memories(owner_of(made.settings, forked, branch)) == []
        waiting = made.waiting(forked, branch)
        assert [(each.first, each.last, each.changed) for each in waiting] == [(0, 2, False), (3, 3, False)]
        asyncio.run(made.extract(forked, branch, waiting))
        kept = made.memories(owner_of(made.settings, told, parent))
        assert [memory.content for memory in kept] == ["I carry the lantern", "I want the north road"]
        assert made.waiting(told, parent) == made.waiting(forked, branch) == ()


def test_an_id_that_fits_none_or_many():
    with session() as made:
        extracted(made)
        with pytest.raises(InputError, match="no memory begins"):
            made.find("nothing")
        with pytest.raises(InputError, match="kept with their vectors"):
            session(embedder="none")


def test_rules_from_files(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"pattern": "carry (.+)", "profileField": "conditions", "group": 1}]', encoding="utf-8")
    pins = tmp_path / "pins.json"
    pins.write_text('[{"pattern": "north road"}]', encoding="utf-8")
    with session(structured_rules=str(rules), pin_rules=str(pins)) as made:
        extracted(made)
        assert made.profile("chat:chat")["conditions"] == ["the lantern"]
        assert [(memory.content, memory.pinned) for memory in made.memories()] == [("I want the north road", True)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"pattern": "("}]', "rule 1"), ('{"a": 1}', "no list"), ("[1]", "rule 1: it is no object"),
        ('[{"pattern": "a", "profileField": "moods"}]', "profileField is none of"),
        ('[{"pattern": "a", "profileField": "goals", "group": 2}]', "no group 2"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_used(tmp_path, text, problem):
    rules = tmp_path / "rules.json"
    rules.write_text(text, encoding="utf-8")
    with session(structured_rules=str(rules)) as made, pytest.raises(InputError, match=problem):
        extracted(made)


KILLED = """
import asyncio, os, sys
from pathlib import Path
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.llm.embedding import HashEmbedder
from lorestudio.settings.facts import FactsSettings
from lorestudio.systems.base import Scene
from lorestudio.systems.facts.session import MOST_ATTEMPTS, FactsSession

class Deadly(HashEmbedder):
    async def embed(self, texts):
        if "road" in texts[0]:
            os.kill(os.getpid(), 9)
        return await super().embed(texts)

path = Path(sys.argv[2])
chat = load_chat(path).chat
with FactsSession(FactsSettings(passage=2), Path(sys.argv[1]), embedder=Deadly()) as made:
    asyncio.run(made.extract(chat, path, made.waiting(chat, path)))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signal 9 is POSIX's")
def test_a_killed_extraction_keeps_whole_passages_and_goes_on_after_a_restart(tmp_path):
    path, store = tmp_path / "story.jsonl", tmp_path / "m.sqlite"
    lines = ["I carry the lantern.", "Good.", "I want a rope. I want the north road.", "Then go."]
    records = [{"user_name": "Wren", "character_name": "Ottoline"}]
    records += [{"name": "Wren", "is_user": place % 2 == 0, "mes": line} for place, line in enumerate(lines)]
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    ended = subprocess.run([sys.executable, "-c", KILLED, str(store), str(path)], check=False)  # noqa: S603
    assert ended.returncode == -9
    chat = load_chat(path).chat
    with session(None, store, passage=2) as made:
        assert [memory.content for memory in made.memories()] == ["I carry the lantern"]
        waiting = made.waiting(chat, path)
        assert [(each.first, each.last) for each in waiting] == [(2, 3)]
        asyncio.run(made.extract(chat, path, waiting))
        assert [memory.content for memory in made.memories()][1:] == ["I want a rope", "I want the north road"]


MEANWHILE = "Another window or command has drawn the facts of this passage meanwhile. Its facts are kept."


class Overtaken(Answers):
    """Before it answers, another window draws out whatever waits."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    async def answer(self, request):
        if not self.asked:
            with session(Answers(), self.path) as other:
                await other.extract(CHAT, None, other.waiting(CHAT, None))
        return await super().answer(request)


def test_facts_of_a_passage_are_kept_once_though_two_windows_draw_them_at_once(tmp_path):
    path = tmp_path / "memories.sqlite"
    with session(Overtaken(path), path) as made:
        drawn = extracted(made)
        assert [each.problem for each in drawn] == [MEANWHILE, MEANWHILE]
        assert [memory.content for memory in made.memories()] == ["bbbbb holds", "ccccc holds"]
        assert [thread.attempts for thread in made.threads()] == [0, 0]
        assert made.store.problems() == {}
        assert made.waiting(CHAT, None) == ()
        assert len(made.answers.asked) == 1, "the second passage was known to be drawn before anybody was asked"


def test_one_passage_is_read_again_where_it_is_asked_for():
    with session() as made:
        extracted(made)
        kept = made.waiting(CHAT, None, again=True)
        assert made.waiting(CHAT, None, only=kept[1].key) == ()
        assert made.waiting(CHAT, None, again=True, only=kept[1].key) == kept[1:]


def test_who_asks_for_it_draws_facts_of_a_passage_again():
    answers = Answers()
    with session(answers) as made:
        extracted(made)
        assert [each.problem for each in extracted(made, again=True)] == ["", ""]
        assert len(answers.asked) == 4
