from lorestudio.domain.records import replace
from lorestudio.llm.http.apis import AnthropicMessages, OpenAiCompatible
from lorestudio.llm.http.dialect import Habits
from lorestudio.llm.messages import ChatRequest

PLAIN = ChatRequest("recap", "Be brief.", "Text.", model="m")
FULL = replace(PLAIN, before=(("user", "a"), ("assistant", "b"), ("system", "c")), prefill="So: ")


def spoken(dialect, request):
    body = dialect.body(request, "m", 10, Habits(), stream=False)
    return [(message["role"], message["content"]) for message in body["messages"]]


def test_messages_before_the_question_and_the_answers_beginning():
    assert spoken(OpenAiCompatible(), FULL) == [
        ("system", "Be brief."), ("user", "a"), ("assistant", "b"), ("system", "c"), ("user", "Text."),
        ("assistant", "So: "),
    ]  # fmt: skip


def test_anthropic_has_no_system_among_messages_and_no_blank_at_the_end_of_a_prefill():
    assert spoken(AnthropicMessages(), FULL) == [
        ("user", "a"), ("assistant", "b"), ("user", "c"), ("user", "Text."), ("assistant", "So:"),
    ]  # fmt: skip
    assert spoken(AnthropicMessages(), replace(FULL, json_schema={"type": "object"}))[-1] == ("user", "Text.")


def test_they_decide_the_answer_and_so_the_digest():
    assert len({PLAIN.digest, FULL.digest, replace(FULL, prefill="").digest, replace(FULL, before=()).digest}) == 4
    assert FULL.texts == ("Be brief.", "a", "b", "c", "Text.", "So: ")
