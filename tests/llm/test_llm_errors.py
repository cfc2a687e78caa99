from __future__ import annotations

import copy
import pickle

import pytest

from lorestudio.llm.errors import KEPT_LENGTH, SHOWN_LENGTH, ErrorKind, LlmError, classify, failed, timed_out


# In the order of the rules (rules: deeplore-tools 1.10); the last column of each group shows that the earlier rule
# wins.
@pytest.mark.parametrize(
    ("message", "status", "name", "kind"),
    [
        ("This operation was aborted", None, "AbortError", ErrorKind.ABORTED),
        ("upstream timeout", None, "", ErrorKind.TIMED_OUT),
        ("upstream timed out", None, "", ErrorKind.TIMED_OUT),
        ("timeout while checking auth", 401, "", ErrorKind.TIMED_OUT),
        ("", 401, "", ErrorKind.AUTHENTICATION),
        ("", 403, "", ErrorKind.AUTHENTICATION),
        ("Unauthorised", None, "", ErrorKind.AUTHENTICATION),
        ("forbidden, check billing", None, "", ErrorKind.AUTHENTICATION),
        ("API key not valid", 400, "", ErrorKind.AUTHENTICATION),
        ("", 402, "", ErrorKind.QUOTA),
        ("insufficient_quota", 429, "", ErrorKind.QUOTA),
        ("you need more credits", None, "", ErrorKind.QUOTA),
        ("blocked by CORS policy", None, "", ErrorKind.CONNECTION),
        ("connect ECONNREFUSED 127.0.0.1:1", None, "", ErrorKind.CONNECTION),
        ("Failed to fetch", None, "", ErrorKind.CONNECTION),
        ("network error 404", None, "", ErrorKind.CONNECTION),
        ("no such page", 404, "", ErrorKind.NOT_FOUND),
        ("model 'x' not found", 404, "", ErrorKind.MODEL_UNKNOWN),
        ("No endpoints found for x/small.", 404, "", ErrorKind.MODEL_UNKNOWN),
        ("The model `x` does not exist", None, "", ErrorKind.MODEL_UNKNOWN),
        ("", 429, "", ErrorKind.RATE_LIMITED),
        ("Rate limit, JSON follows", None, "", ErrorKind.RATE_LIMITED),
        ("Unexpected token < in JSON", None, "", ErrorKind.INVALID_ANSWER),
        ("Unexpected token <", 500, "", ErrorKind.INVALID_ANSWER),
        ("response_format: JSON schema unsupported", 400, "", ErrorKind.UNKNOWN),
        ("Overloaded", None, "", ErrorKind.OVERLOADED),
        ("", 529, "", ErrorKind.OVERLOADED),
        ("bad gateway 502", None, "", ErrorKind.SERVER),
        ("", 500, "", ErrorKind.SERVER),
        ("something else", None, "", ErrorKind.UNKNOWN),
        ("the author wrote 1500 words", None, "", ErrorKind.UNKNOWN),
    ],
)
def test_classification(message: str, status: int | None, name: str, kind: ErrorKind) -> None:
    assert classify(message, status, name) is kind


# (rules: deeplore 4.9; deeplore-tools 1.8); the first seven occur in recorded runs.
@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (failed("bad gateway 502"), True),
        (failed("HTTP 500 server exploded", 500), True),
        (failed("HTTP 503 upstream unavailable", 503), True),
        (failed("Failed to fetch"), True),
        (failed("upstream timed out"), False),
        (failed("Unauthorized", 401), False),
        (failed("Too Many Requests", 429), False),
        (failed("HTTP 403"), False),
        (failed("code 429"), False),
        (failed("Rate limit reached"), False),
        (failed("the author is offline", 500), False),
        (failed("Too Many Requests", 500), False),
        (failed("Forbidden", 500), False),
        (failed("invalid API key", 400), False),
        (failed("first 500, then 429"), False),
        (failed("E429 in the gateway"), True),
        (failed("the read timed \n out"), False),
        (failed("gateway time-out", 504), True),
        (failed("Request Timeout", 408), True),
        (failed("gone", 404), True),
        (failed("pay", 402), True),
        (failed("No scripted AI answer"), True),
        (failed("stop", name="AbortError"), False),
        (timed_out(20_000), False),
        (LlmError(ErrorKind.THROTTLED), False),
        (LlmError(ErrorKind.ABORTED), False),
        (LlmError(ErrorKind.INVALID_ANSWER, "no list"), True),
        (LlmError(ErrorKind.OVERLOADED, "busy", status=529), True),
        (LlmError(ErrorKind.NO_RECORDED_ANSWER), False),
        (LlmError(ErrorKind.NOT_SUPPORTED), False),
        (LlmError(ErrorKind.NO_KEY), False),
    ],
)
def test_what_trips_the_breaker(error: LlmError, counts: bool) -> None:
    assert error.counts_as_failure is counts


@pytest.mark.parametrize("kind", ErrorKind)
def test_every_kind_says_what_and_what_to_do(kind: ErrorKind) -> None:
    error = LlmError(kind, "details", status=418, who="Mine (host)")
    assert error.sentence.endswith(".")
    assert error.advice.endswith(".")
    assert "{" not in error.text
    assert str(error) == error.text
    assert error.text.startswith(error.sentence)
    assert error.text.endswith(error.advice)


@pytest.mark.parametrize(
    ("timeout_ms", "text"), [(20_000, "20s"), (1500, "1.5s"), (999_999, "999.999s"), (50, "0.05s")]
)
def test_timeout_message(timeout_ms: int, text: str) -> None:
    assert timed_out(timeout_ms).message == f"Request timed out ({text})"


def test_of_megabytes_the_beginning_is_looked_at() -> None:
    assert failed("." * 200_000 + " invalid api key").kind is ErrorKind.UNKNOWN


def test_quotes_are_cut_and_messages_kept() -> None:
    error = LlmError(ErrorKind.UNKNOWN, "x" * 1000)
    assert "x" * SHOWN_LENGTH + "…" in error.text
    assert "x" * (SHOWN_LENGTH + 1) not in error.text
    assert error.message == "x" * 1000


def test_keys_are_hidden_before_cutting() -> None:
    key = "sk-proj-" + "a1" * 20
    error = LlmError(ErrorKind.UNKNOWN, "y" * (SHOWN_LENGTH - 10) + " " + key, who=f"host {key}")
    assert "sk-proj" not in f"{error}{error!r}{error.message}{error.sentence}"
    at_the_end = LlmError(ErrorKind.UNKNOWN, "y" * (KEPT_LENGTH - 6) + " sk-" + "a1" * 20)
    assert "a1" not in at_the_end.message


def test_retry_after_is_told() -> None:
    assert "wait 20 s" in LlmError(ErrorKind.RATE_LIMITED, retry_after_s=20).text


@pytest.mark.parametrize("way", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301 - own data
def test_errors_travel(way: object) -> None:
    error = LlmError(ErrorKind.QUOTA, "empty", status=402, who="Mine", advice="Pay.")
    other = way(error)  # type: ignore[operator]
    assert (other.kind, other.status, other.text) == (error.kind, error.status, error.text)


@pytest.mark.parametrize(
    ("message", "status", "too_long"),
    [
        ("This model's maximum context length is 4096 tokens (context_length_exceeded)", 400, True),
        ("prompt is too long: 212345 tokens > 200000 maximum", 400, True),
        ("the request exceeds the available context size. try increasing it", 400, True),
        ("the request exceeds the available context size. try increasing it", 500, True),
        ("Please reduce the length of the messages or completion.", 400, True),
        ("Request too large for model small", 413, True),
        ("max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens", 400, False),
        ("Rate limit reached: too many tokens in this minute", 429, False),
    ],
)
def test_a_question_that_is_longer_than_the_context_is_told_what_to_do(
    message: str, status: int, too_long: bool
) -> None:
    """It only said that the message tells more, of which the end was cut off."""
    assert ("longer than the model's context" in failed(message, status).advice) is too_long


def test_what_the_provider_says_ends_before_the_advice() -> None:
    assert "It says: bad key. Check" in failed("bad key", 401).text
    assert "It says: Who are you? Check" in failed("Who are you?", 401).text


def test_a_certificate_that_is_not_trusted_is_said_with_what_to_check() -> None:
    error = failed("fetch failed: self-signed certificate in certificate chain", None, "TypeError", "Mine")
    assert error.kind is ErrorKind.CONNECTION
    assert error.advice.startswith("The certificate of Mine is not trusted;")
