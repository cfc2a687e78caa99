from __future__ import annotations

import json
from typing import Any

import pytest

from lorestudio.domain.patterns import PatternError
from lorestudio.exchange.character_card import parse_card
from lorestudio.exchange.problems import InputError
from lorestudio.exchange.regex_scripts import RegexScript, RegexScripts, ScriptPlace, compiled, parse_scripts


def script(**fields: Any) -> dict[str, Any]:
    return {"scriptName": "S", "findRegex": "/a/g", "promptOnly": True, "placement": [1, 2], **fields}


def read(document: Any) -> RegexScripts:
    return parse_scripts(json.dumps(document).encode(), "regex.json")


@pytest.mark.parametrize(
    "document", [script(), [script()], {"extension_settings": {"regex": [script()], "disabledExtensions": []}}]
)
def test_the_files_that_scripts_come_in(document: Any) -> None:
    (one,) = read(document).scripts
    assert (one.name, one.find, one.placement) == ("S", "/a/g", frozenset({1, 2}))
    assert one.shapes_prompt


def test_an_extension_that_is_switched_off_runs_nothing() -> None:
    found = read({"extension_settings": {"regex": [script()], "disabledExtensions": ["regex"]}})
    assert not any(each.shapes_prompt for each in found.scripts)
    assert "switched off" in found.remarks[0]


def test_settings_without_scripts_have_none() -> None:
    assert read({"extension_settings": {}}).scripts == ()


@pytest.mark.parametrize(
    ("written", "source", "flags"),
    [
        ("/a/b/gi", "a/b", "gi"),  # the last slash counts
        ("abc", "abc", ""),
        ("/abc", "/abc", ""),  # one slash is a part of the pattern
        ("/abc/zz", "/abc/zz", ""),  # no flags: slashes and all are the pattern
        ("/abc/gg", "/abc/gg", ""),
        ("one\ntwo", "one", ""),
    ],
)
def test_the_pattern_in_what_was_written(written: str, source: str, flags: str) -> None:
    pattern = compiled(written)
    assert (pattern.source, pattern.flags) == (source, flags)


@pytest.mark.parametrize("written", ["", "/(/", "/a/x"])
def test_what_is_no_pattern(written: str) -> None:
    with pytest.raises(PatternError):
        compiled(written)


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        ({}, [0, 1, 2, 3]),
        ({"minDepth": 1, "maxDepth": 2}, [1, 2]),
        ({"minDepth": None, "maxDepth": 0}, [0]),
        ({"minDepth": -2, "maxDepth": -1}, [0, 1, 2, 3]),  # such limits are none
        ({"minDepth": "2"}, [2, 3]),
    ],
)
def test_depths(limits: dict[str, Any], reached: list[int]) -> None:
    (one,) = read(script(**limits)).scripts
    assert [depth for depth in range(4) if one.reaches(depth)] == reached
    assert one.reaches(None)


def test_places_of_old_scripts() -> None:
    display, both, send_as = read(
        [script(placement=[0], promptOnly=False), script(placement=[0, 1]), script(placement=[4])]
    ).scripts
    assert display.placement == frozenset(ScriptPlace) - {ScriptPlace.DISPLAY, ScriptPlace.SEND_AS}
    assert display.shapes_prompt
    assert both.placement == {ScriptPlace.USER_INPUT}
    assert send_as.placement == {ScriptPlace.SLASH_COMMAND}


def test_what_is_not_reproduced_is_told() -> None:
    told = " ".join(
        read(
            [
                script(scriptName="Lasting", promptOnly=False),
                script(scriptName="Shown", promptOnly=False, markdownOnly=True),
                script(scriptName="Off", promptOnly=False, disabled=True),
                script(scriptName="Thoughts", placement=[6]),
                script(scriptName="Broken", findRegex="/(/g"),
            ]
        ).remarks
    )
    assert "“Lasting”: changes the chat itself" in told
    assert "“Thoughts”: for reasoning" in told
    assert "“Broken” changes nothing" in told
    assert "Shown" not in told
    assert "Off" not in told


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"a": 1}, "has no findRegex"),
        (3, "neither a regex script nor a list"),
        ([script(trimStrings="x")], "0.trimStrings"),
        ({"extension_settings": {"regex": [script(), 4]}}, "extension_settings.regex.1"),
        ({"extension_settings": {"regex": {}}}, "are no list"),
    ],
)
def test_files_that_cannot_be_used(document: Any, told: str) -> None:
    with pytest.raises(InputError, match=r"^regex\.json") as caught:
        read(document)
    assert told in str(caught.value)


def card(scripts: Any) -> bytes:
    data = {"name": "Ada", "extensions": {"regex_scripts": scripts}}
    return json.dumps({"spec": "chara_card_v2", "data": data}).encode()


def test_scripts_in_a_card_and_a_card_whose_scripts_are_broken() -> None:
    assert parse_card(card([script()]), "ada.json").scripts.scripts == (
        RegexScript(name="S", find="/a/g", placement=frozenset({1, 2}), prompt_only=True),
    )
    broken = parse_card(card([{"findRegex": []}]), "ada.json").scripts
    assert broken.scripts == ()
    assert "data.extensions.regex_scripts.0.findRegex" in broken.remarks[0]


def test_a_script_is_read_by_the_names_that_sillytavern_writes() -> None:
    found = parse_scripts(json.dumps([{"findRegex": "/a/"}, {"find": "/a/", "prompt_only": True}]).encode(), "s.json")
    assert [(each.find, each.prompt_only) for each in found.scripts] == [("/a/", False), ("", False)]
