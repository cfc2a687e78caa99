import json

import pytest

from tests.cli.provider import provider
from tests.llm.server import completion, reply
from tests.systems.recap.files import SETTINGS, records, write_chat


@pytest.fixture
def tale(tmp_path):
    return write_chat(tmp_path / "Tale.jsonl")


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "recap.json"
    path.write_text(json.dumps(SETTINGS.model_dump()), encoding="utf-8")
    return path


def test_status_run_scenes_and_show(lorestudio, tale, settings):
    options = ("--chat", tale, "--settings", settings)
    before = lorestudio("recap", "status", *options)
    assert before.exit_code == 0
    assert "Messages: 12, 0 with a recap" in before.stdout
    assert "“recap run” makes recaps." in before.stdout
    some = lorestudio("recap", "run", *options, "--context-size", 8000, "--set", "auto_recap_message_limit=2")
    assert "9 older messages have no recap: “Look back” in the recap settings is 2." in some.stderr
    made = lorestudio("recap", "run", *options, "--context-size", 8000)
    assert "no recap: “Look back”" not in made.stderr
    assert made.exit_code == 0, made.output
    assert "Messages: 12, 11 with a recap (11 take part)" in made.stdout
    assert "Scenes: 2, 0 without a recap." in made.stdout
    assert "Running recap: 2 versions, version 1 goes into the prompt.\n" in made.stdout
    assert "Recap memory is off" in lorestudio("recap", "show", *options, "--set", "enabled=false").stdout
    listed = lorestudio("recap", "scenes", *options).stdout
    assert "0-3" in listed
    assert "locked" in listed
    assert "<ROLEPLAY_RECAP>" in lorestudio("recap", "show", *options).stdout
    assert "#2 Wren: included" in lorestudio("recap", "show", *options, "--message", 2).stdout
    assert "(messages 0 to 3)" in lorestudio("recap", "show", *options, "--scene", 3).stdout
    assert "Stages" in lorestudio("recap", "show", *options, "--trace").stdout
    trace = json.loads(lorestudio("recap", "show", *options, "--json").stdout)
    assert trace["trace"]["system"] == "recap"
    queue = lorestudio("recap", "queue", *options).stdout
    assert "completed" in queue

    def told(command):
        return json.loads(lorestudio("recap", command, *options, "--json").stdout)

    state = told("status")
    assert [len(state["messages"]), len(state["scenes"]), state["running"], state["left"]] == [12, 2, 1, 0]
    assert [scene["where"] for scene in told("scenes")] == [scene["where"] for scene in state["scenes"]]
    assert told("scenes")[0]["where"] == [0, 3]
    assert [version["current"] for version in told("running")] == [False, True]
    assert {each["outcome"] for each in told("queue")["finished"]} == {"completed"}
    again = lorestudio("recap", "run", *options)
    assert again.stdout == "Nothing is due.\n"


def test_choosing_and_editing(lorestudio, tale, settings, tmp_path):
    options = ("--chat", tale, "--settings", settings)
    lorestudio("recap", "run", *options)
    assert "* " in lorestudio("recap", "running", *options, "--use", 0).stdout
    status = lorestudio("recap", "status", *options).stdout
    assert "version 0 goes into the prompt. 1 newer scene is not in it.\n" in status
    text = tmp_path / "new.txt"
    text.write_text("Edited by hand.\n", encoding="utf-8")
    assert lorestudio("recap", "edit", "--chat", tale, "--text", text).exit_code == 0
    assert lorestudio("recap", "show", *options, "--version", 2).stdout == "Edited by hand.\n"
    assert lorestudio("recap", "edit", "--chat", tale, "--text", text, "--message", 0, "--exclude").exit_code == 0
    assert "excluded, edited" in lorestudio("recap", "show", *options, "--message", 0).stdout
    assert "8-9" in lorestudio("recap", "scenes", *options, "--toggle", 9).stdout
    assert lorestudio("recap", "running", *options, "--delete", 2).exit_code == 0


def test_a_running_recap_of_another_chat_is_told(lorestudio, tale, settings):
    lorestudio("recap", "run", "--chat", tale, "--settings", settings)
    renamed = tale.rename(tale.with_name("Another name.jsonl"))
    for what in ("status", "running", "run"):
        said = lorestudio("recap", what, "--chat", renamed, "--settings", settings).stderr
        assert "The running recap in this file belongs to “Tale”, and the open chat is “Another name”." in said, what
    assert "* " in lorestudio("recap", "running", "--chat", renamed, "--adopt").stdout
    assert "version 1 goes into the prompt" in lorestudio("recap", "status", "--chat", renamed).stdout
    assert "fits its scenes" in lorestudio("recap", "running", "--chat", renamed, "--adopt").stderr


def test_an_empty_queue_is_said(lorestudio, tale):
    result = lorestudio("recap", "queue", "--chat", tale)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing was queued yet" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "--message", 99), "there is no message 99"),
        (("show", "--scene", 2), "message 2 ends no scene"),
        (("running", "--use", 3), "has no version 3. There are: none"),
        (("run", "--scene", 2), "message 2 ends no scene"),
        (("run", "--message", 2, "--message", 999), "there is no message 999"),
        (("scenes", "--next", 2), "message 2 ends no scene"),
        (("run", "--running"), "no scene has a recap yet"),
        (("queue", "--remove", "op_1"), "no operation “op_1”"),
        (("queue", "--pause", "--resume"), "it cannot go together with --pause"),
        (("run", "--answers", "nobody"), "there is no profile “nobody”"),
    ],
)
def test_what_cannot_be_done_says_why(lorestudio, tale, arguments, message):
    result = lorestudio("recap", arguments[0], "--chat", tale, *arguments[1:])
    assert result.exit_code == 2
    assert message in result.stderr
    assert json.loads(lorestudio("recap", "queue", "--chat", tale, "--json").stdout)["operations"] == []


@pytest.mark.parametrize("what", [(), ("--message", 0)])
def test_plain_text_is_refused_before_anybody_is_asked(lorestudio, tmp_path, what):
    chat = tmp_path / "tale.txt"
    chat.write_text("Wren: Who rings the bell?\nAda: I do.\n", encoding="utf-8")
    with provider(reply(completion("She rings it."))) as server:
        assert lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small").exit_code == 0
        result = lorestudio("recap", "run", "--chat", chat, "--answers", "Mine", "--yes", *what)
        assert server.calls == []
    assert result.exit_code == 2
    assert "plain text holds no recaps" in result.stderr
    assert "Retry" not in result.stderr
    assert "nothing was queued" in lorestudio("recap", "queue", "--chat", chat).stderr


def test_settings_that_cannot_be_used_are_told(lorestudio, tale, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"auto_hide_scene_count": "many"}', encoding="utf-8")
    result = lorestudio("recap", "status", "--chat", tale, "--settings", path)
    assert result.exit_code == 0
    assert "“auto_hide_scene_count”: 'many' is no number" in result.stderr


def test_a_provider_is_asked_only_after_agreement(lorestudio, tale, monkeypatch):
    with provider(reply(completion("She opens it."))) as server:
        added = lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small")
        assert added.exit_code == 0, added.output
        run = ("recap", "run", "--chat", tale, "--message", 0, "--answers", "Mine")
        refused = lorestudio(*run)
        assert refused.exit_code == 2
        assert "nothing was sent" in refused.stderr
        assert server.calls == []
        assert "op_" not in lorestudio("recap", "queue", "--chat", tale).stdout
        done = lorestudio(*run, "--yes")
        assert done.exit_code == 0, done.output
        assert "1 call to the provider" in done.stderr
    assert records(tale)[1]["extra"]["auto_recap"]["memory"] == "She opens it."


def test_what_failed_for_good_ends_with_an_error(lorestudio, tale):
    with provider(reply({"error": {"message": "no"}}, "401 Unauthorized")) as server:
        lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small")
        result = lorestudio("recap", "run", "--chat", tale, "--message", 0, "--answers", "Mine", "--yes")
    assert result.exit_code == 1
    assert "Recap of a message, #0" in result.stderr


@pytest.mark.parametrize(("finish", "told"), [("length", True), ("stop", False)])
def test_a_recap_without_its_end_is_kept_and_told(lorestudio, tale, finish, told):
    with provider(reply(completion("She opens", finish))) as server:
        lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small")
        result = lorestudio("recap", "run", "--chat", tale, "--message", 0, "--answers", "Mine", "--yes")
    assert result.exit_code == 0
    assert ("1 answer was cut off at the limit of tokens" in " ".join(result.stderr.split())) is told
    assert records(tale)[1]["extra"]["auto_recap"]["memory"] == "She opens"


def test_a_paused_queue_can_be_emptied(lorestudio, tale):
    assert lorestudio("recap", "queue", "--chat", tale, "--pause").exit_code == 0
    assert lorestudio("recap", "queue", "--chat", tale, "--clear").exit_code == 0


def test_clearing_asks_first(lorestudio, tale):
    lorestudio("recap", "run", "--chat", tale, "--message", 0)
    assert lorestudio("recap", "clear", "--chat", tale).exit_code == 2
    assert "memory" in records(tale)[1]["extra"]["auto_recap"]
    done = lorestudio("recap", "clear", "--chat", tale, "--yes")
    assert "Taken out: 1 recap of a message" in done.stdout
    assert "auto_recap" not in records(tale)[1]["extra"]


@pytest.fixture
def once(tmp_path, monkeypatch):
    """Settings that try a failed question once more, at once."""
    monkeypatch.setattr("lorestudio.systems.recap.queue.retry_delay", lambda _retries: 0)
    path = tmp_path / "once.json"
    path.write_text('{"max_retries": 1}', encoding="utf-8")
    return path


@pytest.mark.parametrize("body", [None, [], ["a"], 7, True, {"selected": []}], ids=repr)
def test_json_of_no_known_shape_is_no_recap_of_a_message(lorestudio, tale, once, body):
    run = ("recap", "run", "--chat", tale, "--settings", once, "--message", 0, "--answers", "Mine", "--yes")
    with provider(reply(json.dumps(body)), reply(json.dumps(body))) as server:
        lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small")
        result = lorestudio(*run)
    assert result.exit_code == 1
    assert "its JSON has no known shape" in " ".join(result.output.split())
    assert not records(tale)[1]["extra"]["auto_recap"].get("memory")


def test_json_of_no_known_shape_is_no_running_recap(lorestudio, tale, settings, once):
    lorestudio("recap", "run", "--chat", tale, "--settings", settings)
    before = lorestudio("recap", "show", "--chat", tale).stdout
    with provider(reply("null"), reply("null")) as server:
        lorestudio("profiles", "add", "Mine", "--url", f"{server.url}/v1", "--model", "small")
        run = ("recap", "run", "--chat", tale, "--settings", once, "--running", "--answers", "Mine", "--yes")
        result = lorestudio(*run)
    assert result.exit_code == 1
    assert "its JSON has no known shape" in " ".join(result.output.split())
    assert lorestudio("recap", "show", "--chat", tale).stdout == before


def test_where_nothing_is_listed_yet_it_says_how_to_begin(lorestudio, tale):
    for command, said in (("scenes", "there is no scene yet"), ("running", "there is no running recap yet")):
        result = lorestudio("recap", command, "--chat", tale)
        assert (result.exit_code, result.stdout, said in result.stderr) == (0, "", True)
        assert "lorestudio recap run --" in result.stderr
