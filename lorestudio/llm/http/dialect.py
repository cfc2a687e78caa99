"""How an API spells a request, and the replies of many read as one (rules: deeplore-tools 1.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct, field

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import objects_in, parse_json, spell
from lorestudio.llm.messages import ChatRequest, TokenUsage

_INPUT: Final = ("input_tokens", "prompt_tokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT: Final = ("output_tokens", "completion_tokens", "candidatesTokenCount", "eval_count")


class ReadAnswer(Struct, frozen=True):
    """A reply's text, the parsed value where the provider gave one, the tokens, and why it ended.

    `bare`: the reply has no known shape, so that the text is that of its JSON.
    """

    text: str
    value: Json = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    finish: str = ""
    bare: bool = False


def read_body(text: str) -> Json:
    """The value of a provider's JSON. Raises ValueError, also for what could not be spelled again, such as 1e999."""
    body = parse_json(text)
    spell(body)
    return body


def read_answer(body: Json) -> ReadAnswer:
    """The answer in a provider's reply; an object of no known shape is its own JSON text."""
    if isinstance(body, str):
        return ReadAnswer(body)
    if not isinstance(body, Mapping):
        return ReadAnswer(spell(body), value=body, bare=True)
    usage = read_usage(body)
    finish = _finish(body)
    for block in objects_in(body.get("content")):
        if block.get("type") == "tool_use" and "input" in block:
            return ReadAnswer(spell(block["input"]), block["input"], usage, finish)
    text = _text(body)
    return ReadAnswer(spell(body) if text is None else text, None, usage, finish, text is None)


def empty_answers(body: Json) -> str:
    """The field for answers where a reply has it and it holds none, "" where an answer can be read."""
    if not isinstance(body, Mapping) or _text(body) is not None:
        return ""
    return next((name for name in ("choices", "candidates") if name in body and not body[name]), "")


def read_usage(body: Mapping[str, Json]) -> TokenUsage:
    """Tokens as reported under any of the known names; 0 where nothing is reported."""
    reported = next((part for name in ("usage", "usageMetadata") if isinstance(part := body.get(name), Mapping)), body)
    return TokenUsage(_count(reported, _INPUT), _count(reported, _OUTPUT))


def read_problem(body: Json) -> tuple[str, int | None] | None:
    """The message and status of an error that a provider reports in a body, None where the body is no error."""
    if not isinstance(body, Mapping):
        return None
    problem = body.get("error")
    if not problem and body.get("type") == "error":
        problem = body
    if not problem:
        return None
    return _message(problem), _status(problem)


def problem_text(body: Json) -> str:
    """The message in the body of a refused request, whatever its shape."""
    problem = read_problem(body)
    if problem:
        return problem[0]
    if isinstance(body, Mapping):
        return next((_message(part) for name in ("message", "detail", "msg") if (part := body.get(name))), spell(body))
    return body if isinstance(body, str) else spell(body)


def _message(problem: Json) -> str:
    """The words of an error, with its type in front where that says more."""
    if not isinstance(problem, Mapping):
        return problem if isinstance(problem, str) else spell(problem)
    inner = next((part for name in ("message", "error", "detail") if (part := problem.get(name))), None)
    if inner is None:
        return spell(problem)
    words = _message(inner)
    kinds = [
        kind for name in ("type", "code", "status")
        if isinstance(kind := problem.get(name), str) and kind not in ("error", "") and kind not in words
    ]  # fmt: skip
    return f"{words} ({', '.join(kinds)})" if kinds else words


def _status(problem: Json) -> int | None:
    if not isinstance(problem, Mapping):
        return None
    for name in ("code", "status", "status_code"):
        value = problem.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _text(body: Mapping[str, Json]) -> str | None:
    """The first text found in one of the known places, None where there is none."""
    for read in (_chosen, _gemini, _message_text, _blocks):
        text = read(body)
        if text is not None:
            return text
    return next(
        (text for name in ("content", "text", "output_text", "response") if (text := _string(body.get(name)))), None
    )


def _chosen(body: Mapping[str, Json]) -> str | None:
    """Chat completions, and the older completions with a plain text."""
    for choice in objects_in(body.get("choices")):
        message = choice.get("message")
        if isinstance(message, Mapping):
            return _content(message.get("content")) or _string(message.get("refusal")) or ""
        return _string(choice.get("text"))
    return None


def _gemini(body: Mapping[str, Json]) -> str | None:
    for candidate in objects_in(body.get("candidates")):
        content = candidate.get("content")
        return _parts(content.get("parts")) if isinstance(content, Mapping) else ""
    for name in ("responseContent", "content"):
        holder = body.get(name)
        if isinstance(holder, Mapping) and "parts" in holder:
            return _parts(holder["parts"])
    return None


def _message_text(body: Mapping[str, Json]) -> str | None:
    """Ollama's own chat format."""
    message = body.get("message")
    return _content(message.get("content")) if isinstance(message, Mapping) else None


def _blocks(body: Mapping[str, Json]) -> str | None:
    """Anthropic's blocks: the first one of text counts; a reply may hold nothing but thoughts."""
    blocks = body.get("content")
    if not isinstance(blocks, list):
        return None
    return next((text for block in objects_in(blocks) if isinstance(text := block.get("text"), str)), "")


def _content(content: Json) -> str | None:
    """The text of a message that is a string or a list of parts."""
    return content if isinstance(content, str) else _parts(content)


def _parts(parts: Json) -> str:
    """The joined texts of parts, thoughts left out."""
    return "".join(
        text for part in objects_in(parts) if not part.get("thought") and isinstance(text := part.get("text"), str)
    )


def _finish(body: Mapping[str, Json]) -> str:
    for choice in (*objects_in(body.get("choices")), *objects_in(body.get("candidates")), body):
        for name in ("finish_reason", "finishReason", "stop_reason", "done_reason"):
            value = choice.get(name)
            if isinstance(value, str):
                return value.lower() if value != "MAX_TOKENS" else "length"
    return ""


def _string(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _count(reported: Mapping[str, Json], names: tuple[str, ...]) -> int:
    for name in names:
        value = reported.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return 0


class Habits(Struct, frozen=True):
    """What a server accepts; learned from its refusals, so that each is met once and not on every request."""

    schema: bool = True
    old_token_limit: bool = True
    stream_usage: bool = True


class StreamPiece(Struct, frozen=True):
    """One event of a streamed reply: a piece of text, and what else it says; None and "" where it says nothing."""

    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish: str = ""
    last: bool = False


class Dialect(Protocol):
    """One kind of API; each is a class below this one."""

    def address(self, base: str) -> str:
        """The full address for requests, from the one in the profile."""
        parts = urlsplit(base)
        return urlunsplit((parts.scheme, parts.netloc, self.path(parts.path.rstrip("/")), parts.query, ""))

    def path(self, base: str) -> str:
        """The path of requests, from that of the address in the profile, without a slash at its end."""

    def key_header(self, key: str) -> tuple[str, str]:
        """Name and value of the header that carries the key."""

    def headers(self) -> Mapping[str, str]:
        """Headers of every request, without the key; none where the API asks for nothing special."""
        return {}

    def body(self, request: ChatRequest, model: str, max_tokens: int, habits: Habits, *, stream: bool) -> Json:
        """The JSON body."""

    def piece(self, event: Mapping[str, Json]) -> StreamPiece:
        """What one event of a stream says."""

    def learn(self, refusal: str, habits: Habits) -> Habits | None:
        """Other habits that a refused request should be tried with, None where there is nothing to change."""

    def answer(self, body: Json) -> ReadAnswer:
        """The answer in a whole reply: any known shape, since gateways pass foreign ones through."""
        return read_answer(body)


class Gathering(Struct):
    """A streamed reply so far."""

    text: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    finish: str = ""
    complete: bool = False

    def add(self, piece: StreamPiece) -> None:
        """Take in one event."""
        self.text += piece.text
        self.usage = TokenUsage(
            self.usage.input if piece.input_tokens is None else piece.input_tokens,
            self.usage.output if piece.output_tokens is None else piece.output_tokens,
        )
        self.finish = piece.finish or self.finish
        # Some servers end after the reason and send no closing event.
        self.complete = self.complete or piece.last or bool(piece.finish)
