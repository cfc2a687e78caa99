from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from lorestudio.domain.entry import NoteProblem
from lorestudio.domain.texts import is_local
from lorestudio.vault import obsidian as obsidian_requests
from lorestudio.vault.files import VaultError, VaultFiles
from lorestudio.vault.obsidian import ObsidianError, ObsidianVault, PausedError
from lorestudio.vault.obsidian_host import CircuitBreakers, ObsidianAddress
from tests.vault.breakers import state
from tests.vault.folders import read_folder
from tests.vault.obsidian_server import KEY, ObsidianServer, running


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server() -> Iterator[ObsidianServer]:
    with running() as served:
        served.write(b="text b", a="text a")
        yield served


def vault(
    server: ObsidianServer, key: str | None = KEY, clock: Clock | None = None, timeout_s: float = 5
) -> ObsidianVault:
    return ObsidianVault(server.address(), lambda: key, CircuitBreakers(clock or Clock()), timeout_s=timeout_s)


def fetch(source: ObsidianVault) -> VaultFiles:
    return asyncio.run(source.fetch())


def names(fetched: VaultFiles) -> list[str]:
    return [file.filename for file in fetched.files]


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_order_is_that_of_a_folder(server: ObsidianServer, tmp_path: Path, shuffled: bool) -> None:
    paths = [
        "b.md", "a.md", "Z.md", "A/z.md", "A/S/t.md", "A B/q.md", "x.MD", "A/0/a.md", "n.txt", "é.md", "\uff01.md",
        "\U0001f600.md", "A/S#1 ?.md", "DeepLore/field-definitions.yaml", "100%.md", "A.md/in.md",
    ]  # fmt: skip
    server.files = {path: f"text of {path}".encode() for path in paths}
    server.shuffled = shuffled
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(server.files[path])
    assert fetch(vault(server)) == read_folder(tmp_path, "V")


def test_the_example_of_the_rules(server: ObsidianServer) -> None:
    server.files = dict.fromkeys(["b.md", "a.md", "Z.md", "A/z.md", "A/S/t.md", "x.MD"], b"")
    assert names(fetch(vault(server))) == ["Z.md", "a.md", "b.md", "A/z.md", "A/S/t.md"]


def test_texts(server: ObsidianServer) -> None:
    server.files = {"a.md": b"\xef\xbb\xbfone\r\ntwo\xc3\xa9", "bad.md": b"x\n\xff"}
    fetched = fetch(vault(server))
    assert [file.text for file in fetched.files] == ["one\r\ntwoé"]
    (bad,) = fetched.left_out
    assert (bad.filename, bad.problem) == ("bad.md", NoteProblem.BAD_ENCODING)
    assert "line 2" in bad.message


def test_dot_names_and_strange_names_are_passed_over(server: ObsidianServer) -> None:
    server.files = {".obsidian/x.md": b"", ".y.md": b"", "a.md": b"", "\ud800.md": b""}
    server.listing = lambda _folder: [".obsidian/", ".y.md", "a.md", "a.md", "../", "b/c.md", "", "/", "\ud800.md"]  # type: ignore[method-assign]  # what no plugin would list
    fetched = fetch(vault(server))
    assert names(fetched) == ["a.md"]
    assert [note.problem for note in fetched.left_out] == [NoteProblem.UNREADABLE]


def test_an_empty_vault(server: ObsidianServer) -> None:
    server.files = {}
    assert fetch(vault(server)).files == ()


def test_folders_that_lie_too_deep(server: ObsidianServer) -> None:
    server.files = {"a.md": b"", "/".join("d" * 19) + "/in.md": b"", "/".join("e" * 20) + "/out.md": b""}
    fetched = fetch(vault(server))
    assert [name[-5:] for name in names(fetched)] == ["a.md", "in.md"]
    assert [note.problem for note in fetched.left_out] == [NoteProblem.TOO_DEEP]
    assert fetched.failure == ""


def test_progress(server: ObsidianServer) -> None:
    seen: list[tuple[int, int]] = []
    asyncio.run(vault(server).fetch(lambda done, total: seen.append((done, total))))
    assert seen == [(1, 2), (2, 2)]


def test_only_so_many_requests_at_once(server: ObsidianServer) -> None:
    server.files = {f"{number}.md": b"" for number in range(30)}
    server.counts = True
    source = ObsidianVault(server.address(), lambda: KEY, concurrency=4)
    assert len(fetch(source).files) == 30
    assert 1 < server.most_at_once <= 4


def test_large_files_are_not_read(server: ObsidianServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obsidian_requests, "MAX_FILE_BYTES", 100)
    server.files["big.md"] = b"x" * 101
    server.files["fits.md"] = b"x" * 100
    fetched = fetch(vault(server))
    assert names(fetched) == ["a.md", "b.md", "fits.md"]
    assert [note.problem for note in fetched.left_out] == [NoteProblem.TOO_LARGE]
    server.listing = lambda _folder: ["n" * 101]  # type: ignore[method-assign]  # no plugin lists so much
    with pytest.raises(VaultError, match=r"Obsidian at .* sends more than"):
        fetch(vault(server))


# ---- what can go wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["wrong", KEY.upper()])
def test_a_wrong_key(server: ObsidianServer, key: str) -> None:
    source = vault(server, key)
    with pytest.raises(ObsidianError, match="does not accept the key"):
        fetch(source)
    assert len(server.requests) == 1
    assert state(source.breaker) == "closed"


@pytest.mark.parametrize("key", [None, "", "two words", "line\nbreak", "é"])
def test_a_key_that_cannot_be_one_is_not_sent(server: ObsidianServer, key: str | None) -> None:
    with pytest.raises(ObsidianError, match="key"):
        fetch(vault(server, key))
    assert server.requests == []


def test_another_server(server: ObsidianServer) -> None:
    server.faults = {"": "html"}
    with pytest.raises(ObsidianError, match="not Obsidian's Local REST API"):
        fetch(vault(server))


def test_redirects_are_not_followed(server: ObsidianServer) -> None:
    server.faults = {"": "redirect"}
    with pytest.raises(ObsidianError, match="not followed"):
        fetch(vault(server))
    assert server.paths() == [""]


@pytest.mark.parametrize(("fault", "words"), [
    (429, "wait a minute"), (500, "error 500"), (503, "error 503"), ("drop", "closed the connection"),
    ("truncate", "closed the connection"),
])  # fmt: skip
def test_the_root_cannot_be_listed(server: ObsidianServer, fault: int | str, words: str) -> None:
    server.faults = {"": fault}
    with pytest.raises(ObsidianError, match=words):
        fetch(vault(server))


def test_nobody_listens() -> None:
    with running() as served:
        pass
    with pytest.raises(ObsidianError, match="cannot be reached"):
        fetch(vault(served))


@pytest.mark.parametrize("host", ["exa mple", "[", "a" * 70 + ".x"])
def test_an_address_that_is_none(host: str) -> None:
    with pytest.raises(ObsidianError):
        fetch(ObsidianVault(ObsidianAddress("V", host), lambda: KEY))


def test_a_slow_answer(server: ObsidianServer) -> None:
    server.faults = {"": "slow"}
    with pytest.raises(ObsidianError, match=r"within 0\.2 s"):
        fetch(vault(server, timeout_s=0.2))


def test_a_note_that_disappears_after_it_was_listed(server: ObsidianServer) -> None:
    server.faults = {"a.md": 404}
    fetched = fetch(vault(server))
    assert names(fetched) == ["b.md"]
    assert fetched.left_out == ()


@pytest.mark.parametrize("fault", [500, 503, "drop", "truncate", "packed"])
def test_one_note_that_cannot_be_fetched(server: ObsidianServer, fault: int | str) -> None:
    server.faults = {"a.md": fault}
    fetched = fetch(vault(server))
    assert names(fetched) == ["b.md"]
    assert [(note.filename, note.problem) for note in fetched.left_out] == [("a.md", NoteProblem.UNREADABLE)]
    assert fetched.failure == ""


def test_a_connection_that_was_dropped_once_is_no_failure(server: ObsidianServer) -> None:
    server.faults = {"a.md": "once"}
    fetched = fetch(vault(server))
    assert names(fetched) == ["a.md", "b.md"]
    assert server.paths().count("a.md") == 2


def test_a_partial_listing_says_so(server: ObsidianServer) -> None:
    server.files |= {"A/x.md": b"", "B/y.md": b""}
    server.faults = {"A/": 500}
    fetched = fetch(vault(server))
    assert "“A” of “V” was not listed" in fetched.failure
    assert names(fetched) == ["a.md", "b.md", "B/y.md"]
    assert [note.filename for note in fetched.left_out] == ["A"]


def test_field_definitions_that_cannot_be_fetched_are_no_missing_ones(server: ObsidianServer) -> None:
    server.faults = {"DeepLore/field-definitions.yaml": 500}
    with pytest.raises(ObsidianError, match="field-definitions"):
        fetch(vault(server))


def test_a_definition_path_outside_the_vault(server: ObsidianServer) -> None:
    fetched = asyncio.run(vault(server).fetch(definition_path="../secret.yaml"))
    assert names(fetched) == ["a.md", "b.md"]
    assert not any("secret" in path for path in server.paths())


def test_cancelling_ends_the_requests(server: ObsidianServer) -> None:
    server.faults = {"*": "slow"}
    source = vault(server)

    async def work() -> None:
        before = asyncio.all_tasks()
        task = asyncio.create_task(source.fetch())
        while not server.requests:  # noqa: ASYNC110 - the server runs in a thread
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == before

    asyncio.run(asyncio.wait_for(work(), 60))
    assert state(source.breaker) == "closed"


# ---- the circuit breaker --------------------------------------------------------------------------------------------


def fail(source: ObsidianVault) -> None:
    with pytest.raises(ObsidianError):
        fetch(source)


def test_three_failures_open_the_circuit_and_a_probe_closes_it(server: ObsidianServer) -> None:
    clock = Clock()
    source = vault(server, clock=clock)
    server.faults = {"*": 503}
    for _ in range(3):
        assert state(source.breaker) == "closed"
        fail(source)
    asked = len(server.requests)
    assert state(source.breaker) == "open"
    with pytest.raises(PausedError, match=r"another 2\.0 s"):
        fetch(source)
    assert len(server.requests) == asked

    clock.now = 2.0
    assert state(source.breaker) == "half-open"
    fail(source)
    assert len(server.requests) == asked + 1
    assert (state(source.breaker), source.breaker._pause_s) == ("open", 4.0)

    server.faults = {}
    clock.now = 6.0
    assert names(fetch(source)) == ["a.md", "b.md"]
    assert state(source.breaker) == "closed"


def test_a_host_that_fails_midway_is_left_alone(server: ObsidianServer) -> None:
    server.files |= {f"{number:02}.md": b"" for number in range(40)}
    server.faults = dict.fromkeys(server.files, 503)
    with pytest.raises(PausedError):
        fetch(ObsidianVault(server.address(), lambda: KEY, CircuitBreakers(Clock()), concurrency=2))
    assert len(server.requests) < 10


def test_vaults_at_one_address_share_the_breaker(server: ObsidianServer) -> None:
    breakers = CircuitBreakers(Clock())
    server.faults = {"*": "drop"}
    one = ObsidianVault(server.address("one"), lambda: KEY, breakers)
    two = ObsidianVault(server.address("two", host="127.0.0.1"), lambda: KEY, breakers)
    for _ in range(3):
        fail(one)
    with pytest.raises(PausedError):
        fetch(two)
    elsewhere = breakers.of("127.0.0.1", server.port + 1)
    assert state(elsewhere) == "closed"


def test_recovery_after_a_restart_of_obsidian() -> None:
    clock = Clock()
    with running() as served:
        served.write(a="1")
    source = vault(served, clock=clock)
    for _ in range(3):
        fail(source)
    clock.now = 2.0
    with running(served):
        assert names(fetch(source)) == ["a.md"]


# ---- the key and the certificate ------------------------------------------------------------------------------------


def test_the_key_is_nowhere_to_be_seen(server: ObsidianServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    source = vault(server)
    said = [repr(source), repr(source.address), str(vars(source))]
    for fault in (401, 403, 429, 500, 503, "drop", "html", "slow"):
        server.faults = {"": fault}
        try:
            fetch(vault(server, timeout_s=0.2))
        except ObsidianError as error:
            said += traceback.format_exception(error)
            trail: BaseException | None = error
            while trail is not None:
                said += [repr(trail), str(vars(trail))]
                trail = trail.__cause__ or trail.__context__
    server.faults = {"a.md": 500}
    said += [repr(fetch(vault(server)))]
    assert len(said) > 20
    assert not [text for text in [*said, caplog.text] if KEY in text]
    assert "•••" in "".join(said)


def test_a_certificate_that_it_signed_itself_is_accepted_on_this_computer() -> None:
    with running(https=True) as served:
        served.write(a="1")
        assert names(fetch(vault(served))) == ["a.md"]


def test_elsewhere_it_is_not_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obsidian_requests, "is_local", lambda _host: False)
    with running(https=True) as served:
        served.write(a="1")
        with pytest.raises(ObsidianError, match="vouches"):
            fetch(vault(served))


def test_https_on_the_port_of_http(server: ObsidianServer) -> None:
    with pytest.raises(ObsidianError, match="does not speak https"):
        fetch(ObsidianVault(server.address(https=True), lambda: KEY, timeout_s=3))


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("localhost", True), ("LOCALHOST", True), ("::1", True), ("127.8.9.1", True),
    ("192.168.1.5", False), ("example.org", False), ("localhost.example.org", False), ("", False),
])  # fmt: skip
def test_what_this_computer_is(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_an_address_in_ipv6() -> None:
    assert ObsidianAddress("V", "::1", 27124, https=True).url == "https://[::1]:27124"
