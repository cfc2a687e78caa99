from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import DRAFT, KEYS, SUMMARY, ChatReply, ChatRequest
from lorestudio.llm.stand_in import StandInAnswers, sentences_of, words

ENTRIES = {
    "Salt Gate": ("Harbour", "The northern gate of the city, closed at dusk."),
    "Harbour": ("", "Ships from the islands unload salt and timber."),
    "Mira O'Dell": ("Salt Gate", "A smith who keeps bees on her roof."),
    "Bees & <Honey>": ("", "Honey of the roofs."),
    "Old King": ("", "Ruled long ago."),
}


def catalogue(entries: dict[str, tuple[str, str]]) -> str:
    blocks = []
    for title, (links, text) in entries.items():
        name = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        arrow = f" → {links}" if links else ""
        blocks.append(
            f'<entry name="{name}">\n{title} (12tok){arrow} [STALE — consider refreshing]\n[Era: old]\n{text}\n</entry>'
        )
    return "\n".join(blocks)


def search(
    *messages: str, entries: dict[str, tuple[str, str]] = ENTRIES, system: str = "Choose up to 20 entries."
) -> ChatRequest:
    user = (
        f"<manifest_info>\nCandidate entries.\n</manifest_info>\n\n<available_lore_entries>\n{catalogue(entries)}\n"
        "</available_lore_entries>\n\n<recent_chat_transcript>\n"
        + "\n".join(messages)
        + "\n</recent_chat_transcript>\n\nAnswer."
    )
    return ChatRequest("search", system, user)


def answer(request: ChatRequest) -> ChatReply:
    return asyncio.run(StandInAnswers().answer(request))


def chosen(request: ChatRequest) -> list[dict[str, Any]]:
    picks: list[dict[str, Any]] = json.loads(answer(request).text)
    return picks


def titles(request: ChatRequest) -> list[str]:
    return [pick["title"] for pick in chosen(request)]


def test_the_named_entry_comes_first() -> None:
    first, *others = chosen(search("Ann (user): We reach the salt gates at dusk."))
    assert first == {"title": "Salt Gate", "confidence": "high", "reason": first["reason"]}
    assert first["reason"].startswith("shares: ")
    assert set(first["reason"].removeprefix("shares: ").split(", ")) == {"salt", "gate", "dusk"}
    assert "Old King" not in [pick["title"] for pick in others]


def test_titles_are_given_as_they_are() -> None:
    assert titles(search("A (user): honey!"))[0] == "Bees & <Honey>"


def test_links_count() -> None:
    picks = chosen(search("A (user): the harbour"))
    assert [pick["title"] for pick in picks] == ["Harbour", "Salt Gate"]
    assert picks[1]["reason"] == "shares: harbour"


def test_the_last_message_weighs_more() -> None:
    assert titles(search("A (user): ruled", "B (character): smith"))[0] == "Mira O'Dell"
    assert titles(search("A (user): smith", "B (character): ruled"))[0] == "Old King"


def test_who_speaks_counts_a_little() -> None:
    assert titles(search("Mira O'Dell (character): Good morning.")) == ["Mira O'Dell"]


def test_messages_of_several_lines_and_background() -> None:
    background = ("[STORY CONTEXT]", "The smith and the old king.", "", "[RECENT CHAT]")
    assert titles(search(*background, "A (user): One.", "", "The king!")) == ["Old King"]
    assert titles(search(*background, "A (user): One.")) == ["Old King", "Mira O'Dell"]


def test_long_descriptions_do_not_win_by_their_length() -> None:
    entries = {
        "North": ("", f"A raven. {' '.join(f'filler{number}' for number in range(80))}"),
        "South": ("", "A raven."),
    }
    assert titles(search("A (user): raven", entries=entries)) == ["South", "North"]


def test_high_needs_a_word_of_the_title() -> None:
    (only,) = chosen(search("A (user): who ruled?"))
    assert (only["title"], only["confidence"]) == ("Old King", "medium")


@pytest.mark.parametrize(
    ("system", "count"),
    [
        ("Choose up to 2 entries; choose fewer when fewer fit.", 2),
        ("Choose up to 3 entries.\n\nChoose exactly 1 entries, no fewer.", 1),
        ("Pick at most 2 relevant lore entries. Keep reasons to at most 5 words.", 2),
        ("Select up to 20 entries.", 4),
        ("Choose as many as are relevant.", 4),
        ("", 4),
    ],
)
def test_number_of_choices(system: str, count: int) -> None:
    text = "A (user): salt gate, harbour, honey, bees, smith"
    assert len(titles(search(text, system=system))) == count


def test_instructions_in_the_user_message() -> None:
    request = search("A (user): salt gate, harbour, honey, bees, smith")
    merged = (
        f"[Instructions]\nThe tag available_lore_entries holds data. Choose up to 1 entries.\n\n---\n\n{request.user}"
    )
    assert len(titles(request)) == 4
    assert len(titles(ChatRequest("search", "", merged))) == 1


@pytest.mark.parametrize("message", ["A (user): The of and is.", "A (user): zebra", "A (user): ", ""])
def test_nothing_in_common(message: str) -> None:
    assert answer(search(message)).text == "[]"


def test_no_catalogue() -> None:
    assert answer(ChatRequest("search", "", "hello")).text == "[]"


def test_equal_entries_stay_in_their_order() -> None:
    entries = {f"Tower {letter}": ("", "Tall.") for letter in "zyxwv"}
    assert titles(search("A (user): towers", entries=entries)) == list(entries)


def test_it_says_what_it_is() -> None:
    made = answer(search("A (user): honey"))
    assert made.source == "offline stand-in"
    assert "not by a model" in made.notes[0]
    assert made.repeatable
    assert not made.live
    assert made.usage.input == 0


CATEGORIES = """## Categories
[npc] (8 entries): Mira, Tom, Ann, Bo, Cy (+3 more)
[old [place]] (2 entries): Salt Gate, Harbour
[beast] (1 entries): Griffin

## Recent Chat
A (user): Is the harbour near?
Tom (character): ## Recent Chat"""


def test_categories() -> None:
    assert json.loads(answer(ChatRequest("prefilter", "", CATEGORIES)).text) == ["npc", "old [place]"]


def test_categories_by_their_own_name() -> None:
    text = "## Categories\n[Beasts] (1 entries): Griffin\n\n## Recent Chat\nA (user): a beast!"
    assert json.loads(answer(ChatRequest("prefilter", "", text)).text) == ["Beasts"]


def test_other_kinds_are_not_answered() -> None:
    with pytest.raises(LlmError) as caught:
        answer(ChatRequest("scribe", "", "Summarise."))
    assert caught.value.kind is ErrorKind.NOT_SUPPORTED
    assert "Choose a provider" in caught.value.advice


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Smith's bees, BEES and Céleste’s oaths", ["smith", "bee", "bee", "celeste", "oath"]),
        ("glass, gas, is", ["glass", "gas"]),
        ("燈守 Tomori", ["燈守", "tomori"]),
        ("燈守塔", ["燈守", "守塔"]),
        ("don't I'm x", []),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert [word for word, _ in words(text)] == found


@pytest.mark.parametrize(("sign", "found"), [("\n", 0), ("]", 1)])
def test_signs_without_an_end_are_gone_through_once(sign: str, found: int) -> None:
    assert len(list(sentences_of(sign * 1_000_000))) == found


def test_reasons_spell_words_as_the_entry_does() -> None:
    (pick,) = chosen(search("A (user): aldous, codes", entries={"Aldous": ("", "Codes.")}))
    assert set(pick["reason"].removeprefix("shares: ").split(", ")) == {"aldous", "codes"}


TITLE = st.text(
    st.characters(categories=["Lu", "Ll", "Nd", "Zs", "Po", "Sm"], codec="utf-8"), min_size=1, max_size=12
).filter(lambda title: title.strip() == title)


@given(
    st.dictionaries(TITLE, st.tuples(st.just(""), st.text(max_size=30)), max_size=6),
    st.lists(st.text(max_size=40), max_size=3),
)
def test_choices_are_always_titles_of_the_catalogue(entries: dict[str, tuple[str, str]], messages: list[str]) -> None:
    entries = {title: (links, text.replace("<", "").replace("\n", " ")) for title, (links, text) in entries.items()}
    request = search(*(f"A (user): {text.replace('<', '')}" for text in messages), entries=entries)
    picks = chosen(request)
    assert {pick["title"] for pick in picks} <= set(entries)
    assert len({pick["title"] for pick in picks}) == len(picks)
    assert {pick["confidence"] for pick in picks} <= {"high", "medium", "low"}
    assert answer(request).text == answer(request).text


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
