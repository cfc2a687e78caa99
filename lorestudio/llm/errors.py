"""What can go wrong between a question and its answer, in words that say what to do next.

The order of kinds is DeepLore's (rules: deeplore-tools 1.10), and so is what trips the circuit breaker
(rules: deeplore 4.9; deeplore-tools 1.8).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from copy import copy
from enum import StrEnum
from typing import Final

from lorestudio.llm.redaction import cut, redact

SHOWN_LENGTH: Final = 120
"""Characters of a foreign message that a sentence quotes (rules: deeplore-tools 1.10)."""

THE_PROVIDER: Final = "the provider"

KEPT_LENGTH: Final = 2000
"""Characters of a foreign message that an error keeps."""


class ErrorKind(StrEnum):
    """Classes of failure. The last four never came near a provider."""

    ABORTED = "aborted"
    TIMED_OUT = "timed_out"
    THROTTLED = "throttled"
    AUTHENTICATION = "authentication"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    MODEL_UNKNOWN = "model_unknown"
    RATE_LIMITED = "rate_limited"
    INVALID_ANSWER = "invalid_answer"
    OVERLOADED = "overloaded"
    SERVER = "server"
    CONNECTION = "connection"
    UNKNOWN = "unknown"
    NO_RECORDED_ANSWER = "no_recorded_answer"
    NOT_SUPPORTED = "not_supported"
    NO_KEY = "no_key"
    NO_VECTORS = "no_vectors"


_SENTENCES: Final[Mapping[ErrorKind, tuple[str, str]]] = {
    ErrorKind.ABORTED: ("The request was cancelled.", "Run the generation again when you want an answer."),
    ErrorKind.TIMED_OUT: (
        "{who} did not answer in time.",
        "Raise the timeout of the profile or of AI selection, or choose a faster model.",
    ),
    ErrorKind.THROTTLED: (
        "Two AI requests came less than half a second apart, so this one was not sent.",
        "Wait a moment and try again.",
    ),
    ErrorKind.AUTHENTICATION: (
        "{who} refused the key{status}.",
        "Check the key of the profile, and that it may use this model.",
    ),
    ErrorKind.QUOTA: (
        "{who} reports that credit or quota is used up{status}.",
        "Check billing and limits in your account there, or choose another profile.",
    ),
    ErrorKind.NOT_FOUND: (
        "{who} has nothing at this address{status}.",
        "Check the URL of the profile; OpenAI-compatible addresses usually end in /v1.",
    ),
    ErrorKind.MODEL_UNKNOWN: (
        "{who} does not know the model.",
        "Check the model's name in the profile; a local server may have to load or pull it first.",
    ),
    ErrorKind.RATE_LIMITED: (
        "{who} takes no more requests for the moment{status}.",
        "Wait a little and try again, or choose another profile.",
    ),
    ErrorKind.INVALID_ANSWER: (
        "{who} sent something that is not a valid answer.",
        "Check that the URL and the kind of API in the profile fit the server, then try again.",
    ),
    ErrorKind.OVERLOADED: ("{who} is overloaded{status}.", "Try again in a minute, or choose another profile."),
    ErrorKind.SERVER: (
        "{who} failed with an error of its own{status}.",
        "Try again later; for a local server, its log says more.",
    ),
    ErrorKind.CONNECTION: (
        "The connection to {who} failed.",
        "Check that the service is running and that the URL of the profile is right.",
    ),
    ErrorKind.UNKNOWN: ("The request to {who} failed{status}.", "The message tells more."),
    ErrorKind.NO_RECORDED_ANSWER: (
        "No answer is recorded for this request.",
        "Choose a provider, type the answer, or use the offline stand-in; the new answer is then recorded.",
    ),
    ErrorKind.NOT_SUPPORTED: (
        "This answer source cannot answer a request of this kind.",
        "Choose a provider or type the answer.",
    ),
    ErrorKind.NO_KEY: ("The key of the profile cannot be used.", "Enter the key again in the profile."),
    ErrorKind.NO_VECTORS: ("There are no vectors yet, and nobody is asked for any here.", "A replay asks for them."),
}

_UNTIL_MENDED: Final = frozenset(
    {ErrorKind.AUTHENTICATION, ErrorKind.QUOTA, ErrorKind.NOT_FOUND, ErrorKind.MODEL_UNKNOWN, ErrorKind.NO_KEY}
)

# The sentence says it all: nothing is quoted beside it. None of them is the provider's failure.
_SAYS_ALL: Final = frozenset(
    {ErrorKind.ABORTED, ErrorKind.THROTTLED, ErrorKind.NO_RECORDED_ANSWER, ErrorKind.NOT_SUPPORTED, ErrorKind.NO_KEY}
    | {ErrorKind.NO_VECTORS}
)


class AnsweringError(ValueError):
    """An answer source that cannot be used as it is chosen; the message says what to do."""


class LlmError(Exception):
    """A question without an answer.

    `message` is what went wrong in the words of whoever reported it, redacted; `status` the HTTP status where there was
    one. `sentence` and `advice` are for people. `retry_after_s` is the pause that the provider asked for.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str = "",
        *,
        status: int | None = None,
        who: str = THE_PROVIDER,
        advice: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        self.kind = kind
        self.status = status
        self.message = cut(redact(message), KEPT_LENGTH)
        self.retry_after_s = retry_after_s
        sentence, usual_advice = _SENTENCES[kind]
        shown_status = "" if status is None else f" (HTTP {status})"
        sentence = sentence.format(who=redact(who), status=shown_status)
        # A profile's name is written as the person wrote it.
        self.sentence = sentence[0].upper() + sentence[1:] if who == THE_PROVIDER else sentence
        self.advice = advice or usual_advice
        if retry_after_s:
            self.advice = f"It asks to wait {retry_after_s:.0f} s. {self.advice}"
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """Sentence, the first words of the foreign message, and advice."""
        quoted = "" if self.kind in _SAYS_ALL else cut(self.message, SHOWN_LENGTH)
        if quoted and self.advice and not quoted.endswith((".", "!", "?", "…")):
            quoted += "."
        return " ".join(part for part in (self.sentence, f"It says: {quoted}" if quoted else "", self.advice) if part)

    @property
    def recurs(self) -> bool:
        """Whether every other question fails in the same way, until the profile or the account is put right."""
        return self.kind in _UNTIL_MENDED

    @property
    def counts_as_failure(self) -> bool:
        """Whether the circuit breaker counts it (rules: deeplore 4.9).

        Exempt are cancelling, throttling, 429, 401 and 403, told by status or, as DeepLore does, by words of the
        message: any "auth" exempts, "author" too, "timed out", not "time-out". What was never sent to a provider does
        not count either.
        """
        status = self.status or _status_in(self.message)
        return self._was_reported and not (status in (401, 403, 429) or _EXEMPT.search(self.message))

    @property
    def fails_by_status(self) -> bool:
        """Whether the circuit breaker of DeepLore 2.6 counts it (rules: deeplore-newer 1.10).

        The status is the error's own or one that the text names as such; a bare number and a bare "auth" exempt
        nothing.
        """
        named = _NAMED_STATUS.search(self.message)
        status = self.status or (int(named[1]) if named else None)
        return self._was_reported and not (status in (401, 403, 429) or _REFUSED.search(self.message))

    @property
    def _was_reported(self) -> bool:
        """Whether the failure is a provider's, a timeout in its words or with its status."""
        if self.kind is ErrorKind.TIMED_OUT:
            return self.status is not None or _TIMEOUT.search(self.message) is not None
        return self.kind not in _SAYS_ALL

    def given_up(self) -> LlmError:
        """The same failure, of a question that was not even put."""
        told = copy(self)
        told.advice = f"After several failures in a row it is not asked any more. {self.advice}".rstrip()
        told.args = (told.text,)
        return told

    def __repr__(self) -> str:
        return f"LlmError({self.kind.value!r}, status={self.status}, message={self.message!r})"

    def __reduce__(self) -> tuple[Callable[..., LlmError], tuple[object, ...], dict[str, object]]:
        # The default would call the class with the text in place of the kind.
        return LlmError, (self.kind, self.message), dict(self.__dict__)


def timed_out(timeout_ms: float, who: str = THE_PROVIDER) -> LlmError:
    """The exchange took longer than allowed; the message is DeepLore's own (golden runs: "Request timed out (20s)")."""
    seconds = f"{timeout_ms / 1000:.3f}".rstrip("0").rstrip(".")
    return LlmError(ErrorKind.TIMED_OUT, f"Request timed out ({seconds}s)", who=who)


def failed(message: str, status: int | None = None, name: str = "", who: str = THE_PROVIDER) -> LlmError:
    """An error that was reported as a message, with a status and the name of an error class where there are any."""
    message = message[: 50 * KEPT_LENGTH]  # of megabytes each rule takes its share of a second
    kind = classify(message, status, name)
    return LlmError(kind, message, status=status, who=who, advice=special_advice(kind, message, who))


def classify(message: str, status: int | None = None, name: str = "") -> ErrorKind:
    """The kind of a reported error; the first that fits (rules: deeplore-tools 1.10).

    Two departures, both for the person's sake only: a 404 that speaks of the model is an unknown model, not a wrong
    address; and words about JSON beside a 4xx are the provider's complaint about the request, not a bad answer.
    """
    if name == "AbortError":
        return ErrorKind.ABORTED
    status = status or _status_in(message)
    for kind, statuses, words in _RULES:
        if status in statuses or words.search(message):
            if kind is ErrorKind.INVALID_ANSWER and status in range(400, 500):
                continue
            return kind
    return ErrorKind.UNKNOWN


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _status_in(message: str) -> int | None:
    """The first number of the message that could be a 4xx or 5xx status (rules: deeplore-tools 1.8)."""
    found = _STATUS.search(message)
    return int(found[0]) if found else None


_STATUS = re.compile(r"\b[45]\d\d\b")
_EXEMPT = _words(
    r"timed\s*out", r"\b(?:401|403|429)\b", "rate.?limit", "too many requests", "forbidden", "invalid api key", "auth"
)  # "unauthorized" holds "auth"
_REFUSED = _words(r"timed\s*out", "rate.?limit", "too many requests", "unauthoriz", "forbidden", "invalid api key")
_NAMED_STATUS = re.compile(r"\b(?:HTTP|status(?: code)?)[\s:=]*(\d{3})\b", re.IGNORECASE)
_TIMEOUT = _words(r"\btimed?[ -]?out", "deadline exceeded")
_AUTH = _words(
    r"\bauth\b",
    "authenticat",
    r"authori[sz]",
    "forbidden",
    r"(?:invalid|incorrect|missing) (?:api|x-api)",
    "api[_ -]?key",
)
_QUOTA = _words("insufficient[_ ](?:quota|funds|balance)", "billing", "payment required", r"\bcredits?\b")
_CONNECTION = _words(
    r"\bCORS\b", "ECONN(?:REFUSED|RESET)", "fetch failed", "failed to fetch", r"\bnetwork\b", "connection refused"
)
_MODEL = _words(
    r"model\b.{0,80}?(?:not found|does(?: not|n't) exist)",
    "model_not_found",
    r"no such model\b",
    r"unknown model\b",
    "no endpoints found",
)
_RATE = _words(r"rate[ _-]?limit", "too many requests")
_JSON = _words(r"\bJSON\b", "unexpected token")
_OVERLOADED = _words("overloaded")
_ROLES = _words(
    r"\broles?\b.{0,60}(?:alternat|allowed|supported|must)", r"system (?:role|message|prompt)s?\b.{0,40}not", "alternat"
)
_TOO_LONG = _words(
    r"context[_ ](?:length|size|window)", r"maximum context", r"(?:prompt|input|request) (?:is )?too (?:long|large)",
    "reduce the length", "too many (?:input )?tokens",
)  # fmt: skip

_NOTHING = re.compile("(?!)")

# Kind, statuses, words: either is enough.
_RULES: Final[tuple[tuple[ErrorKind, Container[int | None], re.Pattern[str]], ...]] = (
    (ErrorKind.TIMED_OUT, {408}, _TIMEOUT),
    (ErrorKind.AUTHENTICATION, {401, 403}, _AUTH),
    (ErrorKind.QUOTA, {402}, _QUOTA),
    (ErrorKind.CONNECTION, (), _CONNECTION),
    (ErrorKind.MODEL_UNKNOWN, (), _MODEL),
    (ErrorKind.NOT_FOUND, {404}, _NOTHING),
    (ErrorKind.RATE_LIMITED, {429}, _RATE),
    (ErrorKind.INVALID_ANSWER, (), _JSON),
    (ErrorKind.OVERLOADED, {529}, _OVERLOADED),
    (ErrorKind.SERVER, range(500, 600), _NOTHING),
)


def special_advice(kind: ErrorKind, message: str, who: str) -> str:
    """What to do where the words of an error say more than its kind, else ""."""
    if kind is ErrorKind.UNKNOWN and _ROLES.search(message):
        return "The model takes no system message: switch on the setting that sends everything as one user message."
    if kind in (ErrorKind.UNKNOWN, ErrorKind.SERVER) and _TOO_LONG.search(message):
        return (
            "The question is longer than the model's context: lower what is sent along (messages, entries, tokens) in "
            "the settings, or choose a model or a server's setting with a larger context."
        )
    if kind is ErrorKind.CONNECTION and "CERTIFICATE" in message.upper():
        return f"The certificate of {redact(who)} is not trusted; check the URL, the clock, and any proxy in between."
    return ""
