"""A request that went through, with its answer: bytes as the endpoint saw them, and the prompt and replies in them.

What is kept has no key: header names without values, parameters of the address without values, and a body in which keys
of the request, the endpoint's token and long runs of base64 (pictures) are replaced (rules: live-capture 3). Read are
the bodies that SillyTavern 1.18 sends: chat completion as OpenAI, Anthropic and Google spell it, and text completion of
local servers, KoboldAI and Ollama.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

import brotli
from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import items_in, objects_in, parse_json, spell, text_in
from lorestudio.domain.records import Terse, grouped
from lorestudio.llm.redaction import MASK, hide_known, redact

MAX_REPLY: Final = 8 * 1024 * 1024
"""Bytes of a reply that are kept; the rest only passes through."""

_SHORTEST_KEY: Final = 8
"""What stands for no key, such as "none" or "test", is shorter, and blanking it would spoil the story's text."""

_SECRET_NAME: Final = re.compile(r"auth|key|token|secret|cookie|pass", re.IGNORECASE)
_KEY: Final = re.compile(
    r"(?<!\S)(?:(?:sk|gsk|hf|xai)[-_]\S{4,}|eyJ[\w.-]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?!/)(?=\S*\d)(?=\S*[A-Za-z])[\w+/=]{20,})(?!\S)"
)
"""A word that looks like a key, whatever its header is called; models' names, addresses and types do not."""

_PICTURE: Final = re.compile(r"[A-Za-z0-9+/]{1024,}={0,2}")
_GENERATE: Final = (
    re.compile(r"/chat/completions$|/completions?$|/messages$|/api/generate$|/v1/generate$|/generate/stream$"),
    re.compile(r":(?:stream)?[gG]enerateContent$"),
)
_MODELS: Final = re.compile(
    r"/models(?:/info)?$|/model/list$|/v1/model$|/api/tags$|/info/version$|/extra/version$|/props$|/info$"
)


class ExchangeEnd(StrEnum):
    """How an exchange ended."""

    COMPLETE = "complete"
    CLIENT_LEFT = "client_left"
    CUT = "cut"
    UNREACHABLE = "unreachable"


ENDING_WORDS: Final = {
    ExchangeEnd.COMPLETE: "answered",
    ExchangeEnd.CLIENT_LEFT: "stopped by the front end",
    ExchangeEnd.CUT: "cut off by the provider: the front end may wait until it is stopped",
    ExchangeEnd.UNREACHABLE: "the provider did not answer",
}


@dataclass(slots=True)
class Exchange:
    """One request below the token, with what came back. Times are in milliseconds since 1970, by this machine's clock.

    `path` is what stands behind the token, without parameters; `headers` and `answer_headers` are as they came, keys
    included, so an exchange is never written as it is: see `kept_text`. `rest_not_kept`: the answer was longer than
    MAX_REPLY.
    """

    method: str
    path: str
    query: str = ""
    auxiliary: bool = False
    headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    started_ms: int = 0
    first_byte_ms: int | None = None
    finished_ms: int = 0
    status: int = 0
    reason: str = ""
    answer_headers: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)
    answer: bytearray = field(default_factory=bytearray, repr=False)
    rest_not_kept: bool = False
    ending: ExchangeEnd = ExchangeEnd.COMPLETE
    problem: str = ""
    _begun: float = field(default_factory=time.monotonic, repr=False)

    @property
    def now_ms(self) -> int:
        """The time by the clock that it started by, which may have been set since."""
        return self.started_ms + round(1000 * (time.monotonic() - self._begun))

    @property
    def generates(self) -> bool:
        """Whether it asks for text; counting tokens, lists of models and embeddings only pass through."""
        return self.method == "POST" and any(each.search(self.path) for each in _GENERATE)

    @property
    def asks_models(self) -> bool:
        """Whether it is what a front end asks when it connects."""
        return self.method == "GET" and _MODELS.search(self.path) is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """Whatever in headers or address may be a key, scheme words such as `Bearer` left out."""
        texts: list[str] = []
        for name, value in ((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers):
            known = _SECRET_NAME.search(name) or value.lower().startswith("bearer ")
            texts += _secrets(value) if known else _KEY.findall(value)
        for part in self.query.split("&"):
            name, _, value = part.partition("=")
            if _SECRET_NAME.search(name) or _KEY.fullmatch(unquote(value)):
                texts += [value, unquote(value)]
        return tuple(text.strip() for text in texts if len(text.strip()) >= _SHORTEST_KEY)

    def told(self, text: str, token: str) -> str:
        """What names the exchange or says what came of it, as it may be shown and kept: nothing like a key is left."""
        return redact(text, (*self.keys, token))

    def kept_text(self, data: bytes, token: str) -> str:
        """A body as it may be kept: without keys and token, pictures as their size and SHA-256."""
        text = data.decode("utf-8", "replace")
        text = hide_known(text, (*self.keys, token))
        return _PICTURE.sub(_picture_words, text)

    def kept_answer(self, token: str) -> tuple[str, str]:
        """The answer as it may be kept, and why it cannot be read where it cannot. Problems are searched for keys."""
        data, why = _plain(bytes(self.answer), _value(self.answer_headers, b"content-encoding"))
        text = self.kept_text(data, token)
        return (redact(text) if self.status >= 400 else text), why

    @property
    def kept_query(self) -> str:
        """The names of the address' parameters."""
        return "&".join(f"{part.partition('=')[0]}={MASK}" for part in self.query.split("&") if part)


def _secrets(value: str) -> Iterator[str]:
    """What a header's value may hold: the words behind its scheme, and the password that `Basic` packs."""
    scheme, *words = value.split() or [""]
    yield from words or [scheme]
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):  # it is no base64
            user, _, password = base64.b64decode("".join(words)).decode().partition(":")
            yield password or user


def _picture_words(found: re.Match[str]) -> str:
    data = found[0].encode("ascii")
    return f"‹{len(data)} characters of base64, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}›"


def _value(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1").strip().lower() for key, value in headers if key.lower() == name), "")


def _plain(data: bytes, encoding: str) -> tuple[bytes, str]:
    """The body without its encoding. What breaks off is read as far as it goes."""
    if encoding in {"", "identity"}:
        return data, ""
    try:
        if encoding == "br":  # which SillyTavern asks for
            made = brotli.Decompressor()
            if (text := made.process(data, output_buffer_limit=MAX_REPLY)) or made.is_finished():
                return text, ""
        elif encoding in {"gzip", "x-gzip", "deflate"}:
            return _inflated(data), ""
        else:
            return b"", f"the answer is packed as “{encoding}”, which is not read here; it went through unchanged"
    except (brotli.error, zlib.error):
        pass
    return b"", f"the answer says that it is packed as “{encoding}”, and is not"


def _inflated(data: bytes) -> bytes:
    """Raises zlib.error for what has neither a head of gzip or zlib, nor is bare deflate."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MAX_REPLY)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, MAX_REPLY)


TEXT: Final = "text"
"""The role of a prompt that is one text."""


class SentMessage(Terse, frozen=True):
    """One message as it was sent, its parts joined; a picture is a part without text."""

    unprinted = ("text",)

    role: str
    text: str


class SentPrompt(Struct, frozen=True):
    """What a request asked. `schema` is the name of the JSON schema that the answer must fit, `tools` their names."""

    messages: tuple[SentMessage, ...] = ()
    model: str = ""
    schema: str = ""
    tools: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it is one text instead of messages."""
        return len(self.messages) == 1 and self.messages[0].role == TEXT


def read_prompt(body: str) -> SentPrompt:
    """The prompt of a request's body. Raises ValueError saying what is wrong with it."""
    item = _object(parse_json(body))
    messages = tuple(_messages(item))
    if not messages:
        raise ValueError("there is neither a conversation nor a prompt in it")
    return SentPrompt(messages, text_in(item.get("model")), _schema(item), tuple(_tools(item)))


def _messages(item: Mapping[str, Json]) -> Iterator[SentMessage]:
    system = item.get("system")
    if isinstance(system, str | list):
        for text in [system] if isinstance(system, str) else map(_text, system):
            yield SentMessage("system", text)
    instruction = item.get("systemInstruction", item.get("system_instruction"))
    if isinstance(instruction, Mapping):
        yield from (SentMessage("system", _text(part)) for part in items_in(instruction.get("parts")))
    for each in items_in(item.get("messages", item.get("contents"))):
        message = _object(each)
        role = message.get("role")
        content = message.get("content", message.get("parts"))
        spoken = {"model": "assistant"}.get(role, role) if isinstance(role, str) else "user"
        yield SentMessage(spoken, _text(content))
    prompt = item.get("prompt")
    if isinstance(prompt, str):
        yield SentMessage(TEXT, prompt)
    elif isinstance(prompt, list) and all(isinstance(each, str) for each in prompt):
        yield SentMessage(TEXT, "\n".join(str(each) for each in prompt))


def _text(content: Json) -> str:
    """The text of a message's content, its parts joined as SillyTavern joins blocks; of a call of a tool its input."""
    found: list[str] = []
    left: list[Json] = [content]
    while left:
        part = left.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping) and part.get("type") == "tool_use":
            found.append(spell(part.get("input")))
        elif (
            isinstance(part, Mapping) and part.get("thought") is not True
        ):  # Google's models think in parts of their own
            left.append(part.get("text", part.get("content")))
        elif isinstance(part, list):
            left += reversed(part)
    return "\n\n".join(filter(None, found))


def _schema(item: Mapping[str, Json]) -> str:
    """The name of the schema that the answer has; Anthropic's models get it as a tool that must be called."""
    wanted, tool = item.get("response_format"), item.get("tool_choice")
    schema = wanted.get("json_schema") if isinstance(wanted, Mapping) else tool
    return text_in(schema.get("name") if isinstance(schema, Mapping) else None)


def _tools(item: Mapping[str, Json]) -> Iterator[str]:
    for each in items_in(item.get("tools")):
        tool = each.get("function", each) if isinstance(each, Mapping) else None
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if isinstance(name, str):
            yield name


def read_replies(answer: str) -> tuple[str, ...]:
    """The texts of an answer, one for each choice, streamed or whole; empty where there is none in it.

    What breaks off is read as far as it goes.
    """
    text = answer.strip()
    if not text:
        return ()
    try:
        events: Sequence[Json] = [parse_json(text)]
    except ValueError:
        events = list(_events(text))
    pieces = grouped(found for event in objects_in(events) for found in _pieces(event))
    return tuple("".join(pieces[place]) for place in sorted(pieces))


def _events(text: str) -> Iterator[Json]:
    """Events of a stream: `data:` lines, or a JSON object a line."""
    for line in re.split(r"[\r\n]+", text):  # a text may hold other ends of lines, unescaped
        data = line.removeprefix("data:").strip() if line.startswith("data:") else line.strip()
        if data.startswith("{"):
            try:
                yield parse_json(data)
            except ValueError:
                continue


def _pieces(event: Mapping[str, Json]) -> Iterator[tuple[int, str]]:
    """What an event or a whole answer adds to which choice."""
    choices = items_in(event.get("choices")) or items_in(event.get("candidates"))
    for place, each in enumerate(choices):
        choice = each if isinstance(each, Mapping) else {}
        index = choice.get("index")
        said = choice.get("delta", choice.get("message", choice.get("content", choice.get("text"))))
        if isinstance(said, Mapping):
            said = said.get("content", said.get("parts"))
        if text := _text(said):
            yield (index if isinstance(index, int) else place), text
    if choices:
        return
    delta = event.get("delta")
    written = delta.get("text", delta.get("partial_json")) if isinstance(delta, Mapping) else None
    if isinstance(written, str):
        yield 0, written
    elif isinstance(event.get("results"), list):
        yield 0, "".join(map(_text, items_in(event["results"])))
    elif isinstance(event.get("content"), list):
        yield 0, "".join(map(_text, items_in(event["content"])))
    else:
        found = next((event[name] for name in ("content", "token", "response") if isinstance(event.get(name), str)), "")
        if isinstance(found, str) and found:
            yield 0, found


def _object(value: Json) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    raise ValueError("it is no object")
