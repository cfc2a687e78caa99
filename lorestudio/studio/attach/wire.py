"""What requests and answers on the wire say: messages of a prompt, and the texts of a reply.

Read are the bodies that SillyTavern 1.18 sends: chat completion as OpenAI, Anthropic and Google spell it, and text
completion of local servers, KoboldAI and Ollama.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json, spell

TEXT: Final = "text"
"""The role of a prompt that is one text."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message as it was sent, its parts joined; a picture is a part without text."""

    role: str
    text: str = field(repr=False)


class SentPrompt(Struct, frozen=True):
    """What a request asked. `schema` is the name of the JSON schema that the answer must fit, `tools` their names.

    `streamed` is None where the request does not say.
    """

    messages: tuple[SentMessage, ...] = ()
    model: str = ""
    streamed: bool | None = None
    schema: str = ""
    tools: tuple[str, ...] = ()
    max_tokens: int = 0

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
    tokens = item.get("max_tokens", item.get("max_completion_tokens"))
    model, stream = item.get("model"), item.get("stream")
    return SentPrompt(
        messages,
        model if isinstance(model, str) else "",
        stream if isinstance(stream, bool) else None,
        _schema(item),
        tuple(_tools(item)),
        tokens if isinstance(tokens, int) else 0,
    )


def _messages(item: Mapping[str, Json]) -> Iterator[SentMessage]:
    system = item.get("system")
    if isinstance(system, str | list):
        for text in [system] if isinstance(system, str) else map(_text, system):
            yield SentMessage("system", text)
    instruction = item.get("systemInstruction", item.get("system_instruction"))
    if isinstance(instruction, Mapping):
        yield from (SentMessage("system", _text(part)) for part in _list(instruction.get("parts")))
    for each in _list(item.get("messages", item.get("contents"))):
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
        elif isinstance(part, Mapping):
            left.append(part.get("text", part.get("content")))
        else:
            left += reversed(_list(part))
    return "\n\n".join(filter(None, found))


def _schema(item: Mapping[str, Json]) -> str:
    """The name of the schema that the answer has; Anthropic's models get it as a tool that must be called."""
    wanted, tool = item.get("response_format"), item.get("tool_choice")
    schema = wanted.get("json_schema") if isinstance(wanted, Mapping) else tool
    name = schema.get("name") if isinstance(schema, Mapping) else None
    return name if isinstance(name, str) else ""


def _tools(item: Mapping[str, Json]) -> Iterator[str]:
    for each in _list(item.get("tools")):
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
    pieces: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, Mapping):
            for place, piece in _pieces(event):
                pieces.setdefault(place, []).append(piece)
    return tuple("".join(pieces[place]) for place in sorted(pieces))


def _events(text: str) -> Iterator[Json]:
    """Events of a stream: `data:` lines, or a JSON object a line."""
    for line in text.splitlines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else line.strip()
        if data.startswith("{"):
            try:
                yield parse_json(data)
            except ValueError:
                continue


def _pieces(event: Mapping[str, Json]) -> Iterator[tuple[int, str]]:
    """What an event or a whole answer adds to which choice."""
    choices = _list(event.get("choices")) or _list(event.get("candidates"))
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
        yield 0, "".join(map(_text, _list(event["results"])))
    elif isinstance(event.get("content"), list):
        yield 0, "".join(map(_text, _list(event["content"])))
    else:
        found = next((event[name] for name in ("content", "token", "response") if isinstance(event.get(name), str)), "")
        if isinstance(found, str) and found:
            yield 0, found


def _object(value: Json) -> Mapping[str, Json]:
    if isinstance(value, Mapping):
        return value
    raise ValueError("it is no object")


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []
