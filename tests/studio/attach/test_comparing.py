"""Captured prompts beside the runs of their turns (rules: live-capture 4, 5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Generation, Message
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import replace
from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import ChatRequest
from lorestudio.studio.attach import captures, finding
from lorestudio.studio.attach.captures import Capture, redacted
from lorestudio.studio.attach.comparing import (
    CapturedAnswers,
    ComparedCapture,
    PromptComparison,
    RequestKind,
    beside_replies,
    captured_answers,
    comparison,
    matched,
)
from lorestudio.studio.attach.exchange import SentMessage, SentPrompt
from lorestudio.studio.attach.finding import FoundLore, Grade, SearchedEntry, find_lore, unknown_lines
from lorestudio.studio.project.project import Project, demo_project
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.systems.registry import kind_of
from lorestudio.trace.model import Trace

DEEPLORE = kind_of("deeplore")

BELL = "The ninth bell hangs in the flooded tower and rings when the tide is out. Nobody has heard it since."
MACRO = "{{char}} keeps the key of the tower under a loose stone. {{// a remark }} {{user}} does not know."


def prompt_of(*texts: str) -> SentPrompt:
    return SentPrompt(tuple(SentMessage("system", text) for text in texts))


def found_in(entries: Sequence[SearchedEntry], *texts: str, said: Sequence[str] = ()) -> list[tuple[int, Grade, int]]:
    return [(each.entry, each.grade, each.message) for each in find_lore(prompt_of(*texts), entries, said)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[The Ninth Bell]\n{BELL}\n[/]", [(0, Grade.TEXT, 1)]),
        (f"[The Ninth Bell]\n{BELL[:73]}\n[/]", [(0, Grade.BEGINNING, 1)]),
        (f"<The Ninth Bell>\r\n{BELL}\r\n</The Ninth Bell>", [(0, Grade.BLOCK, 1)]),
        (BELL.replace("tide", "water") + " But she has.", [(0, Grade.CHANGED, 1)]),
        ("The ninth bell rings.", []),
        ("The Ninth Bell", []),
    ],
)
def test_an_entry_is_found_by_its_text(text: str, expected: list[tuple[int, Grade, int]]) -> None:
    entry = SearchedEntry(0, "The Ninth Bell", BELL, (f"<The Ninth Bell>\n{BELL}\n</The Ninth Bell>",))
    assert found_in([entry], "Write on.", text) == expected


def test_macros_may_stand_for_anything() -> None:
    entry = SearchedEntry(0, "Key", MACRO)
    filled = "Ottoline keeps the key of the tower under a loose stone.  Wren does not know."
    assert found_in([entry], filled) == [(0, Grade.FILLED, 0)]


def test_what_is_only_quoted_does_not_count() -> None:
    entries = [SearchedEntry(0, "Bell", BELL), SearchedEntry(1, "Tower", f"Of the tower they say: {BELL}")]
    assert found_in(entries, f"Ottoline: {BELL} So they say.", said=[f"{BELL} So they say."]) == []
    assert found_in(entries, f"Of the tower they say: {BELL}") == [(1, Grade.TEXT, 0)]
    both = f"Of the tower they say: {BELL}\n\n{BELL}"
    assert found_in(entries, both) == [(1, Grade.TEXT, 0), (0, Grade.TEXT, 0)]


def test_a_short_text_needs_its_title_or_line_ends() -> None:
    entry = SearchedEntry(0, "Lamp", "A lamp of brass.")
    assert found_in([entry], "She lit A lamp of brass. It burned.") == []
    assert found_in([entry], "Before\nA lamp of brass.\nAfter") == [(0, Grade.TEXT, 0)]
    assert found_in([entry], "Lamp: A lamp of brass. It burned.") == [(0, Grade.TEXT, 0)]
    assert found_in([SearchedEntry(0, "Lamp", "Brass.")], "x\nBrass.\ny") == []


def test_of_two_entries_with_one_text_the_one_with_its_title_is_there() -> None:
    entries = [SearchedEntry(0, "Bell", BELL), SearchedEntry(1, "Gong", BELL)]
    assert found_in(entries, f"<Gong>\n{BELL}\n</Gong>") == [(1, Grade.TEXT, 0)]


def test_a_prompt_is_read_once_however_many_entries_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    runs = finding._runs
    monkeypatch.setattr(finding, "_runs", lambda text: read.append(text) or runs(text))
    told = BELL.replace("tide", "water")
    entries = [SearchedEntry(number, str(number), f"{BELL} {number}") for number in range(5)]
    assert len(found_in(entries, told, told)) == 2
    assert read.count(told) == 2


def test_lines_from_nowhere_known() -> None:
    prompt = prompt_of(f"Known as it is.\n{BELL}", "Wren: I said that, too.\nNobody knows this line.\n***\nTwo words")
    lore = find_lore(prompt, [SearchedEntry(0, "Bell", BELL)])
    told = unknown_lines(prompt, lore, ["Well,  Known as it is. Yes", "I said that, too."])
    assert told == ((1, "Nobody knows this line."),)


# ---- which reply ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return demo_project(tmp_path_factory.mktemp("demo") / "demo")


@pytest.fixture(scope="module")
def runs(demo: Project) -> dict[Generation, Trace]:
    simulator = Simulator(demo)
    return dict(zip(simulator.generations, asyncio.run(simulator.replay()), strict=True))


def milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def capture(messages: Sequence[tuple[str, str]], answer: str, at: int, **fields: Any) -> Capture:
    body = json.dumps({"model": "m", "messages": [{"role": role, "content": text} for role, text in messages]})
    reply = json.dumps({"choices": [{"message": {"content": answer}}]})
    return Capture(f"{at}-aaaaaa", at, at + 900, "/chat/completions", body=body, answer=reply, **fields)


def sent(project: Project, trace: Trace) -> list[tuple[str, str]]:
    assert project.chat is not None
    prompt = assemble(trace, project.chat, project.setup, project.counter)
    return [(message.role.value, message.text) for message in prompt.messages]


def captured(project: Project, trace: Trace, *, late_ms: int = 500, answer: str | None = None) -> Capture:
    assert project.chat is not None
    message = project.chat.messages[trace.turn.message]
    text = message.swipes[trace.turn.swipe] if message.swipes else message.text
    began = milliseconds(str(message.raw["gen_started"]))
    return capture(sent(project, trace), text if answer is None else answer, began + late_ms)


def replies(runs: dict[Generation, Trace]) -> list[Trace]:
    return [trace for generation, trace in runs.items() if trace.injections][3:9:2]


@pytest.mark.long
def test_each_capture_is_matched_to_its_reply(demo: Project, runs: dict[Generation, Trace]) -> None:
    assert demo.chat is not None
    traces = replies(runs)
    found = matched([captured(demo, trace) for trace in reversed(traces)], demo.chat)
    assert [each.generation for each in found] == [
        Generation(trace.turn.message, trace.turn.swipe) for trace in sorted(traces, key=lambda one: one.turn.message)
    ]
    assert {len(each.evidence) for each in found} == {3}
    assert all(comparison(demo, each, runs[each.generation]).agrees for each in found if each.generation)


def test_the_answer_decides_and_the_request_before_was_replaced(demo: Project, runs: dict[Generation, Trace]) -> None:
    assert demo.chat is not None
    trace = replies(runs)[0]
    first, last = captured(demo, trace, answer="Not that, again."), captured(demo, trace, late_ms=900)
    earlier, later = matched([last, first], demo.chat)
    assert (earlier.replaced, later.replaced) == (True, False)
    assert earlier.generation == later.generation == Generation(trace.turn.message, trace.turn.swipe)


def test_what_is_no_reply_is_told_apart(demo: Project, runs: dict[Generation, Trace]) -> None:
    assert demo.chat is not None
    trace = replies(runs)[0]
    at = milliseconds("2031-01-01T00:00:00+00:00")
    quiet = capture([*sent(demo, trace), ("system", "Summarise the story.")], "They met, and went on.", at)
    asked = capture([("system", "Choose."), ("user", "<candidate manifest>")], "[]", at + 1)
    raw = capture([("user", "Name a colour.")], "Blue.", at + 2)
    broken = replace(raw, id=f"{at + 3}-b", started_ms=at + 3, body="{}")
    kinds = [each.kind for each in matched([quiet, asked, raw, broken], demo.chat)]
    assert kinds == [RequestKind.QUIET, RequestKind.SELECTION, RequestKind.TOOL, RequestKind.UNREADABLE]


def test_what_failed_or_was_redacted_is_no_background_prompt(demo: Project, runs: dict[Generation, Trace]) -> None:
    assert demo.chat is not None
    trace = replies(runs)[0]
    masked = redacted(captured(demo, trace))
    refused = replace(captured(demo, trace, late_ms=600), status=401, answer="{}")
    found = matched([masked, refused], demo.chat)
    assert [each.kind for each in found] == [RequestKind.REDACTED, RequestKind.FAILED]
    assert [each.generation for each in found] == [None, None]


# ---- which reply, in a chat of four messages -------------------------------------------------------------------------

ASKED = ("The lamp has gone out, says the keeper.", "And who lit it, asks the keeper's wife.")
TOLD = ("Then we shall climb in the dark, she said, and laughed.", "Nobody has lit it for a hundred years.")
NOON = milliseconds("2030-01-01T12:00:00+00:00")


def small_chat(*tail: Message) -> Chat:
    """Two turns, a minute each, and what follows."""
    messages = [
        Message("Wren" if user else "Ottoline", text, is_user=user, raw={} if user else times(60_000 * turn))
        for turn in (0, 1)
        for text, user in ((ASKED[turn], True), (TOLD[turn], False))
    ]
    return Chat(messages=(*messages, *tail))


def times(after: int, seconds: int = 5) -> dict[str, Json]:
    return {"gen_started": NOON + after, "gen_finished": NOON + after + seconds * 1000}


def turn(place: int, answer: str, after: int, *ending: str, one: bool = False) -> Capture:
    """What asks for the reply at that place, with what stands behind the chat."""
    texts = ["Write on.", *[text for pair in zip(ASKED, TOLD, strict=True) for text in pair][:place], *ending]
    return capture([("user", text) for text in (["\n\n".join(texts)] if one else texts)], answer, NOON + after)


def made(chat: Chat, *asked: Capture) -> list[tuple[RequestKind, int | None, bool]]:
    """Kind, message and whether replaced, in the order in which the captures are given."""
    found = {each.capture.id: each for each in matched(asked, chat)}
    ours = [found[each.id] for each in asked]
    return [(one.kind, one.generation.message if one.generation else None, one.replaced) for one in ours]


REPLY, QUIET, TOOL = RequestKind.REPLY, RequestKind.QUIET, RequestKind.TOOL


@pytest.mark.parametrize("one", [False, True])
def test_a_reply_that_was_made_anew_is_no_background_prompt(*, one: bool) -> None:
    """Its answer and its time are gone; it ends as the request that made the reply (rules: live-capture 4)."""
    kept = turn(3, TOLD[1], 60_500, "Stay in character.", one=one)
    gone = turn(3, "A boy did, long ago, they say.", 45_000, "Stay in character.", one=one)
    quiet = turn(3, "They spoke of a lamp.", 50_000, "Summarise the story.", one=one)
    other = TOOL if one else QUIET
    assert made(small_chat(), gone, quiet, kept) == [(REPLY, 3, True), (other, None, False), (REPLY, 3, False)]
    assert made(small_chat(), gone) == [(other, None, False)]
    soon = turn(3, "They spoke of a lamp.", 60_100, "Summarise the story.", one=one)
    assert made(small_chat(), soon, kept) == [(other, None, False), (REPLY, 3, False)]


def test_a_tool_that_hands_over_the_chat_in_one_message_is_no_reply() -> None:
    kept, tool = turn(3, TOLD[1], 60_500), turn(3, "A quay in fog.", 45_000, one=True)
    assert made(small_chat(), kept, tool) == [(REPLY, 3, False), (TOOL, None, False)]


def test_a_prompt_of_one_message_is_the_replys_whose_answer_it_has() -> None:
    """As SillyTavern's post-processing sends it; its story may say “manifest”."""
    kept = turn(3, TOLD[1], 60_500, "The ship's manifest is lost.", one=True)
    assert made(small_chat(), kept) == [(REPLY, 3, False)]
    assert made(small_chat(), replace(kept, auxiliary=True)) == [(RequestKind.SELECTION, None, False)]


@pytest.mark.parametrize("answer", [TOLD[1][-20:], f"<think>Who was it?</think>\n{TOLD[1]}"])
def test_an_answer_that_goes_on_with_a_reply_or_thinks_before_it_is_the_replys(answer: str) -> None:
    """Long after the times that the file keeps, the answer still tells."""
    assert made(small_chat(), turn(3, answer, 7_000_000)) == [(REPLY, 3, False)]


def test_an_answer_that_is_as_short_as_many_tells_nothing() -> None:
    assert made(small_chat(), turn(3, TOLD[1][-19:], 7_000_000)) == [(QUIET, None, False)]


def test_several_answers_at_once_are_the_swipes_that_they_became() -> None:
    said = [f"{TOLD[1]} Or so they say, the {which} of them." for which in ("first", "second", "third")]
    swipes = Message("Ottoline", said[1], raw=times(60_000), swipes=tuple(said), swipe_id=1)
    asked = turn(3, "", 60_500)
    choices = [{"index": place, "message": {"content": text}} for place, text in enumerate(said)]
    found = matched([replace(asked, answer=json.dumps({"choices": choices}))], chat_of_swipes(swipes))
    assert [(each.generation, each.replaced) for each in found] == [(Generation(3, place), False) for place in range(3)]


def chat_of_swipes(last: Message) -> Chat:
    return Chat(messages=(*small_chat().messages[:3], last))


def test_of_replies_that_fit_as_well_the_answer_and_then_the_time_decide() -> None:
    hidden = Message("Wren", "(( Shall we meet a whale later on? ))", is_user=True, is_system=True)
    later = Message("Ottoline", "", raw=times(63_000))
    chat = small_chat(hidden, later)
    assert made(chat, turn(4, "It is cut.", 63_500)) == [(REPLY, 5, False)]


def test_what_asks_about_a_reply_that_stands_in_it_did_not_make_it() -> None:
    assert made(small_chat(), turn(4, "They spoke of a lamp.", 66_000, "Summarise.")) == [(QUIET, None, False)]


def test_a_prompt_of_another_chat_is_no_background_prompt_over_this_one() -> None:
    other = capture([("user", text) for text in ("Write on.", "A ship comes in, they say.", "Summarise.")], "So.", NOON)
    assert made(small_chat(), other) == [(RequestKind.OTHER, None, False)]


def test_a_capture_is_read_as_often_whatever_the_chat_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand captures beside five hundred replies are half a million pairs."""
    read: list[str] = []
    for name in ("read_prompt", "read_replies"):
        real = getattr(captures, name)
        monkeypatch.setattr(captures, name, lambda text, real=real: read.append(text) or real(text))
    asked = [turn(3, TOLD[1], 60_500), turn(3, "A boy did, long ago.", 45_000)]
    times_read = []
    for more in (0, 20):
        read.clear()
        matched(asked, small_chat(*[Message("Ottoline", f"She said so {each} times.") for each in range(more)]))
        times_read.append(len(read))
    assert times_read[0] == times_read[1]


def test_the_beginning_of_a_reply_that_goes_on_is_from_somewhere(demo: Project, runs: dict[Generation, Trace]) -> None:
    trace = replies(runs)[0]
    assert demo.chat is not None
    begun = demo.chat.messages[trace.turn.message].text[:60].rpartition(" ")[0]
    assert compared_with(demo, trace, [*sent(demo, trace), ("assistant", begun)]).unknown == ()


def test_a_reply_that_goes_on_is_run_with_what_stood_of_it(demo: Project, runs: dict[Generation, Trace]) -> None:
    trace, chat = replies(runs)[0], demo.chat
    assert chat is not None
    kept = {ref for ref in trace.entries if ref in {each.entry for each in trace.injections}}
    entry = next(each for each in demo.index.entries if each.keys and each.id not in kept and not each.requires)
    begun, answer = f"It was {entry.keys[0]}, she said.", "And then they all slept until noon."
    own = replace(chat.messages[trace.turn.message], text=f"{begun} {answer}", swipes=())
    project = replace(demo, chat=chat.with_message(trace.turn.message, own))
    messages = [*sent(project, trace), ("system", entry.content), ("assistant", begun)]
    asked = capture(messages, answer, milliseconds(str(own.raw["gen_started"])))
    [found] = asyncio.run(beside_replies(Simulator(project), [asked]))
    assert found.turn is not None
    assert entry.id in {each.entry for each in found.turn.both}
    assert found.because.endswith("goes on with what stands of the reply")


# ---- what differs ---------------------------------------------------------------------------------------------------


def compared_with(demo: Project, trace: Trace, messages: Sequence[tuple[str, str]]) -> PromptComparison:
    assert demo.chat is not None
    message = demo.chat.messages[trace.turn.message]
    [found] = matched([capture(messages, message.text, milliseconds(str(message.raw["gen_started"])))], demo.chat)
    return comparison(demo, found, trace)


def test_what_stands_in_one_of_the_two_alone_is_told(demo: Project, runs: dict[Generation, Trace]) -> None:
    trace = next(trace for trace in replies(runs) if any(one.position == -1 for one in trace.injections))
    gone = next(one for one in trace.injections if one.position != -1)
    block = next(
        block.text[part.start : part.end] for block in trace.prompt for part in block.parts if part.entry == gone.entry
    )
    extra = next(each for each in demo.index.entries if each.id not in {one.entry for one in trace.injections})
    messages = [(role, text.replace(block, "")) for role, text in sent(demo, trace)]
    messages.insert(1, ("system", f"{extra.content}\nA sentence that nobody wrote here."))
    found = compared_with(demo, trace, messages)
    assert [each.entry for each in found.only_there] == [extra.id]
    assert [each.title for each in found.only_here if not each.why] == [trace.title(gone.entry)]
    assert found.unknown == ((1, "A sentence that nobody wrote here."),)
    assert not found.agrees


def test_why_an_entry_of_the_run_is_not_in_the_prompt(demo: Project, runs: dict[Generation, Trace]) -> None:
    trace = replies(runs)[0]
    message = demo.chat.messages[trace.turn.message - 1] if demo.chat is not None else None
    assert message is not None
    found = compared_with(demo, trace, [("system", "Write on."), ("user", message.text)])
    whys = {each.entry: each.why for each in found.only_here}
    for one in trace.injections:
        deep = one.position == 1 and one.depth >= 2
        assert ("the chat was cut" in whys[one.entry]) is deep
        assert ("outlet" in whys[one.entry]) is (one.position == -1)


def test_captured_answers_answer_the_same_question(tmp_path: Path) -> None:
    question = ChatRequest("search", "Choose.", "Storm Glass (285tok)", model="m")
    kept = capture([("system", "Choose."), ("user", "Storm Glass (301tok)")], '["Storm Glass"]', 5)
    answers, model = captured_answers([kept, replace(kept, body="{}")], tmp_path / "chat.jsonl", DEEPLORE)
    assert (asyncio.run(answers.answer(question)).text, model) == ('["Storm Glass"]', "m")
    assert (tmp_path / "chat.answers.jsonl").is_file()
    with pytest.raises(LlmError):
        asyncio.run(CapturedAnswers([kept], DEEPLORE).answer(replace(question, user="Another")))


def asking(system: str, header: str, catalogue: str, said: str, closing: str) -> list[str]:
    parts = [f"<manifest_info>\n{header}\n</manifest_info>"] * bool(header)
    parts += [f"<available_lore_entries>\n{catalogue}\n</available_lore_entries>"]
    parts += [f"<recent_chat_transcript>\n{said}\n</recent_chat_transcript>", closing]
    return [system, "\n\n".join(parts)]


GLASS = '<entry name="Storm Glass">\nStorm Glass (301tok)\nIt clouds before a storm.\n</entry>'
SAID = "Wren (user): The glass is cloudy."


@pytest.mark.parametrize(
    ("header", "catalogue", "said", "same"),
    [
        ("", GLASS, SAID, True),
        ("One entry may be chosen.", GLASS.replace("301", "285"), SAID, True),
        ("", GLASS, f"[STORY CONTEXT - a note]\nA storm.\n\n[RECENT CHAT]\n{SAID}", False),
        ("", GLASS.replace("storm.", "rain."), SAID, False),
        ("", GLASS, f"{SAID}\nOttoline (character): So it is.", False),
    ],
)
def test_the_answer_to_a_question_in_other_words(header: str, catalogue: str, said: str, same: bool) -> None:
    """What is asked about is the same, not how it is asked (rules: deeplore-tools 1.5, 1.9)."""
    theirs = asking("Pick from <available_lore_entries> what fits.", "2 may be picked.", GLASS, SAID, "Now answer.")
    kept = capture([("system", theirs[0]), ("user", theirs[1])], '["Storm Glass"]', 5)
    system, user = asking("Choose well.", header, catalogue, said, "Answer as JSON.")
    answer = CapturedAnswers([kept], DEEPLORE).answer(ChatRequest("search", system, user))
    if same:
        assert asyncio.run(answer).text == '["Storm Glass"]'
    else:
        with pytest.raises(LlmError):
            asyncio.run(answer)


def test_story_headings_and_categories_in_other_words() -> None:
    def about(heading: str) -> tuple[str, ...]:
        said = f"[STORY CONTEXT{heading}]\nA storm.\n\n[RECENT CHAT]\n{SAID}\n\n[SESSION SUMMARY{heading}]\nThey met."
        return DEEPLORE.asked_about(asking("", "", GLASS, said, heading))

    assert about("") == about(": where they are")
    assert about("")[1].startswith("[]\nA storm.")
    one = DEEPLORE.asked_about(["Choose.", "## Categories\ncity (2)\n\n## Recent Chat\nWren (user): Hm."])
    assert one == ("city (2)", "Wren (user): Hm.")
    assert DEEPLORE.asked_about(["Name a colour."]) == ("Name a colour.",)


def test_places_are_told_in_the_order_of_the_prompt():
    late, early = (FoundLore(entry, Grade.BLOCK, message, 0, 4, "system", 1) for entry, message in ((0, 5), (1, 2)))
    turn = PromptComparison((late,), (early,), titles={0: "Bell", 1: "Tower"})
    places = ComparedCapture(None, turn).places
    assert places == (
        "Tower: as it was put in, message 3 (system, 1 before the end)",
        "Bell: as it was put in, message 6 (system, 1 before the end)",
    )
    assert ComparedCapture(None).places == ()
