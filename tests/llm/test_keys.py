from __future__ import annotations

import asyncio

import keyring.backends.fail
import keyring.errors
import pytest

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.http.client import client_for
from lorestudio.llm.keys import SERVICE, Keys
from lorestudio.llm.messages import ChatRequest
from lorestudio.llm.profiles import KeySource, Profile
from lorestudio.llm.redaction import Secret

KEY = "sk-test-0123456789"
IN_RING = Profile("Mine", url="http://127.0.0.1:9", key_source=KeySource.KEYRING)
IN_VARIABLE = Profile("Other", url="http://127.0.0.1:9", key_source=KeySource.ENVIRONMENT, key_variable="MY_KEY")


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class PlaintextKeyring(Ring):
    """What keyrings.alt calls the ring that is a plain file."""


class Chain(Ring):
    def __init__(self) -> None:
        super().__init__()
        self.backends = [Ring(), PlaintextKeyring()]


class Forgetful(Ring):
    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep nothing."""


class Failing(Ring):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error if (service, username) == (SERVICE, "Mine") else AssertionError(username)


def test_a_keyring_is_checked_before_a_key_is_typed() -> None:
    Keys(Ring()).check()
    with pytest.raises(LlmError, match="no keyring"):
        Keys(keyring.backends.fail.Keyring()).check()
    with pytest.raises(LlmError, match="plain file"):
        Keys(PlaintextKeyring()).check()


def test_keys_come_back() -> None:
    ring = Ring()
    keys = Keys(ring, {})
    keys.store("Mine", f"  {KEY}\n")
    assert ring.kept == {(SERVICE, "Mine"): KEY}
    assert keys.read(IN_RING) == Secret(KEY)
    keys.delete("Mine")
    keys.delete("Mine")
    assert ring.kept == {}


def test_key_in_a_variable() -> None:
    assert Keys(Ring(), {"MY_KEY": KEY + "\n"}).read(IN_VARIABLE) == Secret(KEY)


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    assert Keys().read(IN_VARIABLE) == Secret(KEY)


def test_no_key_needed() -> None:
    assert Keys(Failing(OSError()), {}).read(Profile("A", url="http://h")) is None


def problem(keys: Keys, profile: Profile = IN_RING) -> LlmError:
    with pytest.raises(LlmError) as caught:
        keys.read(profile)
    assert caught.value.kind is ErrorKind.NO_KEY
    assert caught.value.__context__ is None
    assert not caught.value.counts_as_failure
    return caught.value


@pytest.mark.parametrize(
    ("ring", "words"),
    [
        (keyring.backends.fail.Keyring(), "no keyring"),
        (Failing(keyring.errors.NoKeyringError()), "no keyring"),
        (Failing(keyring.errors.KeyringLocked(KEY)), "locked"),
        (Failing(keyring.errors.InitError(KEY)), "InitError"),
        (Failing(OSError(KEY)), "OSError"),
        (Failing(UnicodeEncodeError("utf-8", KEY, 0, 1, KEY)), "UnicodeEncodeError"),
        (Failing(AttributeError(KEY)), "AttributeError"),
        (PlaintextKeyring(), "plain file"),
        (Chain(), "plain file"),
        (Ring(), 'Enter the key of the profile "Mine"'),
    ],
)
def test_keyring_problems(ring: Ring, words: str) -> None:
    error = problem(Keys(ring, {}))
    assert words in error.text
    assert "environment variable" in error.text
    assert KEY not in f"{error}{error!r}{error.__dict__}"


def test_missing_variable() -> None:
    assert "Set the environment variable MY_KEY" in problem(Keys(Ring(), {}), IN_VARIABLE).text
    assert "Set the environment variable MY_KEY" in problem(Keys(Ring(), {"MY_KEY": " "}), IN_VARIABLE).text


@pytest.mark.parametrize("key", ["sk-with blank", "sk-\u017c\u00f3\u0142w", "sk-a\nb", "sk-\x00"])
def test_keys_that_no_header_takes(key: str) -> None:
    error = problem(Keys(Ring(), {"MY_KEY": key}), IN_VARIABLE)
    assert "Copy it again" in error.text
    assert key not in f"{error}{error!r}{error.__dict__}"
    with pytest.raises(LlmError):
        Keys(Ring(), {}).store("Mine", key)


def test_ring_that_keeps_nothing() -> None:
    with pytest.raises(LlmError, match="did not keep it"):
        Keys(Forgetful(), {}).store("Mine", KEY)


@pytest.mark.parametrize("key", ["", "  "])
def test_nothing_to_store(key: str) -> None:
    with pytest.raises(LlmError, match="Enter a key"):
        Keys(Ring(), {}).store("Mine", key)


def test_plain_files_get_no_keys() -> None:
    ring = PlaintextKeyring()
    with pytest.raises(LlmError, match="plain file"):
        Keys(ring, {}).store("Mine", KEY)
    assert ring.kept == {}


def test_a_client_without_its_key_sends_nothing() -> None:
    client = client_for(IN_RING, Keys(keyring.backends.fail.Keyring(), {}))
    with pytest.raises(LlmError) as caught:
        asyncio.run(client.complete(ChatRequest("search", "", "x")))
    assert caught.value.kind is ErrorKind.NO_KEY


def test_the_key_is_read_again_for_each_request() -> None:
    ring = Ring()
    client = client_for(IN_RING, Keys(ring, {}))
    with pytest.raises(LlmError, match="Enter the key"):
        asyncio.run(client.complete(ChatRequest("search", "", "x")))
    Keys(ring, {}).store("Mine", KEY)
    with pytest.raises(LlmError) as caught:
        asyncio.run(client.complete(ChatRequest("search", "", "x")))
    assert caught.value.kind is ErrorKind.CONNECTION
    assert KEY not in repr(client) + repr(vars(client))
