"""Provider profiles on the command line; keys go into a keyring that forgets everything after the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail
from keyring.errors import KeyringLocked
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app
from lorestudio.studio.project.answering import default_profiles_path
from tests.cli.provider import provider
from tests.llm.server import KEY, completion, reply

Run = Callable[..., Result]
URL = "http://127.0.0.1:9/v1"


class Memory:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Locked(Memory):
    """A keyring that nobody unlocks."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked(f"{service} {username}")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    found = Memory()
    monkeypatch.setattr(keyring, "get_keyring", lambda: found)
    return found


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fixture `memory` there is no keyring at all."""
    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)


def typing(words: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=words)


def written() -> str:
    path = default_profiles_path()
    return path.read_text(encoding="utf-8") if path.exists() else ""


def listed(lorestudio: Run) -> list[list[str]]:
    result = lorestudio("profiles", "list")
    assert result.exit_code == 0
    return [line.rstrip().split(maxsplit=4) for line in result.stdout.splitlines()[1:]]


def test_the_file_is_in_a_folder_of_the_test(tmp_path: Path) -> None:
    assert default_profiles_path().is_relative_to(tmp_path)


def test_none_yet(lorestudio: Run) -> None:
    result = lorestudio("profiles", "list")
    assert (result.exit_code, result.stdout) == (
        0,
        "There is no profile yet. To add one: lorestudio profiles add --help\n",
    )


def test_add_list_remove(lorestudio: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_KEY", KEY)
    added = lorestudio("profiles", "add", "Local", "--url", URL, "--model", "small")
    assert added.exit_code == 0
    assert added.stdout == f"The profile “Local” is kept in {default_profiles_path()}; it uses no key.\n"
    assert lorestudio("profiles", "remove", "Local").stderr.endswith("Give --yes to agree.\n")
    assert typing("n\n", "profiles", "remove", "Local").exit_code == 130
    variable = ("--key-variable", "CLOUD_KEY")
    assert lorestudio("profiles", "add", "A", "--url", "https://a.test", "--api", "anthropic", *variable).exit_code == 0
    assert listed(lorestudio) == [
        ["Local", "openai", URL, "small", "none"],
        ["A", "anthropic", "https://a.test", "CLOUD_KEY", "(set)"],
    ]
    assert KEY not in written()
    assert lorestudio("profiles", "remove", "Local", "--yes").stdout == "The profile “Local” is removed.\n"
    assert [row[0] for row in listed(lorestudio)] == ["A"]


def test_removing_a_profile_says_which_settings_name_it(lorestudio: Run) -> None:
    for name in ("Local", "Other"):
        lorestudio("profiles", "add", name, "--url", URL)
    folder = default_profiles_path().parent / "systems"
    folder.mkdir()
    for system, named in (("hybrid", "Local"), ("facts", "Other"), ("world-info", "Local")):
        (folder / f"{system}.json").write_text(json.dumps({"embedder": named}))
    told = lorestudio("profiles", "remove", "Local", "--yes").stderr.splitlines()
    assert sorted(told) == [
        f"lorestudio: “Who makes the vectors” in the settings of {system} still names it. Choose another there."
        for system in ("Hybrid retrieval", "World Info")
    ]


def test_removing_a_profile_says_who_chose_it_in_the_window(lorestudio: Run) -> None:
    name = 'A|"b"'
    for each in (name, "b"):
        lorestudio("profiles", "add", each, "--url", URL)
    chosen = (
        'one="two-stage|provider|fill_count,x|A|\\"b\\""\ntwo="ai-only|provider||A|\\"b\\""\nno=keywords|provider||c'
    )
    path = default_profiles_path().with_name("window.ini")
    path.write_text(f"[chat]\nx=a|b|c|b\n\n[runs]\n{chosen}\n\n[z]\ny=a|b|c|b\n", encoding="utf-8")
    told = "lorestudio: 2 chats chose it in the window for the answers. Choose another there.\n"
    assert lorestudio("profiles", "remove", name, "--yes").stderr == told
    assert lorestudio("profiles", "remove", "b", "--yes").stderr == ""
    lorestudio("profiles", "add", name, "--url", URL)
    path.write_text('[a]\nwriter=b\n[chat]\nvoice=you\nwriter="A|\\"b\\""\n', encoding="utf-8")
    told = "lorestudio: it wrote the replies in the window. Choose at “Reply” there who writes them.\n"
    assert lorestudio("profiles", "remove", name, "--yes").stderr == told


def test_a_profile_goes_even_where_the_window_s_file_cannot_be_read(lorestudio: Run) -> None:
    lorestudio("profiles", "add", "Local", "--url", URL)
    default_profiles_path().with_name("window.ini").mkdir()
    removed = lorestudio("profiles", "remove", "Local", "--yes")
    assert removed.exit_code == 0
    assert "who chose it in the window could not be read" in removed.stderr


def test_a_variable_without_a_value_is_shown_as_such(lorestudio: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUD_KEY", raising=False)
    lorestudio("profiles", "add", "Cloud", "--url", URL, "--model", "m", "--key-variable", "CLOUD_KEY")
    assert "CLOUD_KEY (not set)" in lorestudio("profiles", "list").stdout
    (told,) = json.loads(lorestudio("profiles", "list", "--json").stdout)
    assert (told["name"], told["api"], told["key"]) == ("Cloud", "openai", "CLOUD_KEY (not set)")


def test_a_key_in_place_of_a_variable_s_name_is_not_kept(lorestudio: Run) -> None:
    key = "gsk_" + "Zq7wPl0aBn" * 4
    result = lorestudio("profiles", "add", "Cloud", "--url", URL, "--model", "m", "--key-variable", key)
    assert result.exit_code == 2
    assert "not the key" in result.stderr
    assert key not in result.output
    assert written() == ""


def test_brackets_in_a_name_are_no_markup(lorestudio: Run) -> None:
    lorestudio("profiles", "add", "[red]x", "--url", URL)
    assert listed(lorestudio)[0][0] == "[red]x"


@pytest.mark.parametrize(
    ("name", "url", "api"),
    [
        ("Ollama", "http://127.0.0.1:11434/v1", "openai"),
        ("openrouter", "https://openrouter.ai/api/v1", "openai"),
        ("Anthropic", "https://api.anthropic.com", "anthropic"),
    ],
)
def test_usual_servers_are_known_by_name(lorestudio: Run, name: str, url: str, api: str) -> None:
    assert lorestudio("profiles", "add", name, "--model", "m").exit_code == 0
    assert listed(lorestudio)[0][:4] == [name, api, url, "m"]


def test_what_is_likely_missing_is_said(lorestudio: Run) -> None:
    result = lorestudio("profiles", "add", "OpenAI")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "lorestudio: it names no model, and most servers want one: add --model and --replace.",
        "lorestudio: OpenAI asks for a key: add --ask-key or --key-variable, and --replace.",
    ]


def test_numbers_of_a_profile_are_kept(lorestudio: Run) -> None:
    lorestudio("profiles", "add", "Local", "--url", URL, "--timeout-ms", 90_000, "--max-tokens", 300)
    (profile,) = json.loads(written())["profiles"]
    assert (profile["timeout_ms"], profile["max_tokens"]) == (90_000, 300)


# ---- keys ------------------------------------------------------------------------------------------------------------


def test_a_key_goes_into_the_keyring_and_nowhere_else(lorestudio: Run, memory: Memory) -> None:
    result = typing(f"{KEY}\n", "profiles", "add", "Cloud", "--url", URL, "--model", "m", "--ask-key")
    assert result.exit_code == 0
    assert memory.kept == {("lorestudio", "Cloud"): KEY}
    assert KEY not in result.output + written() + lorestudio("profiles", "list").output
    assert "in the keyring" in lorestudio("profiles", "list").stdout
    assert lorestudio("profiles", "remove", "Cloud", "--yes").exit_code == 0
    assert memory.kept == {}


def test_without_a_keyring_nobody_has_to_type_a_key(lorestudio: Run) -> None:
    result = typing(f"{KEY}\n", "profiles", "add", "Cloud", "--url", URL, "--ask-key")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("lorestudio: --ask-key: This system has no keyring. Install one")
    assert result.stderr.rstrip().endswith("On the command line: --key-variable NAME.")
    assert "Key for" not in result.stderr
    assert KEY not in result.output
    assert written() == ""


def test_a_locked_keyring_says_so(lorestudio: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", Locked)
    result = typing(f"{KEY}\n", "profiles", "add", "Cloud", "--url", URL, "--ask-key")
    assert result.exit_code == 2
    assert "The keyring is locked. Unlock it and try again." in result.stderr


@pytest.mark.parametrize(("words", "said"), [("", "nobody here to answer"), ("a key\n", "--ask-key: It holds blanks")])
def test_a_key_that_is_none(lorestudio: Run, memory: Memory, words: str, said: str) -> None:
    result = typing(words, "profiles", "add", "Cloud", "--url", URL, "--ask-key")
    assert result.exit_code == 2
    assert said in result.stderr
    assert (memory.kept, written()) == ({}, "")


def test_a_key_in_place_of_the_variables_name_is_not_repeated(lorestudio: Run) -> None:
    result = lorestudio("profiles", "add", "Cloud", "--url", URL, "--key-variable", KEY)
    assert (result.exit_code, written()) == (2, "")
    assert "not the key" in result.stderr
    assert KEY not in result.output


def test_a_key_in_the_address_is_refused_and_not_repeated(lorestudio: Run) -> None:
    result = lorestudio("profiles", "add", "Cloud", "--url", f"https://a.test/v1?api_key={KEY}")
    assert (result.exit_code, written()) == (2, "")
    assert "holds a key" in result.stderr
    assert KEY not in result.output


def test_a_new_address_does_not_get_the_old_key(lorestudio: Run, memory: Memory) -> None:
    typing(f"{KEY}\n", "profiles", "add", "Cloud", "--url", URL, "--ask-key")
    assert lorestudio("profiles", "add", "Cloud", "--url", "https://b.test", "--replace").exit_code == 0
    assert memory.kept == {}


def test_a_profile_is_replaced_at_its_place(lorestudio: Run) -> None:
    for name, more in (("One", ()), ("Two", ()), ("One", ("--replace", "--model", "m"))):
        lorestudio("profiles", "add", name, "--url", URL, *more)
    shown = json.loads(lorestudio("profiles", "list", "--json").stdout)
    assert [(each["name"], each["model"]) for each in shown] == [("One", "m"), ("Two", "")]


def test_a_profile_goes_even_where_its_key_cannot(
    lorestudio: Run, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    typing(f"{KEY}\n", "profiles", "add", "Cloud", "--url", URL, "--ask-key")
    monkeypatch.setattr(keyring, "get_keyring", Locked)
    result = lorestudio("profiles", "remove", "Cloud", "--yes")
    assert (result.exit_code, result.stdout) == (1, "The profile “Cloud” is removed.\n")
    assert "its key may still be in the keyring. The keyring is locked." in result.stderr


# ---- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "Mine"], "--url: the server's address is missing. Only these are known by name: Ollama, "),
        (["add", "Mine", "--url", "localhost:8080"], 'The field "url" is no valid address.'),
        (["add", " ", "--url", URL], 'The field "name" is empty.'),
        (["add", "Local", "--url", URL], "NAME: there is a profile “Local” already. Add --replace"),
        (["add", "recorded", "--url", URL], "NAME: “recorded” names another source of answers."),
        (["add", "stand-in", "--url", URL], "NAME: “stand-in” names another source of answers."),
        (["add", "Mine", "--url", URL, "--ask-key", "--key-variable", "K"], "--ask-key: the key can come from"),
        (["add", "Mine", "--url", URL, "--timeout-ms", "0"], 'The field "timeout_ms" is 0.'),
        (["add", "Mine", "--url", URL, "--api", "gopher"], "--api"),
        (["remove", "Gone"], "NAME: there is no profile “Gone”. To see all: lorestudio profiles list"),
        (["test", "Gone"], "NAME: there is no profile “Gone”."),
    ],
)
def test_wrong_use_is_named_and_changes_nothing(lorestudio: Run, arguments: list[str], said: str) -> None:
    lorestudio("profiles", "add", "Local", "--url", URL)
    before = written()
    result = lorestudio("profiles", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert written() == before


@pytest.mark.parametrize("command", [["list"], ["add", "Local", "--url", URL], ["remove", "Local"], ["test", "Local"]])
def test_a_file_that_is_none(lorestudio: Run, command: list[str]) -> None:
    path = default_profiles_path()
    path.parent.mkdir(parents=True)
    path.write_text("[1, 2")
    result = lorestudio("profiles", *command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(path) in result.stderr
    assert path.read_text() == "[1, 2"


def test_entries_that_cannot_be_read_stay_and_are_told(lorestudio: Run) -> None:
    lorestudio("profiles", "add", "Local", "--url", URL)
    path = default_profiles_path()
    document = json.loads(path.read_text())
    document["profiles"].append({"name": "Odd", "url": "nowhere"})
    path.write_text(json.dumps(document))
    assert "profile 2: " in lorestudio("profiles", "list").stderr
    assert lorestudio("profiles", "remove", "Local", "--yes").exit_code == 0
    assert json.loads(written())["profiles"] == [{"name": "Odd", "url": "nowhere"}]


def test_a_folder_that_cannot_be_made(lorestudio: Run) -> None:
    folder = default_profiles_path().parent
    folder.parent.mkdir(parents=True)
    folder.write_text("a file stands where the folder should be")
    result = lorestudio("profiles", "add", "Local", "--url", URL)
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


# ---- the test of a connection ----------------------------------------------------------------------------------------


def test_a_connection_that_works(lorestudio: Run) -> None:
    with provider(reply(completion(" ready\n"))) as server:
        lorestudio("profiles", "add", "Local", "--url", f"{server.url}/v1", "--model", "small")
        result = lorestudio("profiles", "test", "Local")
        assert server.calls[0].body["model"] == "small"
    assert result.exit_code == 0
    assert result.stdout.startswith("“Local” answered in ")
    assert result.stdout.endswith(" ms: ready\n")


def test_a_connection_that_does_not(lorestudio: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_KEY", KEY)
    with provider(reply({"error": {"message": f"bad key {KEY}"}}, "401 Unauthorized")) as server:
        lorestudio("profiles", "add", "Cloud", "--url", server.url, "--key-variable", "CLOUD_KEY")
        result = lorestudio("profiles", "test", "Cloud")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Check the key of the profile" in result.stderr
    assert KEY not in result.output


def test_a_connection_whose_key_is_missing(lorestudio: Run) -> None:
    lorestudio("profiles", "add", "Cloud", "--url", URL, "--key-variable", "NO_SUCH_KEY")
    result = lorestudio("profiles", "test", "Cloud")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Set the environment variable NO_SUCH_KEY" in result.stderr
