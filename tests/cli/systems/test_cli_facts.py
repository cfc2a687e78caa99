"""`lorestudio facts` on a small chat."""

import json

import pytest

from tests.cli.provider import provider
from tests.llm.server import completion, reply


@pytest.fixture
def told(tmp_path):
    path = tmp_path / "story.jsonl"
    records = [
        {"user_name": "Wren", "character_name": "Ottoline"},
        {"name": "Wren", "is_user": True, "mes": "I carry the lantern."},
        {"name": "Ottoline", "mes": "Good."},
        {"name": "Wren", "is_user": True, "mes": "I want the north road!"},
        {"name": "Ottoline", "mes": "Then go."},
    ]
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def listed(lorestudio, *more):
    return json.loads(lorestudio("facts", "list", "--json", *more).stdout)


def test_facts_are_drawn_out_once(lorestudio, told):
    first = lorestudio("facts", "extract", told)
    assert first.exit_code == 0
    assert "#0 to #3: 2 drawn out, 2 new" in first.stdout
    assert "often half of what was meant" in first.stderr
    later = lorestudio("facts", "extract", told)
    assert ("Nothing is waiting" in later.stdout, "half" in later.stderr) == (True, False)
    again = lorestudio("facts", "extract", told, "--again", "--json")
    assert json.loads(again.stdout)[0]["result"]["memoriesDeduped"] == 2
    assert [memory["content"] for memory in listed(lorestudio, "--chat", told)] == [
        "I carry the lantern", "I want the north road",
    ]  # fmt: skip
    assert "dormant" in lorestudio("facts", "threads", told).stdout
    (passage,) = json.loads(lorestudio("facts", "threads", told, "--json").stdout)
    assert (passage["first"], passage["last"], passage["state"], passage["memories"]) == (0, 3, "dormant", 2)


def test_words_of_a_memorys_source_stay_whole_in_a_narrow_terminal(lorestudio, told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lorestudio("facts", "extract", told)
    shown = lorestudio("facts", "search", "north road", "--chat", told).stdout
    assert "confirmed" in shown
    assert "general" in shown


def test_a_reply_that_is_no_json_is_told_with_the_way_to_ask_again(lorestudio, told):
    with provider(reply(completion("I cannot do that, friend."))) as server:
        lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{server.port}/v1", "--model", "m")
        done = lorestudio("facts", "extract", told, "--answers", "Local", "--yes")
    assert done.stdout.rstrip() == "#0 to #3: no facts: the reply with the facts is no JSON: I cannot do that, friend."
    assert "1 passage counts as read, without facts. --passage A-B asks once more." in done.stderr
    assert done.exit_code == 0
    assert "without facts" in lorestudio("facts", "threads", "--chat", told).stdout
    assert "half of what was meant" not in done.stderr, "a model did it"
    fact = completion('{"memories": [{"content": "The road is closed.", "source": "confirmed"}]}')
    with provider(reply(fact)) as server:  # what was recorded is the answer that is of no use
        lorestudio("profiles", "remove", "Local", "--yes")
        lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{server.port}/v1", "--model", "m")
        options = ("facts", "extract", told, "--answers", "Local", "--yes", "--passage")
        assert "no passage 4-7" in lorestudio(*options, "4-7").stderr
        assert "1 drawn out, 1 new" in lorestudio(*options, "0-3").stdout
    assert "without facts" not in lorestudio("facts", "threads", told).stdout


def test_a_refused_key_is_shown_once_and_the_rest_waits(lorestudio, told):
    with provider(reply({}, status=401)) as server:
        lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{server.port}/v1", "--model", "m")
        done = lorestudio("facts", "extract", told, "--answers", "Local", "--yes", "--set", "passage=2")
        assert len(server.calls) == 1
    assert "1 passage could not be read" in done.stderr
    assert "nobody was asked about 1 more passage, which would fail as well." in done.stderr


def test_a_provider_is_asked_once_the_person_agreed(lorestudio, told):
    with provider(reply(completion('{"memories": []}'))) as server:
        lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{server.port}/v1", "--model", "m")
        refused = lorestudio("facts", "extract", told, "--answers", "Local")
        assert refused.exit_code != 0
        assert "1 call to the provider" in refused.stderr
        assert "nothing was sent" in refused.stderr
        assert server.calls == []
        assert lorestudio("facts", "extract", told, "--answers", "Local", "--yes").exit_code == 0
        assert len(server.calls) == 1


def test_what_is_due_leaves_a_passage_alone_that_failed_three_times(lorestudio, told):
    with provider(*[reply({}, status=401)] * 3, reply(completion('{"memories": []}'))) as server:
        lorestudio("profiles", "add", "Local", "--url", f"http://127.0.0.1:{server.port}/v1", "--model", "m")
        for _ in range(3):
            assert lorestudio("facts", "extract", told, "--due", "--answers", "Local", "--yes").exit_code != 0
        left = lorestudio("facts", "extract", told, "--due", "--answers", "Local", "--yes")
        assert (left.exit_code, left.stdout) == (0, "Nothing is due.\n")
        assert "Left for later: 1 passage" in left.stderr
        assert "Without --due" in left.stderr
        assert lorestudio("facts", "extract", told, "--answers", "Local", "--yes").exit_code == 0


def test_a_memory_is_searched_shown_edited_pinned_and_deleted(lorestudio, told):
    lorestudio("facts", "extract", told)
    lantern, road = listed(lorestudio)
    found = json.loads(lorestudio("facts", "search", "north road", "--chat", told, "--json").stdout)
    assert found[0]["id"] == road["id"]
    nothing = lorestudio("facts", "search", " ", "--chat", told)
    assert (nothing.exit_code, nothing.stdout) == (2, "")
    assert "lorestudio facts list" in nothing.stderr
    shown = lorestudio("facts", "show", lantern["id"][:8]).stdout
    assert f"#0 to #3 of {told.parent.name}/story" in shown
    assert "plain rules: 2 drawn out, 2 new" in shown
    edited = lorestudio("facts", "edit", lantern["id"], "Wren carries a bell")
    assert (edited.exit_code, edited.stderr) == (0, "lorestudio: written.\n")
    pinned = lorestudio("facts", "pin", road["id"])
    assert (pinned.exit_code, pinned.stderr) == (0, "lorestudio: pinned: I want the north road\n")
    assert [memory["content"] for memory in listed(lorestudio, "--pinned")] == ["I want the north road"]
    assert "no longer pinned: I want the north road" in lorestudio("facts", "unpin", road["id"]).stderr
    assert listed(lorestudio, "--pinned") == []
    asked = lorestudio("facts", "delete", lantern["id"])
    assert asked.exit_code != 0
    assert len(listed(lorestudio)) == 2
    assert "1 memory deleted." in lorestudio("facts", "delete", lantern["id"], "--yes").stderr
    assert [memory["content"] for memory in listed(lorestudio)] == ["I want the north road"]


def test_a_chat_is_replayed_with_its_memories(lorestudio, told, vault):
    lorestudio("facts", "extract", told, "--set", "passage=2")
    run = lorestudio("replay", vault, "--chat", told, "--system", "facts", "--json")
    traces = json.loads(run.stdout)
    assert run.exit_code == 0
    texts = [block["text"] for item in traces for block in item["trace"].get("prompt", ())]
    assert any("I carry the lantern" in text for text in texts)


def test_what_cannot_be_done_is_said(lorestudio, told):
    missing = lorestudio("facts", "show", "abc")
    assert missing.exit_code == 2
    assert "no memory begins with this id" in missing.stderr
    wrong = lorestudio("facts", "list", "--set", "embedder=Nobody")
    assert wrong.exit_code == 2
    assert "there is no profile" in wrong.stderr
    assert "There are no such memories" in lorestudio("facts", "list").stdout
    assert "There is no profile" in lorestudio("facts", "profile", told).stdout
    assert "0 vectors made" in lorestudio("facts", "refresh").stdout
