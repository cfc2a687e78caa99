"""A request that went through, with its answer, as the endpoint saw it: bytes as they came, and no key once it is kept.

What is kept has header names without values, parameters of the address without values, and a body in which keys of the
request, the endpoint's token and long runs of base64 (pictures) are replaced (rules: live-capture 3).
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

from lorestudio.llm.redaction import MASK, hide_known, redact

MAX_REPLY: Final = 8 * 1024 * 1024
"""Bytes of a reply that are kept; the rest only passes through."""

_SHORTEST_KEY: Final = 8
"""What stands for no key, such as "none" or "test", is shorter, and blanking it would spoil the story's text."""

_SECRET_NAME: Final = re.compile(r"auth|key|token|secret|cookie|pass", re.IGNORECASE)
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
        found = [value for name, value in self.headers if _SECRET_NAME.search(name.decode("latin-1"))]
        texts = [value.decode("latin-1").partition(" ")[2] or value.decode("latin-1") for value in found]
        for part in self.query.split("&"):
            name, _, value = part.partition("=")
            if _SECRET_NAME.search(name):
                texts += [value, unquote(value)]
        return tuple(text.strip() for text in texts if len(text.strip()) >= _SHORTEST_KEY)

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


def _picture_words(found: re.Match[str]) -> str:
    data = found[0].encode("ascii")
    return f"‹{len(data)} characters of base64, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}›"


def _value(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> str:
    return next((value.decode("latin-1").strip().lower() for key, value in headers if key.lower() == name), "")


def _plain(data: bytes, encoding: str) -> tuple[bytes, str]:
    """The body without its encoding. What breaks off is read as far as it goes."""
    if encoding in {"", "identity"}:
        return data, ""
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        return b"", f"the answer is packed as “{encoding}”, which is not read here; it went through unchanged"
    for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):  # with a head of gzip or zlib, then bare deflate
        unpacker = zlib.decompressobj(window)
        try:
            return unpacker.decompress(data, MAX_REPLY), ""
        except zlib.error:
            continue
    return b"", f"the answer says that it is packed as “{encoding}”, and is not"
