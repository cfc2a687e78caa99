"""A model as the judge of what a reply has used: one question a reply, about all entries of its prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lorestudio.domain.chat import Chat, Generation
from lorestudio.domain.entry import VaultIndex
from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import values_in
from lorestudio.domain.records import Terse
from lorestudio.llm.cost import CostEstimate, estimate
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest
from lorestudio.studio.project.answering import load_recorded
from lorestudio.studio.project.project import Project
from lorestudio.studio.tuning.expectations import TurnOutcome

_SYSTEM: Final = (
    "You judge which background notes a reply of a role-play has made use of. A note was used where the reply states, "
    "follows or clearly rests on something that only the note says; a shared name alone is not enough. Answer with "
    'JSON only: {"used": [numbers of the notes that were used]}.'
)
_SCHEMA: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"used": {"type": "array", "items": {"type": "integer"}}},
    "required": ["used"],
    "additionalProperties": False,
}
_LONGEST: Final = 1_500
"""Characters of a note that are shown."""
_ANSWER_TOKENS: Final = 300
_TIMEOUT_MS: Final = 60_000


class UseQuestion(Terse, frozen=True):
    """A reply and the entries of its prompt, in the order of their numbers from 1."""

    unprinted = ("request",)

    generation: Generation
    entries: tuple[int, ...]
    request: ChatRequest


def use_questions(
    chat: Chat, index: VaultIndex, outcomes: Sequence[TurnOutcome], model: str = ""
) -> tuple[UseQuestion, ...]:
    """The questions about these replies; the reply to come, and one without notes, has none."""
    found = []
    for outcome in outcomes:
        entries = tuple(entry for entry, _ in outcome.injected if entry < len(index.entries))
        if not entries or outcome.message >= len(chat.messages):
            continue
        notes = [
            f"[{number}] {index.entries[entry].title}\n{index.entries[entry].content[:_LONGEST]}"
            for number, entry in enumerate(entries, 1)
        ]
        user = "\n\n".join(["Notes:", *notes, "Reply:", chat.messages[outcome.message].text])
        request = ChatRequest(
            "use", _SYSTEM, user, max_tokens=_ANSWER_TOKENS, timeout_ms=_TIMEOUT_MS, json_schema=_SCHEMA,
            schema_name="used_notes", model=model,
        )  # fmt: skip
        found.append(UseQuestion(Generation(outcome.message, outcome.swipe), entries, request))
    return tuple(found)


def use_cost(questions: Sequence[UseQuestion], project: Project) -> CostEstimate:
    """What asking costs; answers recorded beside the chat are free. Raises AnsweringError."""
    recorded = load_recorded(project.chat_path)
    return estimate([each.request for each in questions], project.bills, recorded.holds)


async def judged_use(answers: AnswerSource, questions: Sequence[UseQuestion]) -> dict[Generation, frozenset[int]]:
    """Ask about each reply, one after the other: the entries that it used.

    Raises LlmError where a question fails or its answer is not what was asked for. Answers are recorded by their
    source, so the same questions go on from there.
    """
    found = {}
    for question in questions:
        found[question.generation] = _read(question, await answers.answer(question.request))
    return found


def _read(question: UseQuestion, reply: ChatReply) -> frozenset[int]:
    for value in values_in(reply.text):
        numbers = value.get("used") if isinstance(value, Mapping) else None
        if isinstance(numbers, list):
            chosen = [number - 1 for number in numbers if isinstance(number, int)]
            return frozenset(question.entries[place] for place in chosen if 0 <= place < len(question.entries))
    about = f"the answer about reply #{question.generation.message} names no list “used”"
    raise LlmError(ErrorKind.INVALID_ANSWER, about)
