"""What models send in place of what they were asked for."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from lorestudio.llm.messages import ChatReply
from lorestudio.studio.proposals.reading import (
    ReadKeys,
    ReadText,
    clean_keys,
    read_drafts,
    read_keys,
    read_summary,
    shortened,
)


@pytest.mark.parametrize(
    "answer",
    [
        "A fortress on the cliff.",
        "  A fortress\non the  cliff.\n",
        '"A fortress on the cliff."',
        "“A fortress on the cliff.”",
        "```\nA fortress on the cliff.\n```",
        "```text\nA fortress on the cliff.\n```",
        '{"summary": "A fortress on the cliff."}',
        '```json\n{"summary": "A fortress on the cliff."}\n```',
        '[{"summary": "A fortress on the cliff."}]',
        "Summary: A fortress on the cliff.",
        "**Summary:** A fortress on the cliff.",
        "## Summary\n\nA fortress on the cliff.",
        "# Dawnkeep\n\nA fortress on the cliff.",
        "<think>It is a place. Short then.</think>\nA fortress on the cliff.",
    ],
)
def test_a_summary_is_found_in_its_wrapping(answer: str) -> None:
    read = read_summary(ChatReply(answer))
    assert (read.text, read.problem, read.remarks) == ("A fortress on the cliff.", "", ())


def test_words_before_a_long_summary_go() -> None:
    body = "A fortress on the cliff, needed when somebody speaks of the siege."
    assert read_summary(ChatReply(f"Here is the summary you asked for:\n\n{body}")).text == body


def test_a_summary_that_only_begins_like_its_label_stays() -> None:
    text = "Summary executions were held here until the flood."
    assert read_summary(ChatReply(text)).text == text
    assert read_summary(ChatReply("He said: “no.”")).text == "He said: “no.”"


@pytest.mark.parametrize("answer", ["", "  \n ", "``` \n\n```", '""', "<think>I do not know"])
def test_an_empty_summary_is_a_problem(answer: str) -> None:
    read = read_summary(ChatReply(answer))
    assert not read.text
    assert "empty" in read.problem


def test_json_without_a_summary_is_a_problem() -> None:
    read = read_summary(ChatReply('{"title": "Dawnkeep"}'))
    assert not read.text
    assert "without a summary" in read.problem


def test_a_summary_that_is_too_long_ends_at_a_sentence() -> None:
    answer = "It stands on the cliff. " * 40
    read = read_summary(ChatReply(answer))
    assert len(read.text) == 599  # 25 sentences of 23 characters, 24 blanks
    assert read.text.endswith("cliff.")
    assert "959 characters" in read.remarks[0].text
    assert not read.remarks[0].serious


def test_a_summary_without_sentences_ends_at_a_word() -> None:
    text = read_summary(ChatReply("lamp " * 200)).text
    assert text == " ".join(["lamp"] * 120)
    assert len(read_summary(ChatReply("x" * 700)).text) == 600


def test_no_half_characters_are_left() -> None:
    assert shortened("🔥🔥🔥", 5) == "🔥🔥"  # a code unit more would be half a flame
    assert shortened("🔥🔥🔥", 6) == "🔥🔥🔥"


def test_a_summary_that_hit_the_reply_limit_is_doubtful() -> None:
    read = read_summary(ChatReply("A fortress on the", finish="length"))
    assert read.text == "A fortress on the"
    assert read.remarks[0].serious
    assert "limit" in read.remarks[0].text
    assert "settings" not in read.remarks[0].text  # no setting raises it


@pytest.mark.parametrize(
    ("answer", "finish", "words"),
    [
        ("I'm sorry, but I can't help with that.", "stop", "a refusal"),
        ("I cannot write about this.", "stop", "a refusal"),
        ("As an AI, I do not.", "stop", "a refusal"),
        ("A fortress on the", "content_filter", "filter"),
        ("The sorry lot of them are afraid: I cannot be seen.", "stop", ""),
        ("I cannoneer", "stop", ""),
    ],
)
def test_a_refusal_is_no_summary_to_accept_unseen(answer: str, finish: str, words: str) -> None:
    read = read_summary(ChatReply(answer, finish=finish))
    assert read.text == answer
    assert [words in remark.text and remark.serious for remark in read.remarks] == [True] * bool(words)
    for of in (read_summary, read_keys, lambda reply: read_drafts(reply)[0]):
        assert "filter" in of(ChatReply("", finish="content_filter")).problem


WANTED = ("Dawnkeep", "the Keep", "Salt Cliff")


@pytest.mark.parametrize(
    ("answer", "reasoning"),
    [
        ('{"suggested": ["Dawnkeep", "the Keep", "Salt Cliff"], "reasoning": "Short forms."}', "Short forms."),
        ('```json\n{"suggested": ["Dawnkeep", "the Keep", "Salt Cliff"], "reasoning": "Why."}\n```', "Why."),
        ('Sure! Here you are: {"suggested": ["Dawnkeep", "the Keep", "Salt Cliff"]} Enjoy!', ""),
        ('["Dawnkeep", "the Keep", "Salt Cliff"]', ""),
        ('{"keywords": ["Dawnkeep", "the Keep", "Salt Cliff"]}', ""),
        ('{"result": {"suggested": ["Dawnkeep", "the Keep", "Salt Cliff"]}}', ""),
        ('{"suggested": [{"key": "Dawnkeep"}, {"keyword": "the Keep"}, {"key": "Salt Cliff"}]}', ""),
        ('Here are the keys:\n- Dawnkeep\n- "the Keep"\n3. Salt Cliff\nTell me if you want more.', ""),
        ('{"suggested": ["Dawnkeep", "dawnkeep", " the Keep ", "“Salt Cliff”", "", null, 7]}', ""),
        ('<think>["no", "not", "these"]</think>{"suggested": ["Dawnkeep", "the Keep", "Salt Cliff"]}', ""),
    ],
)
def test_keys_are_found_in_their_wrapping(answer: str, reasoning: str) -> None:
    read = read_keys(ChatReply(answer))
    assert (read.keys, read.reasoning, read.problem) == (WANTED, reasoning, "")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "empty"),
        ("I would suggest Dawnkeep and the Keep.", "no JSON"),
        ('{"suggested": ["Dawnkeep", "the Ke', "not whole"),
        ('{"suggested": []}', "no"),
        ('{"suggested": "Dawnkeep"}', "no JSON"),
        ('[{"key": 1}]', "no JSON"),
        ('{"suggested": ["", "  "]}', "no key"),
        ('{"suggested": ["' + "x" * 201 + '"]}', "no key"),
    ],
)
def test_answers_without_keys_are_problems(answer: str, words: str) -> None:
    read = read_keys(ChatReply(answer))
    assert read.keys == ()
    assert words in read.problem


def test_too_many_keys_are_cut_and_too_few_are_doubtful() -> None:
    keys, remarks = clean_keys([f"key {number}" for number in range(14)])
    assert keys == tuple(f"key {number}" for number in range(10))
    assert [(remark.text, remark.serious) for remark in remarks] == [
        ("The answer has 14 keys; the first 10 were taken.", False)
    ]
    keys, remarks = clean_keys(["one", "two"])
    assert keys == ("one", "two")
    assert remarks[0].serious


def test_a_draft_is_found_alone_in_a_list_and_in_a_wrapping() -> None:
    item = '{"title": "Old Tam", "keys": ["Tam", "Old Tam", "ferry"], "summary": "A ferryman.", "content": "He rows."}'
    for answer in (item, f"[{item}]", f'{{"entries": [{item}]}}', f"Here:\n```json\n{item}\n```"):
        (read,) = read_drafts(ChatReply(answer))
        assert (read.title, read.keys, read.summary, read.content) == (
            "Old Tam", ("Tam", "Old Tam", "ferry"), "A ferryman.", "He rows.",
        )  # fmt: skip
        assert read.remarks == ()


def test_all_drafts_of_an_answer_are_read_each_title_once() -> None:
    def item(title: str, content: str = "Text.") -> str:
        return f'{{"title": "{title}", "keys": ["a", "b"], "content": "{content}"}}'

    listed = f"[{item('Old Tam')}, {item('old tam', 'Again.')}, {item('', 'x')}, {item('The Ferry')}]"
    drafts = read_drafts(ChatReply(listed))
    assert [(draft.title, draft.content) for draft in drafts] == [("Old Tam", "Text."), ("The Ferry", "Text.")]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "empty"),
        ("Old Tam is a ferryman.", "no JSON"),
        ('{"title": "Old Tam", "content": "He ro', "not whole"),
        ('{"title": "", "content": "x"}', "worth a note"),
        ('{"title": "Old Tam", "content": ""}', "no text"),
        ("[]", "no JSON"),
    ],
)
def test_answers_without_a_draft_are_problems(answer: str, words: str) -> None:
    (read,) = read_drafts(ChatReply(answer))
    assert words in read.problem


@pytest.mark.parametrize("levels", [21, 600])  # each level was looked into twice, and Python ends at a thousand
@pytest.mark.parametrize("read", [read_keys, read_summary])
def test_an_answer_nested_in_itself_is_read_once(read: Callable[[ChatReply], ReadKeys | ReadText], levels: int) -> None:
    begun = process_time()
    assert read(ChatReply('{"keys":' * levels + "[[5]]" + "}" * levels)).problem
    assert read(ChatReply("[" * levels + "5" + "]" * levels)) is not None
    assert process_time() - begun < 2
