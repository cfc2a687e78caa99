"""Recorded answers: a request that was answered once is answered again from a file, exactly and for nothing.

The file `<chat>.answers.jsonl` lies beside the chat: one JSON object a line, added at the end and never rewritten. It
holds the digest of the request, not its text, and no keys. Of two lines with the same digest the later one counts. A
reply that holds nothing is not recorded, and one that an older file has does not count: it would be given again however
often a person asks. A second digest, without the tokens that entries have, finds an answer again when another tokenizer
counts; such an answer says so. A line that cannot be read is reported and stays where it is.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import parse_json, spell
from lorestudio.domain.records import picked, replace
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import AnswerSource, ChatReply, ChatRequest, TokenUsage
from lorestudio.settings.files import append_line, read_whole

FORMAT_VERSION: Final = 1
OTHER_FIGURES: Final = "The question was recorded with another tokenizer: it differs in the tokens of entries only."


def answers_path(chat: Path) -> Path:
    """The file of recorded answers that belongs to the chat file `chat`."""
    return chat.with_name(f"{chat.stem}.answers.jsonl")


class Recording(Struct, frozen=True):
    """The answers of a file by request digest, and what could not be read: file, line, reason and advice.

    `alike` are the same by the digest without token figures.

    `models` are the models that requests named, the one used last at the end.
    """

    replies: Mapping[str, ChatReply] = {}
    alike: Mapping[str, ChatReply] = {}
    problems: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class RecordedAnswers:
    """Answers from the file at `path`; what is not in it is asked of `fallback` and then recorded.

    With `fresh` the fallback is asked every time, and its new answers replace the recorded ones. Replies of a
    `repeatable` source are not recorded. The file is read when the first question comes, in a thread, as is writing:
    a new answer is on the disk before it is given. One instance serves all tasks and threads.
    """

    name: Final = "recorded"

    def __init__(self, path: Path, fallback: AnswerSource | None = None, *, fresh: bool = False) -> None:
        self.path = path
        self.fallback = fallback
        self.fresh = fresh
        self._lock = threading.Lock()
        self._read: Recording | None = None
        self._replies: dict[str, ChatReply] = {}
        self._alike: dict[str, ChatReply] = {}

    @property
    def label(self) -> str:
        """That answers are recorded ones, and who is asked for the others."""
        return f"recorded answers, else {self.fallback.label}" if self.fallback else "recorded answers"

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read; empty until the file has been read."""
        return self._read.problems if self._read else ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models that the file's requests named, the one used last at the end; empty until it has been read.

        A request names its model, so only a replay that names the same one finds its answers here.
        """
        return self._read.models if self._read else ()

    def load(self) -> None:
        """Read the file unless that is done. Raises OSError; blocks, so a window calls it from a worker."""
        with self._lock:
            if self._read is None:
                self._read = read_recording(self.path)
                self._replies, self._alike = dict(self._read.replies), dict(self._read.alike)

    def holds(self, request: ChatRequest) -> bool:
        """Whether an answer to `request` is recorded; False until the file has been read."""
        return self._found(request) is not None

    def _found(self, request: ChatRequest) -> ChatReply | None:
        """The recorded answer; one to a question that differs in token figures only says so."""
        if self.fresh:
            return None
        exact = self._replies.get(request.digest)
        if exact is not None or not self._alike:
            return exact
        alike = self._alike.get(request.digest_without_figures)
        return None if alike is None else replace(alike, notes=(*alike.notes, OTHER_FIGURES))

    async def answer(self, request: ChatRequest) -> ChatReply:
        """The recorded reply, else the fallback's. Raises LlmError, of kind `no_recorded_answer` without a fallback.

        A file that cannot be read is an error before anybody is asked. A new answer that cannot be written is given
        all the same, since it was paid for, and its notes say so.
        """
        problem = await _in_thread(self.load)
        if problem:
            raise LlmError(ErrorKind.NOT_SUPPORTED, f"{self.path}: {problem}", advice=self._advice(problem))
        recorded = self._found(request)
        if recorded is not None:
            return recorded
        if self.fallback is None:
            raise LlmError(
                ErrorKind.NO_RECORDED_ANSWER, f"no answer to this request of kind {request.kind} in {self.path.name}"
            )
        reply = await self.fallback.answer(request)
        if reply.repeatable or reply.is_empty:
            return reply
        problem = await _in_thread(lambda: self.record(request, reply))
        return replace(reply, notes=(*reply.notes, self._advice(problem))) if problem else reply

    def record(self, request: ChatRequest, reply: ChatReply) -> None:
        """Keep `reply` as the answer to `request`. Raises OSError; blocks until the disk has it."""
        digest = request.digest
        line = spell(_to_json(digest, request, reply), ascii_only=True).encode("ascii") + b"\n"
        with self._lock:
            _append(self.path, line)
            self._replies[digest] = self._alike[request.digest_without_figures] = _replayed(reply)

    def _advice(self, problem: str) -> str:
        return (
            f"The file of recorded answers {self.path} cannot be used ({problem}). "
            "Check folder, permissions and free space."
        )


async def _in_thread(work: Callable[[], None]) -> str:
    """Do `work` in a thread; what the system said where it failed, otherwise empty."""
    try:
        await asyncio.to_thread(work)
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""


def read_recording(path: Path) -> Recording:
    """Read a file of recorded answers; a missing one is empty. Raises OSError."""
    try:
        data = read_whole(path)
    except FileNotFoundError:
        return Recording()
    replies: dict[str, ChatReply] = {}
    alike: dict[str, ChatReply] = {}
    problems: list[str] = []
    models: dict[str, None] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            digest, like, model, reply = _from_json(parse_json(line.decode()))
        except ValueError as error:
            reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
            problems.append(
                f"{path}, line {number}: not a recorded answer ({reason}). It is passed over and stays in the file; "
                "its request will be asked again."
            )
            continue
        if model:
            models.pop(model, None)
            models[model] = None
        if reply.is_empty:
            continue
        replies[digest] = reply
        if like:
            alike[like] = reply
    return Recording(replies, alike, tuple(problems), tuple(models))


def _append(path: Path, line: bytes) -> None:
    """Add a line; a new file is for its owner only, and its folder names it for good."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    if is_new:
        path.touch(0o600)
    append_line(path, line)
    if is_new and hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)  # the new name itself
        finally:
            os.close(folder)


def _replayed(reply: ChatReply) -> ChatReply:
    """The reply as it is given later: the same words, at no cost and in no time."""
    return replace(reply, source=f"recorded from {reply.source}", duration_ms=0.0, live=False, repeatable=True)


def _to_json(digest: str, request: ChatRequest, reply: ChatReply) -> dict[str, Json]:
    written: dict[str, Json] = {
        "v": FORMAT_VERSION,
        "digest": digest,
        "alike": request.digest_without_figures,
        "kind": request.kind,
        **picked(reply, "source", "text", "duration_ms"),
        "usage": [reply.usage.input, reply.usage.output],
    }
    optional: dict[str, Json] = {"model": request.model, **picked(reply, "value", "finish", "notes", "raw")}
    return written | {name: value for name, value in optional.items() if value not in (None, "", ())}


def _from_json(line: Json) -> tuple[str, str, str, ChatReply]:
    """Digest, that without token figures, the request's model, and reply of a line. Raises ValueError saying what is
    wrong with it.
    """
    if not isinstance(line, Mapping):
        raise ValueError("it is no object")  # noqa: TRY004  # it is a wrong file
    version = line.get("v")
    if type(version) is not int or version > FORMAT_VERSION:
        raise ValueError(f'the field "v" is {version!r}, which is not known here')
    notes = line.get("notes", ())
    if not isinstance(notes, list | tuple) or not all(isinstance(note, str) for note in notes):
        raise ValueError('the field "notes" is no list of texts')
    reply = ChatReply(
        _text(line, "text"),
        _usage(line.get("usage")),
        _text(line, "source"),
        raw=_text(line, "raw", ""),
        value=line.get("value"),
        finish=_text(line, "finish", ""),
        notes=tuple(str(note) for note in notes),
    )
    return _text(line, "digest"), _text(line, "alike", ""), _text(line, "model", ""), _replayed(reply)


def _text(item: Mapping[str, Json], name: str, default: str | None = None) -> str:
    value = item.get(name, default)
    if isinstance(value, str):
        return value
    raise ValueError(f'the field "{name}" is no text')


def _usage(value: Json) -> TokenUsage:
    match value:
        case None:
            return TokenUsage()
        case [int(given), int(taken)]:
            return TokenUsage(given, taken)
    raise ValueError('the field "usage" is no pair of numbers')
