from __future__ import annotations

import asyncio
import json

import pytest

from lorestudio.llm.errors import LlmError
from lorestudio.llm.messages import DRAFT, KEYS, SUMMARY, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers


def written(kind: str, user: str) -> str:
    reply = asyncio.run(StandInAnswers().answer(ChatRequest(kind, "", user)))
    assert reply.repeatable
    assert "not by a model" in reply.notes[0]
    return reply.text


def about(text: str, head: str = "Title: Lamp") -> str:
    return f"<note>\n{head}\n</note>\n<note_text>\n{text}\n</note_text>"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("One. Two!\nThree?", "One. Two! Three?"),
        ("# Head\n\n- a point\n- another", "Head a point another"),
        ("灯は港を照らす。船が来る。", "灯は港を照らす。 船が来る。"),
        ("", ""),
    ],
)
def test_a_summary_is_the_notes_own_sentences(text: str, summary: str) -> None:
    assert written(SUMMARY, about(text)) == summary


def test_a_summary_never_passes_the_limit() -> None:
    assert len(written(SUMMARY, about("It is a very long sentence. " * 100))) <= 600
    assert len(written(SUMMARY, about("word " * 300))) <= 600
    assert len(written(SUMMARY, about("x" * 900))) == 600


def test_keys_are_title_other_names_and_names_by_frequency() -> None:
    text = (
        "It was built by Mara Vey. Every year Tam and Mara Vey meet. Old walls. We saw Tam, and Tam, near Salt Cliff."
    )
    answer = json.loads(written(KEYS, about(text, "Title: Dawnkeep\nAliases: The Keep, Rock\nKeys: fort, rock")))
    assert answer["suggested"] == ["Dawnkeep", "The Keep", "Rock", "fort", "Tam", "Mara Vey", "Salt Cliff"]


def test_at_most_ten_keys() -> None:
    names = "; ".join(f"the Tower {letter * 4}" for letter in "ABCDEFGHIJKLMNOP")
    assert len(json.loads(written(KEYS, about(f"See {names}.")))["suggested"]) == 10


def test_a_draft_is_about_a_name_that_nobody_has_written_about() -> None:
    titles = "<existing_titles>\nSkarn the Red\n</existing_titles>"
    passage = "Wren (user): I met Skarn and Old Tam.\nAda (character): Wren, ask Old Tam about Skarn, and Skarn again."
    draft = json.loads(written(DRAFT, f"{titles}\n<passage>\n{passage}\n</passage>"))
    assert draft["title"] == "Old Tam"
    assert draft["content"] == "I met Skarn and Old Tam. Wren, ask Old Tam about Skarn, and Skarn again."
    nothing = f"{titles}\n<passage>\nWren (user): nothing here\n</passage>"
    assert json.loads(written(DRAFT, nothing))["title"] == ""


def test_other_tools_still_have_no_stand_in() -> None:
    with pytest.raises(LlmError, match="cannot answer"):
        asyncio.run(StandInAnswers().answer(ChatRequest("scribe", "", "x")))
