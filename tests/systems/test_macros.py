"""Macros as SillyTavern 1.18 fills them in (rules: sillytavern 5.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.systems import macros as macros_module
from lorestudio.systems.macros import Macros

VALUES = {"user": "Ana", "char": "Hob", "empty": "", "noop": "", "creatornotes": "", "description": "Tall."}
VARIABLES = {"n": "1", "mood": "sad", "long": "007"}


def filled(text: str) -> tuple[str, dict[str, str]]:
    macros = Macros(VALUES, dict(VARIABLES))
    return macros.fill(text), macros.variables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{user}} {{USER}} {{ user }} <user>", "Ana Ana Ana Ana"),
        ("{{bot}} & <BOT>", "{{bot}} & Hob"),
        ("{{{user}}} {{user", "{Ana} {{user"),
        ("{{user::x}} {{unknown::{{char}}}}", "{{user::x}} {{unknown::Hob}}"),
        ("<group>", "<group>"),  # nobody knows one here
        ("{{getvar::mood}}{{getvar::none}} {{getvar:: n }} {{getvar::long}}", "sad 1 7"),
        ("{{setvar::a::{{user}}!}}{{getvar::a}}", "Ana!"),
        ("{{setvar::a}}of {{char}}{{/setvar}}[{{getvar::a}}]", "[of Hob]"),
        ("{{getvar::b}}{{setvar::b::x}}{{getvar::b}}", "x"),  # from left to right
        ("{{incvar::n}}{{decvar::n}}{{decvar::n}}", "210"),
        ("{{addvar::n::5}}{{getvar::n}} {{addvar::mood::dy}}{{getvar::mood}}", "6 saddy"),
        ("{{hasvar::n}} {{deletevar::n}}{{hasvar::n}}", "true false"),
        ("{{.k = 5}}{{.k}} {{.k += 2}}{{.k++}} {{.k--}}", "5 8 7"),
        ("{{if {{user}}}}yes{{else}}no{{/if}}", "yes"),
        ("{{if empty}}yes{{else}}no{{/if}}{{if !empty}}!{{/if}}", "no!"),
        ("{{if .n}}a{{if off}}b{{else}}c{{/if}}{{else}}d{{/if}}", "ac"),
        ("{{if::0::x}}|{{if::1::x}} {{if 1::x}}", "|x {{if 1::x}}"),  # behind a blank it is one argument
        ("{{reverse a::b}} {{getvar mood}} {{getvar}}mood{{/getvar}}", "b::a sad sad"),
        ("{{.n == 1}} {{.n != 1}} {{.n >= 2}} {{.n<2}} {{.mood > 0}} {{.n}}", "true false false true false 1"),
        ("{{.none ?? {{char}}}} {{.mood || x}} {{.none ||= y}} {{.none ??= z}} {{.n -= 3}}{{.n}}", "Hob sad y y -2"),
        ("{{setvar::z::0}}{{.z ?? x}}{{.z || x}} {{.z != 0}} {{.mood == sad}} {{.mood != glad}}", "0x false true true"),
        ("{{.n -= word}}{{.n}} {{.n <= 1}} {{.n > 1}} {{.n += 1}}{{.n >= 1}}", "1 true false true"),
        ("{{.q ??= y}}{{.q}} {{.q == y}} {{setvar::no::off}}{{.no ||= on}}{{.no}}", "yy true onon"),
        ("{{hasvar}}mood{{/hasvar}} {{varexists::x}} {{flushvar::mood}}{{varexists::mood}}", "true false false"),
        (
            "{{charDescription}} {{CHARCREATORNOTES}}|{{if charCreatorNotes}}a{{else}}b{{/if}}{{if Empty}}c{{/if}}",
            "Tall. |b",
        ),
        ("{{space::12}}|{{space::x}}", " " * 12 + "|{{space::x}}"),
        ("{{if .n == 2}}text{{/if}} {{if {{.n == 2}}}}yes{{else}}no{{/if}}", "text no"),
        ("{{newline::1.5}}{{/user}}{{comment x}}{{original}}", "{{newline::1.5}}{{/user}}{{original}}"),
        ("{{if user}}\n  one\n    two\n{{/if}}", "one\n  two"),
        ("one\n\n{{trim}}\n\ntwo {{trim}} \n\n{{trim}}\n end", "onetwo   end"),
        ("a\r\r\n\r\n{{trim}}\r\n\rb{{TRIM}}\n\nc\n", "a\r\rbc\n"),
        pytest.param("{{space}}" + "\n" * 500_000, " " + "\n" * 500_000, id="lines without an end"),
        ("{{trim}} x {{/trim}}{{newline::2}}{{space}}|{{reverse::abc}}", "x\n\n |cba"),
        ("a{{// note {{user}} }}b{{//}}c{{///}}d", "abcd"),
        (r"\{\{user\}\}", "{{user}}"),
        ("{{roll:d6}} {{outlet::x}}", "{{roll:d6}} {{outlet::x}}"),
    ],
)
def test_what_stands_in_their_place(text: str, expected: str) -> None:
    assert filled(text)[0] == expected


def test_only_the_chosen_branch_is_filled_in() -> None:
    assert filled("{{if user}}{{setvar::a::1}}{{else}}{{setvar::b::1}}{{/if}}")[1] == {**VARIABLES, "a": "1"}


def test_what_nobody_knows_is_told_and_outlets_are_not() -> None:
    macros = Macros(VALUES)
    macros.fill("{{roll:d6}} {{outlet::x}} {{user}} {{roll:d6}}")
    assert list(macros.unknown) == ["{{roll:d6}}"]


@pytest.mark.parametrize("text", ["{{random::", "{{{ ", "{{a}} {{", "{{setvar::a}}", "{{//}}", "{{if a}}"])
@pytest.mark.parametrize("end", ["", "}}"])
def test_what_is_never_closed_is_looked_at_once(text: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    edge, split = macros_module._EDGE, macros_module._split

    class Counted:
        def finditer(self, *given: Any) -> Iterator[re.Match[str]]:
            for found in edge.finditer(*given):
                looks.append(found)
                yield found

    def counted(given: str) -> list[str]:
        looks.append(given)
        return split(given)

    monkeypatch.setattr(macros_module, "_EDGE", Counted())
    monkeypatch.setattr(macros_module, "_split", counted)
    filled(text * 200 + end)
    assert len(looks) <= 200 * 8


@given(st.text("{}:/#. \\nuserif<>!", max_size=24))
def test_every_text_can_be_filled_in(text: str) -> None:
    found = filled(text)[0]
    assert "{" in text or "\\" in text or "<" in text or found == text
