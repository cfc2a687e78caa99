"""What to do about a question that came to nothing."""

from __future__ import annotations

import pytest

from lorestudio.domain.records import replace
from lorestudio.llm.errors import LlmError, failed
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.systems.deeplore.ai.asking import on_record
from lorestudio.trace.model import Phase, StageRecord, Trace
from lorestudio.ui.features.trace.ai_page import remedy
from lorestudio.ui.features.trace.summary import Said
from tests.ui.worlds import make_trace

REQUEST = ChatRequest("search", "Choose.", "Which?", max_tokens=64, model="tiny")


def run(*, error: LlmError | None = None, reply: ChatReply | None = None, said: str = "it failed") -> Trace:
    """A run whose selection failed: at its question, at reading the reply, or without asking."""
    record = StageRecord("AI selection", Phase.SELECT, details={"error": said, "fallback": "keyword"}, note="ai_error")
    calls = (on_record(REQUEST, "Local", 1.0, merged=False, reply=reply, error=error),) if error or reply else ()
    return replace(make_trace(), stages=(record,), ai_calls=calls)


@pytest.mark.parametrize(
    ("status", "message", "told", "in_profile"),
    [
        (401, "no", "Check the key of the profile", True),
        (402, "no", "Check billing and limits", True),
        (404, "no", "Check the URL of the profile", True),
        (404, "model not found", "Check the model's name", True),
        (429, "no", "Wait a little and try again", False),
        (500, "no", "Try again later", False),
        (529, "no", "Try again in a minute", False),
    ],
)
def test_an_error_comes_with_what_to_do(status: int, message: str, told: str, in_profile: bool) -> None:
    cure = remedy(run(error=failed(message, status)))
    assert told in cure.text
    actions = [action for action, _title in cure.actions]
    assert actions == ["trace.ai", *(["profiles.edit"] if in_profile else []), "replay.here"]


def test_a_reply_that_was_cut_off_asks_for_more_room() -> None:
    note = "The reply was cut off at the limit of 64 tokens."
    cure = remedy(run(reply=ChatReply("[{", notes=(note,))))
    assert cure.text.startswith(note)
    assert "Raise the limit" in cure.text
    assert [action for action, _title in cure.actions] == ["trace.ai", "replay.fresh"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_reply_is_asked_for_again(text: str) -> None:
    cure = remedy(run(reply=ChatReply(text)))
    assert cure.text.startswith("The model answered with nothing.")
    assert [action for action, _title in cure.actions] == ["trace.ai", "replay.here"]


def test_a_reply_in_prose_is_to_be_read() -> None:
    assert remedy(run(reply=ChatReply("I am sorry."))).text.startswith("Read the reply")


def test_without_a_call_the_reason_advises() -> None:
    assert "Mend the first one" in remedy(run(said="AI search temporarily paused")).text
    assert (
        remedy(run()).text == "Check the connection and the model; “When the model fails” decides what goes in instead."
    )


def test_an_error_without_advice_of_its_own_has_that_of_the_reason() -> None:
    trace = run(error=failed("no", 500))
    older = replace(trace.ai_calls[0], details={**trace.ai_calls[0].details, "advice": ""})
    assert remedy(replace(trace, ai_calls=(older,))).text == remedy(run()).text


def test_a_run_without_failure_needs_nothing() -> None:
    assert remedy(make_trace()) == Said("", "error")
