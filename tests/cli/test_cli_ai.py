"""Replays in which a model takes part: the stand-in, a provider on loopback, its recorded answers, and failures."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lorestudio.cli.app import app
from lorestudio.cli.systems import scribe
from lorestudio.domain.records import replace
from lorestudio.exchange.problems import InputError
from lorestudio.settings.behaviour import switches
from lorestudio.studio.project.project import demo_project
from tests.cli.provider import choosing, provider
from tests.llm.server import KEY, Behaviour, Call, completion, reply

Run = Callable[..., Result]
TWO_STAGE = ("--mode", "two-stage")
UNUSED_PORT = 9


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Two replies, the first with two swipes; the second turn calls an entry more, so that the model is asked again."""
    path = tmp_path / "chat.jsonl"
    records = [
        {"user_name": "Wren", "character_name": "Ottoline", "chat_metadata": {}},
        {"name": "Wren", "is_user": True, "mes": "A lamp and a bell."},
        {"name": "Ottoline", "mes": "Yes.", "swipes": ["Yes.", "No."], "swipe_id": 0},
        {"name": "Wren", "is_user": True, "mes": "The tide?"},
        {"name": "Ottoline", "mes": "Later."},
    ]
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def told(result: Result) -> str:
    """The output as running text."""
    return " ".join(result.stdout.split())


def with_profile(lorestudio: Run, port: int, *more: str) -> None:
    added = lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{port}/v1", "--model", "small", *more)
    assert added.exit_code == 0, added.stderr


def recording(chat: Path) -> Path:
    return chat.with_name("chat.answers.jsonl")


def decisions(result: Result) -> list[Any]:
    """What every generation decided, without times and without who said it."""
    found = []
    for document in json.loads(result.stdout):
        trace = document["trace"]
        stages = [{name: value for name, value in stage.items() if name != "duration_ms"} for stage in trace["stages"]]
        asked = [(call["kind"], call["system"], call["user"], call["model"]) for call in trace["ai_calls"]]
        found.append((trace["injections"], trace["prompt"], stages, trace["draws"], trace["facts"], asked))
    return found


# ---- the offline stand-in --------------------------------------------------------------------------------------------


def test_the_stand_in_answers_without_a_word_about_costs(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.search(r"AI: \d of 2 chosen \(offline stand-in\)", told(result))
    assert ", from the cache: the same conversation and candidates" in told(result)
    assert "Chosen by shared words on this computer, not by a model." in told(result)
    assert "Tokens spent: 0 sent, 0 received." in told(result)
    assert not recording(chat).exists()


def test_without_a_model_nothing_is_said_of_one(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat, "--mode", "keywords-only", "--answers", "recorded")
    assert result.exit_code == 2  # there is no recording, and asking for it is a mistake all the same
    result = lorestudio("replay", vault, "--chat", chat, "--mode", "keywords-only")
    assert result.exit_code == 0
    assert "AI" not in result.stdout


def test_the_mode_of_the_command_line_wins(lorestudio: Run, vault: Path, chat: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"enabled": true, "aiSearchEnabled": true, "aiSearchMode": "ai-only"}')

    def modes(*more: str) -> set[str]:
        result = lorestudio("replay", vault, "--chat", chat, "--settings", settings, "--json", *more)
        return {document["trace"]["mode"] for document in json.loads(result.stdout)}

    assert modes() == {"ai-only"}
    assert modes("--mode", "two-stage") == {"two-stage"}
    assert modes("--mode", "keywords-only") == {"keywords-only"}


def test_ai_only_does_not_list_the_rest_of_the_vault(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        command = ("replay", vault, "--chat", chat, "--answers", "Local", "--yes", "--mode")
        matched, whole = lorestudio(*command, "two-stage"), lorestudio(*command, "ai-only")
    assert "AI: 1 of 2 chosen (Local · small)" in told(matched)
    assert "- Old Bell: not chosen by the AI" in told(matched)
    assert "AI: 1 of 3 chosen (Local · small)" in told(whole)
    assert ": not chosen by the AI" not in told(whole)


# ---- a provider, and what it answered --------------------------------------------------------------------------------


def test_asked_once_then_free_and_exact(lorestudio: Run, vault: Path, chat: Path) -> None:
    command = ("replay", vault, "--chat", chat, *TWO_STAGE, "--json")
    with provider(choosing("Tide", "Lamp"), choosing("Tide"), choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        live = lorestudio(*command, "--answers", "Local", "--yes")
        asked = len(server.calls)
    assert live.exit_code == 0, live.stderr
    assert asked == len(recording(chat).read_text().splitlines()) > 0
    for name in ("recorded", "Local"):  # nobody listens any more
        again = lorestudio(*command, "--answers", name)
        assert again.exit_code == 0, again.stderr
        assert decisions(again) == decisions(live)
    assert again.stderr == f"No calls to a provider are needed. {asked} answers already recorded.\n"
    table = lorestudio(*command[:-1], "--answers", "recorded")
    assert "chosen (recorded from Local · small)" in told(table)
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port, "--replace")
        fresh = lorestudio(*command, "--answers", "Local", "--ask-again", "--yes")
        assert len(server.calls) > 0
    assert f"{asked} calls to the provider" in fresh.stderr
    assert decisions(fresh) != decisions(live)
    assert decisions(lorestudio(*command, "--answers", "recorded")) == decisions(fresh)
    assert f"{asked} questions answered by recorded from Local · small ({asked})" in told(table)
    assert "Tokens spent: 0 sent, 0 received." in told(table)


def test_the_costs_of_a_range_are_those_up_to_its_end(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        command = ("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
        none = lorestudio(*command, "--messages", "90-99")
        assert (none.exit_code, len(server.calls)) == (2, 0)
        assert "calls to the provider" not in none.stderr
        first = lorestudio(*command, "--messages", "0-2")
        asked = len(server.calls)
        lorestudio(*command)
        assert len(server.calls) > asked > 0  # later replies are asked for, too
    assert f" {asked} call" in first.stderr.splitlines()[0]


def test_costs_are_said_before_and_counted_after(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
        asked = len(server.calls)
    said = result.stderr.splitlines()
    where = re.escape(f"“Local” at 127.0.0.1:{server.port}, model small.")
    assert re.fullmatch(rf"{where} \d calls to the provider: ≈ [\d,]+ tokens sent, at most [\d,]+ received.", said[0])
    assert said[1].startswith("The requests hold texts of the chat and of notes.")
    assert f"Tokens spent: {11 * asked} sent, {7 * asked} received." in told(result)  # as the server reports them


def test_the_model_that_the_settings_name_is_the_one_that_is_asked(
    lorestudio: Run, vault: Path, chat: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"enabled": true, "aiSearchEnabled": true, "aiSearchModel": "named-there"}')
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("replay", vault, "--chat", chat, "--settings", settings, "--answers", "Local", "--yes")
        assert server.calls[0].body["model"] == "named-there"
    assert f"“Local” at 127.0.0.1:{server.port}, model named-there." in result.stderr


def answer_question(words: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=words)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("n\n", 130, "Go on? [y/N] lorestudio: stopped; nothing was sent."),
        ("\n", 130, "Go on? [y/N] lorestudio: stopped; nothing was sent."),
        ("", 2, "lorestudio: --yes: nobody is here to agree, so nothing was sent."),
    ],
)
def test_without_agreement_nothing_is_sent(
    lorestudio: Run, vault: Path, chat: Path, words: str, code: int, said: str
) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        result = answer_question(words, "replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local")
        assert server.calls == []
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.splitlines()[-1].startswith(said)
    assert not recording(chat).exists()


def test_with_agreement_it_goes_on(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        result = answer_question("y\n", "replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--json")
        assert server.calls
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)) == 4  # the question went to the error stream


def test_a_profile_in_keywords_only_mode_is_not_asked(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("replay", vault, "--chat", chat, "--mode", "keywords-only", "--answers", "Local")
        assert server.calls == []
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_key_is_sent_and_never_shown(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LORE_KEY", KEY)
    echo = reply({"error": {"message": f"the key {KEY} may not do this"}}, "401 Unauthorized")
    with provider(reply(completion(f'[{{"title": "Lamp", "reason": "{KEY}"}}]')), echo) as server:
        with_profile(lorestudio, server.port, "--key-variable", "LORE_KEY")
        command = ("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
        results = [lorestudio(*command), lorestudio(*command, "--json")]
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    for result in results:
        assert result.exit_code == 0
        assert KEY not in result.output
        assert "401" in result.stdout
    assert KEY not in recording(chat).read_text()
    assert KEY not in lorestudio("profiles", "list").output


def test_a_key_that_is_not_there_is_told_before_anything_is_sent(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port, "--key-variable", "NO_SUCH_KEY")
        result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
        assert server.calls == []
    assert (result.exit_code, result.stdout) == (2, "")
    assert "profile “Local”: Set the environment variable NO_SUCH_KEY" in result.stderr
    assert "Nothing was sent." in result.stderr


@pytest.fixture
def ctrl_c_works() -> Iterator[None]:
    """Tests that run in the background were told to ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_works")
def test_ctrl_c_in_the_middle_of_a_question(lorestudio: Run, vault: Path, chat: Path) -> None:
    async def interrupting(call: Call) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await call.until_hung_up()

    with provider(choosing("Lamp"), interrupting) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
    assert result.exit_code == 130
    assert "#1" in result.stdout  # what was done is shown
    assert "#3" not in result.stdout
    assert "lorestudio: stopped after 2 of " in result.stderr
    assert len(recording(chat).read_text().splitlines()) == 1  # what was answered is paid for and kept


# ---- failures --------------------------------------------------------------------------------------------------------


FAILURES = {
    "server error": (reply({"error": {"message": "out of order"}}, "500 Internal Server Error"), "out of order"),
    "refused": (reply({"error": {"message": "no"}}, "403 Forbidden"), "403"),
    "a page": (reply("<html><title>Welcome</title></html>", content_type="text/html"), "Welcome"),
    "words": (reply(completion("I would choose the lamp.")), "Failed to parse AI response as JSON"),
}


@pytest.mark.parametrize(("behaviour", "says"), FAILURES.values(), ids=FAILURES)
def test_a_provider_that_fails_leaves_what_the_keys_match(
    lorestudio: Run, vault: Path, chat: Path, behaviour: Behaviour, says: str
) -> None:
    with provider(behaviour) as server:
        with_profile(lorestudio, server.port)
        command = ("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
        table, traces = lorestudio(*command), lorestudio(*command, "--json")
    assert table.exit_code == traces.exit_code == 0
    assert "AI failed: " in table.stdout
    assert says in told(table)
    assert "; instead: what the keys match" in told(table)
    assert "4 failures" in told(table)
    for document in json.loads(traces.stdout):
        (stage,) = [stage for stage in document["trace"]["stages"] if stage["name"] == "AI selection"]
        assert (stage["note"], stage["details"]["fallback"]) == ("ai_error", "keyword")
        assert says in stage["details"]["error"]
    assert "the AI gave no usable answer in 4 of 4 generations, most often: " in traces.stderr
    assert says in traces.stderr


def test_a_failure_without_a_reason_is_counted(
    lorestudio: Run, vault: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a system from elsewhere may have it."""
    monkeypatch.setattr("lorestudio.cli.runs.tables.failure_of", lambda _trace: "")
    with_profile(lorestudio, UNUSED_PORT)
    command = ("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
    assert "the AI gave no usable answer in 4 of 4 generations." in lorestudio(*command, "--json").stderr


def test_nobody_listens(lorestudio: Run, vault: Path, chat: Path) -> None:
    with_profile(lorestudio, UNUSED_PORT)
    result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes")
    assert result.exit_code == 0
    assert "AI failed: " in result.stdout
    assert "; instead: what the keys match" in told(result)


def test_a_request_that_is_not_recorded(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(choosing("Lamp")) as server:
        with_profile(lorestudio, server.port)
        assert lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "Local", "--yes").exit_code == 0
    (vault / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nAnother lamp.\n")
    result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "recorded")
    assert result.exit_code == 0
    assert "AI failed: no answer to this request of kind search in chat.answers.jsonl; instead" in told(result)


def test_of_two_recorded_models_the_last_one_answers(lorestudio: Run, vault: Path, chat: Path) -> None:
    command = ("replay", vault, "--chat", chat, *TWO_STAGE)
    for model, title in (("first", "Lamp"), ("second", "Tide")):
        with provider(choosing(title)) as server:
            url = f"http://127.0.0.1:{server.port}"
            lorestudio("profiles", "add", "Local", "--url", url, "--model", model, "--replace")
            assert lorestudio(*command, "--answers", "Local", "--yes").exit_code == 0
    result = lorestudio(*command, "--answers", "recorded")
    assert "chosen (recorded from Local · second)" in told(result)
    assert result.stderr == "lorestudio: answers of second are used, the model asked last; also recorded: first.\n"


def test_a_line_that_cannot_be_read_is_told(lorestudio: Run, vault: Path, chat: Path) -> None:
    recording(chat).write_text("{broken\n")
    result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, "--answers", "recorded")
    assert result.exit_code == 0
    assert f"{recording(chat)}, line 1: not a recorded answer" in result.stderr


# ---- wrong use -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mode", "two"], ["--mode: there is no mode “two”.", "keywords-only, two-stage, ai-only"]),
        (["--answers", "Cloud"], ["--answers: there is no profile “Cloud”.", "stand-in, recorded, Local.", "profiles"]),
        (["--answers", "typed"], ["--answers: answers are typed in the window."]),
        (["--answers", "recorded"], ["chat.answers.jsonl: no answers are recorded yet."]),
        (["--fixed", "everything"], ["--fixed: ", "everything", "all, bootstrap_fallback"]),
    ],
)
def test_wrong_choices_are_named_and_end_with_2(
    lorestudio: Run, vault: Path, chat: Path, arguments: list[str], said: list[str]
) -> None:
    with_profile(lorestudio, UNUSED_PORT)
    result = lorestudio("replay", vault, "--chat", chat, *TWO_STAGE, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert all(words in result.stderr for words in said)
    assert "Traceback" not in result.stderr


# ---- behaviour switches ----------------------------------------------------------------------------------------------


@pytest.fixture
def same_candidates(tmp_path: Path) -> Path:
    """A chat whose second turn calls the same entries and says something new about them."""
    path = tmp_path / "same.txt"
    path.write_text("Wren: The lamp and the tide.\nOttoline: Yes.\nWren: Is the tide at the lamp?\nOttoline: Soon.\n")
    return path


@pytest.mark.parametrize("names", [["cache_same_candidates"], ["all"], ["cache_same_candidates", "trailing_reply"]])
def test_fixed_switches_change_the_outcome_and_say_so(
    lorestudio: Run, tmp_path: Path, same_candidates: Path, names: list[str]
) -> None:
    vault = tmp_path / "v"
    vault.mkdir()
    for name in ("Lamp", "Tide"):
        note = f"---\ntags: [lorebook]\nkeys: [{name.lower()}]\nconstant: false\n---\n{name}.\n"
        (vault / f"{name}.md").write_text(note)
    command = ("replay", vault, "--chat", same_candidates, *TWO_STAGE)
    flags = [part for name in names for part in ("--fixed", name)]
    exact, mended = lorestudio(*command), lorestudio(*command, *flags)
    assert exact.exit_code == mended.exit_code == 0
    assert "from the cache: the same candidates, whatever was said" in told(exact)
    assert "Fixed switches that changed something" not in told(exact)
    assert "whatever was said" not in told(mended)
    assert "cache_same_candidates (" in told(mended).partition("Fixed switches that changed something: ")[2]
    traces = json.loads(lorestudio(*command, *flags, "--json").stdout)
    noted = {item["switch"] for document in traces for item in document["trace"]["facts"]["switches"]}
    assert "cache_same_candidates" in noted


def test_a_stable_scene_has_its_lore_in_one_turn_of_three(lorestudio: Run, tmp_path: Path) -> None:
    # Cached selections and duplicate stripping together (rules: deeplore-tools 1.7).
    vault = tmp_path / "v"
    vault.mkdir()
    for name in ("Lamp", "Tide"):
        (vault / f"{name}.md").write_text(f"---\ntags: [lorebook]\nkeys: [{name.lower()}]\n---\n{name}.\n")
    evening = tmp_path / "evening.txt"
    evening.write_text("".join(f"Wren: The lamp and the tide, {turn}.\nOttoline: Yes.\n" for turn in "abcdef"))
    command = ("replay", vault, "--chat", evening, *TWO_STAGE)
    rows = re.findall(r"^\s*(?:#\d+|next)\s+\d+\s+(\d+)", lorestudio(*command).stdout, re.MULTILINE)
    assert rows == ["2", "0", "0", "2", "0", "0", "2"]
    assert ": already in context" in lorestudio(*command).stdout
    mended = lorestudio(*command, "--fixed", "duplicate_log")
    rows = re.findall(r"^\s*(?:#\d+|next)\s+\d+\s+(\d+)", mended.stdout, re.MULTILINE)
    assert rows == ["2"] * 7
    assert "Fixed switches that changed something: duplicate_log (6×)." in told(mended)


def test_the_help_of_fixed_and_its_error_name_every_switch(lorestudio: Run, vault: Path, chat: Path) -> None:
    result = lorestudio("replay", vault, "--chat", chat, "--fixed", "?")
    assert all(switch.name in result.stderr for switch in switches())


# ---- the session scribe ----------------------------------------------------------------------------------------------


NOTE = "Wren asks for a lamp and hears of the tide."


def test_the_scribe_writes_a_note(lorestudio: Run, vault: Path, chat: Path) -> None:
    before = chat.read_bytes()
    command = ("scribe", vault, "--chat", chat, "--answers")
    with provider(reply(completion(NOTE))) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio(*command, "Local", "--focus", "the tide", "--yes")
        assert "the tide" in server.calls[0].text
    assert (result.exit_code, result.stdout) == (0, f"{NOTE}\n")
    assert "1 call to the provider: ≈ " in result.stderr
    assert "Wrote a session note." in result.stderr
    assert chat.read_bytes() == before
    again = lorestudio(*command, "Local", "--focus", "the tide")
    assert (again.exit_code, again.stdout) == (0, f"{NOTE}\n")
    assert "No calls to a provider are needed. 1 answer already recorded." in again.stderr
    assert lorestudio(*command, "recorded", "--focus", "the tide").stdout == f"{NOTE}\n"
    with provider(reply(completion("Another note."))) as server:
        with_profile(lorestudio, server.port, "--replace")
        other = lorestudio(*command, "Local", "--focus", "the tide", "--yes", "--ask-again")
    assert (other.exit_code, other.stdout) == (0, "Another note.\n")
    assert "1 call to the provider: ≈ " in other.stderr


def test_the_scribe_saves_its_note_into_the_vault(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(reply(completion(NOTE))) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("scribe", vault, "--chat", chat, "--answers", "Local", "--yes", "--save")
    assert result.exit_code == 0
    (note,) = [path for path in vault.rglob("*.md") if path.parent != vault]
    assert NOTE in note.read_text(encoding="utf-8")
    assert note.name in result.stderr


def test_a_note_is_saved_into_a_folder_only() -> None:
    project = demo_project()
    (folder,) = project.vault_folders
    assert scribe._note_folder(replace(project, vault_folders=(None, folder))) == folder
    with pytest.raises(InputError, match="--save: a note is saved into a vault's folder"):
        scribe._note_folder(replace(project, vault_folders=(None,)))


def test_the_scribe_needs_agreement_too(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(reply(completion(NOTE))) as server:
        with_profile(lorestudio, server.port)
        result = answer_question("n\n", "scribe", vault, "--chat", chat, "--answers", "Local")
        assert server.calls == []
    assert (result.exit_code, result.stdout) == (130, "")


def test_a_scribe_that_fails_ends_with_1(lorestudio: Run, vault: Path, chat: Path) -> None:
    with provider(reply({"error": {"message": "out of order"}}, "500 Internal Server Error")) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("scribe", vault, "--chat", chat, "--answers", "Local", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "out of order" in result.stderr


@pytest.mark.parametrize("body", [None, [], ["a"], 7, True, {"selected": []}], ids=repr)
def test_json_of_no_known_shape_is_no_note(lorestudio: Run, vault: Path, chat: Path, body: object) -> None:
    with provider(reply(json.dumps(body))) as server:
        with_profile(lorestudio, server.port)
        result = lorestudio("scribe", vault, "--chat", chat, "--answers", "Local", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "its JSON has no known shape" in result.stderr
    recorded = lorestudio("scribe", vault, "--chat", chat, "--answers", "recorded")
    assert "no answers are recorded yet" in recorded.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stand-in", "--answers: the offline stand-in writes no notes."),
        ("Cloud", "--answers: there is no profile “Cloud”."),
        ("recorded", "no answers are recorded yet."),
    ],
)
def test_who_cannot_write_a_note(lorestudio: Run, vault: Path, chat: Path, name: str, said: str) -> None:
    result = lorestudio("scribe", vault, "--chat", chat, "--answers", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
