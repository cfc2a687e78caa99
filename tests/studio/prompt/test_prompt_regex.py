from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.records import replace
from lorestudio.exchange.character_card import CardData, CharacterCard
from lorestudio.exchange.chat_preset import ChatPreset
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace
from lorestudio.studio.prompt.assembly import assemble
from lorestudio.studio.prompt.regex import RegexRun
from lorestudio.studio.prompt.setup import PromptSetup, remarks_of, scripts_of
from lorestudio.systems.macros import Macros
from lorestudio.systems.registry import words_of
from lorestudio.trace.model import EntryRef, PromptBlock, PromptPart, RunOutcome, Trace, Turn
from lorestudio.trace.prompt import AssembledPrompt, source_words
from tests.studio.prompt.parts import parts_of_entry

CHAT = Chat(
    (
        Message("Ada", "Welcome, {{user}}. (ooc)"),
        Message("Wren", "Hi. (ooc)", is_user=True),
        Message("Wren", "(ooc)", is_user=True, is_system=True),
        Message("Ada", "The fort. (ooc)"),
    ),
    user_name="Wren",
    character_name="Ada",
)


def script(find: str, made: str = "", name: str = "S", **more: Any) -> RegexScript:
    placement = more.pop("placement", {ScriptPlace.USER_INPUT, ScriptPlace.AI_OUTPUT})
    return RegexScript(name=name, find=find, replace=made, placement=placement, **{"prompt_only": True, **more})


def run(text: str, *scripts: RegexScript, depth: float | None = 0) -> tuple[str, tuple[str, ...]]:
    macros = Macros({"char": "A.da", "user": "Wren"})
    return RegexRun(scripts, macros).run(text, ScriptPlace.USER_INPUT, depth)


@pytest.mark.parametrize(
    ("text", "find", "made", "result"),
    [
        ("aXbX", "/X/g", "-", "a-b-"),
        ("aXbX", "/X/", "-", "a-bX"),
        ("aXbX", "X", "-", "a-bX"),
        ("Ada says", "/(a)(d)?/gi", "[$1$2$3]", "[Ad][a] s[a]ys"),
        ("12", r"/(?<a>\d)(?<b>\d)/", "$<b>$<a>$<c>", "21"),
        ("x", "/x/", "{{match}}{{MATCH}}$0", "xxx"),
        ("x", "/x/", "{{char}} $$ $& \\1", "A.da $$ $& \\1"),  # of JavaScript's own signs none counts
        ("tab\u00a0x", r"/\s/", "_", "tab_x"),
        ("straße", r"/\w+$/", "-", "straß-"),  # JavaScript's letters are ASCII
        ("aaa", "/b*/g", "-", "-a-a-a-"),
        ("ab", "/(a)/", f"-${'9' * 5_000}", "-b"),
    ],
)
def test_replacing_as_javascript_does(text: str, find: str, made: str, result: str) -> None:
    assert run(text, script(find, made))[0] == result


def test_what_is_trimmed_from_a_match_and_not_from_the_rest() -> None:
    assert run("[*Ada*] *", script(r"/\[(.*)\]/", "<$1>", trim=("*", "{{char}}", ""))) == ("<Ada> *", ("S",))


@pytest.mark.parametrize(
    ("substitute", "result"), [(0, "A.da Axda {{char}}"), (1, "- - {{char}}"), (2, "- Axda {{char}}")]
)
def test_macros_in_a_pattern(substitute: int, result: str) -> None:
    find = "/{{char}}/g" if substitute else "/none/"
    assert run("A.da Axda {{char}}", script(find, "-", substitute=substitute))[0] == result


def test_each_script_gets_what_the_one_before_left_and_those_that_changed_something_are_named() -> None:
    first, idle, last = script("/a/g", "b", "First"), script("/z/", "y", "Idle"), script("/bb/", "c", "Last")
    assert run("aa", first, idle, last) == ("c", ("First", "Last"))


@pytest.mark.parametrize(
    "silent",
    [
        script("/a/", "-", disabled=True),
        script("/a/", "-", prompt_only=False, markdown_only=True),
        script("/a/", "-", prompt_only=False),
        script("/a/", "-", placement={ScriptPlace.AI_OUTPUT}),
        script("/a/", "-", min_depth=1),
        script("/(/", "-"),
        script("", "-"),
    ],
)
def test_scripts_that_do_not_run_here(silent: RegexScript) -> None:
    assert run("a", silent) == ("a", ())


def test_a_pattern_that_runs_away_leaves_the_text_and_is_told() -> None:
    runaway = RegexRun((script("/(a|a)*$/", "-", "Slow"),), Macros({}))
    text = "a" * 50 + "b"
    assert runaway.run(text, ScriptPlace.USER_INPUT, 0) == (text, ())
    assert "“Slow” takes too long" in next(iter(runaway.problems))


def trace(*blocks: PromptBlock, system: str = "deeplore") -> Trace:
    entries = {7: EntryRef(7, "Lamp", "v", "Lamp.md", 100, 3)}
    turn = Turn(len(CHAT.messages), 0, 0)
    words = words_of(system)
    return Trace(system, "keywords-only", RunOutcome.INJECTED, turn, entries, 9, (), prompt=blocks, words=words)


def made(*scripts: RegexScript, run_of: Trace | None = None, **more: Any) -> AssembledPrompt:
    held = (RegexScripts(scripts),)
    return assemble(run_of or trace(), CHAT, PromptSetup(main="W.", regex=held, regex_paths=(Path("r.json"),), **more))


def test_messages_are_changed_and_say_by_what() -> None:
    prompt = made(script(r"/ \(ooc\)/", "", "Aside"), script("/Wren/", "W", "Name", placement={ScriptPlace.AI_OUTPUT}))
    said = prompt.messages[2:]
    # The greeting's macros are filled in before the scripts run.
    assert [message.text for message in said] == ["Welcome, W.", "Hi.", "The fort."]
    assert [source_words(message.parts[0].source) for message in said] == [
        "chat: #0 Ada, changed by the regex scripts “Aside”, “Name”",
        "chat: #1 Wren, changed by the regex script “Aside”",
        "chat: #3 Ada, changed by the regex script “Aside”",
    ]


def test_depths_count_the_messages_that_are_sent() -> None:
    prompt = made(script(r"/ \(ooc\)/", "", min_depth=1, max_depth=1))
    assert [message.text for message in prompt.messages[2:]] == ["Welcome, Wren. (ooc)", "Hi.", "The fort. (ooc)"]


def test_a_message_of_which_nothing_is_left_is_not_sent_and_keeps_its_depth() -> None:
    block = PromptBlock("deeplore_x", 1, 1, 0, "Lamp!", (PromptPart(0, 5, 7),))
    prompt = made(script(r"/The fort.*/", ""), run_of=trace(block))
    assert [message.text for message in prompt.messages[2:]] == ["Welcome, Wren. (ooc)", "Hi. (ooc)", "Lamp!"]


@pytest.mark.parametrize(("system", "text"), [("deeplore", "Lamp!"), ("world-info", "Lantern!")])
def test_lore_is_changed_where_it_is_the_hosts_own_world_info(system: str, text: str) -> None:
    block = PromptBlock("x", 1, 0, 0, "Lamp!", (PromptPart(0, 5, 7),))
    name = script("/Lamp/", "Lantern", placement={ScriptPlace.WORLD_INFO})
    ((message, part),) = parts_of_entry(made(name, run_of=trace(block, system=system)), 7)
    assert message.text == text
    assert part.source.changed_by == (("S",) if system == "world-info" else ())


def test_scripts_of_settings_card_and_preset_in_this_order() -> None:
    one, two, three = (RegexScripts((script("/a/", name=name),), (name,)) for name in "123")
    setup = PromptSetup(
        card=CharacterCard(CardData(name="Ada"), scripts=two),
        preset=ChatPreset("P", scripts=three),
        regex=(one,),
        regex_paths=(Path("r.json"),),
    )
    assert [each.name for each in scripts_of(setup)] == ["1", "2", "3"]
    assert remarks_of(setup) == ("1", "2", "3")
    alone = replace(setup, embedded_regex=False)
    assert [each.name for each in scripts_of(alone)] == ["1"]
    assert remarks_of(alone) == ("1",)


def test_macros_in_a_text_are_filled_in_where_a_script_takes_them_up() -> None:
    # The host fills in a replacement as it makes it, so that the next script finds the name.
    assert run("({{user}}) {{user}}", script(r"/\((.*?)\)/", "[$1]"), script("/Wren/g", "W")) == (
        "[W] {{user}}", ("S", "S"),
    )  # fmt: skip
