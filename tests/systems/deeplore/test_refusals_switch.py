"""The one behaviour switch outside of generations (rules: deeplore-tools 1.8, 7 row 11)."""

from __future__ import annotations

import asyncio

import pytest

from lorestudio.domain.chat import Chat, Message
from lorestudio.domain.state import AiState, ChatControls
from lorestudio.llm.errors import LlmError, failed, timed_out
from lorestudio.llm.messages import ChatReply, ChatRequest
from lorestudio.settings.behaviour import fixed
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.systems.deeplore.scribe import ChatNotes, NotesDesk, SessionNotes

CHAT = Chat((Message("U", "Hello.", is_user=True), Message("Ann", "Hello.")), "U", "Ann")


class Refusing:
    """An answer source that always fails in the same way."""

    name = label = "refusing"

    def __init__(self, error: LlmError) -> None:
        self.error = error

    async def answer(self, _request: ChatRequest) -> ChatReply:
        raise self.error


@pytest.mark.parametrize(
    ("status", "switch", "failures"),
    [(401, "", 1), (429, "", 1), (401, "tool_failures", 0), (429, "tool_failures", 0), (500, "tool_failures", 1)],
)
def test_refusals_of_the_scribes_calls(status: int, switch: str, failures: int) -> None:
    desk = NotesDesk(ChatNotes("chat", CHAT, ChatControls()))
    tools = SessionNotes(
        desk, Refusing(failed("no", status)), DeepLoreSettings(enabled=True), fixed([switch] if switch else [])
    )
    (record,) = asyncio.run(tools.summarize()).records
    assert desk.notes.ai.failures == failures
    changed = bool(switch) and status != 500  # a server error counts either way
    assert record.switches == (("tool_failures",) if changed else ())
    assert ("Because tool_failures is fixed" in record.text) is changed


@pytest.mark.parametrize(("probe_ms", "switches"), [(None, ()), (0, ("probe_leak",))])
def test_a_probe_that_is_given_back(probe_ms: int | None, switches: tuple[str, ...]) -> None:
    """A probe that is lost, so that the next call takes it up, or none: only then something is different."""
    ai = AiState(failures=2, last_failure_ms=0, probe_ms=probe_ms) if probe_ms is not None else AiState()
    desk = NotesDesk(ChatNotes("chat", CHAT, ChatControls(), ai))
    tools = SessionNotes(desk, Refusing(timed_out(5000)), DeepLoreSettings(enabled=True), fixed(["probe_leak"]))
    (record,) = asyncio.run(tools.summarize()).records
    assert (record.switches, desk.notes.ai.probe_ms) == (switches, None)
