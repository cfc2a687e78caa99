"""What is behind a difference: planted causes are named, and what no file keeps is no contradiction."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lorestudio.domain.chat import Generation
from lorestudio.domain.history import HiddenSince
from lorestudio.domain.lifecycle import Cancelled, CancelToken
from lorestudio.domain.records import replace
from lorestudio.domain.state import EntryRule
from lorestudio.settings.studio import ChatBasis
from lorestudio.studio.project.basis import KeptBasis
from lorestudio.studio.verify.agreement import Agreement, WentIn
from lorestudio.studio.verify.causes import verify
from lorestudio.studio.verify.suspects import SuspectKind
from tests.golden.chats import project_of, recorded_chat
from tests.golden.compare import read_cases
from tests.golden.files import GOLDEN_DEV
from tests.studio.verify.worlds import RECORDS, TEXTS, chat, pinned, project, source, titles, verified


def test_where_nothing_changed_everything_agrees() -> None:
    found = verified()
    assert (found.percent, found.judged, found.causes) == (100, 3, ())
    assert found.sentence == "3 of 3 replies agree: 100.0 %."


@pytest.mark.parametrize(
    "name",
    [
        "dev-11", "dev-75", "dev-141", "dev-177", "dev-232",
        "dev-18",  # other pins than today's
        "dev-96",  # one title in two vaults, of which the lots let in one
        "dev-179",  # a model that failed, whereupon the record was carried over
        "dev-194",  # a required entry whose lot nobody recorded
        "dev-327",  # a model's choice that was remembered
        "dev-337", pytest.param("dev-367", marks=pytest.mark.long),  # continued replies
    ],
)  # fmt: skip
def test_recorded_runs_written_as_chats_agree(name: str) -> None:
    case = next(each for each in read_cases(GOLDEN_DEV) if each.id == name)
    written = recorded_chat(case)
    assert written is not None
    found = verify(project_of(case, written))
    assert found.judged > 0
    assert (found.percent, found.count(Agreement.DIFFERS)) == (100, 0)


def test_another_scan_depth_is_named() -> None:
    found = verified(scan_depth=2)
    assert [each.verdict for each in found.replies] == [Agreement.AGREES, Agreement.DIFFERS, Agreement.AGREES]
    (differing,) = found.replies[1].differing
    assert (differing.where, differing.title) == (WentIn.THERE, "Lamp")
    best = found.causes[0]
    assert (best.kind, best.suspect.subject, best.broken) == (SuspectKind.SETTING, "scan_depth", 0)
    assert best.explains == (Generation(4),)
    assert found.sentence.startswith("2 of 3 replies agree: 66.7 %. With this, 3 would: “Scan depth” was")


CONSTANT = {"Bell.md": TEXTS["Bell.md"].replace("keys: [bell]", "keys: []\nconstant: true")}
EDITED = TEXTS["Lamp.md"] + "It hangs by the gate, and nobody has lit it since the flood.\n"


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        ({"Lamp.md": None}, "The note “Lamp” was there then: no note of that title is in the vault now."),
        ({"Lamp.md": TEXTS["Lamp.md"].replace("[lorebook]", "[]")}, "The note “Lamp” was there then: it is no entry"),
        ({"Lamp.md": TEXTS["Lamp.md"].replace("lamp]", "lantern]")},
         "The note “Lamp” was another one then: it came in by “lamp”, which is no key of it now."),
        ({"Lamp.md": EDITED}, "The note “Lamp” was another one then: it had 4 tokens then, and"),
        ({"Lamp.md": TEXTS["Lamp.md"].replace("keys: [lamp]", "keys: [lamp]\nrequires: [Bell]")},
         "The note “Lamp” had no requirements then."),
        ({"Bell.md": TEXTS["Bell.md"].replace("bell]", "bell, lamp]")},
         "The note “Bell” did not have the key “lamp” then."),
    ],
)  # fmt: skip
def test_a_note_that_was_another_one_is_named(texts: dict[str, Any], title: str) -> None:
    found = verified(texts)
    assert found.count(Agreement.DIFFERS) == 2
    assert titles(found)[0].startswith(title)
    assert found.causes[0].explains == (Generation(2), Generation(4))


def test_two_notes_together_explain_what_one_of_them_explains_too() -> None:
    bell = source("Bell", "(constant)")
    there = chat({2: [bell, source("Lamp")], 4: [bell, source("Lamp")], 6: [bell, source("Reed")]})
    found = verified({"Bell.md": None, "Lamp.md": None}, there)
    gone = "The note “{}” was there then: no note of that title is in the vault now."
    assert titles(found)[0] == f"{gone.format('Bell')} {gone.format('Lamp')}"
    assert found.causes[0].explains == (Generation(2), Generation(4), Generation(6))
    assert found.sentence.startswith("0 of 3 replies agree: 0.0 %. With this, 3 would:")
    assert found.replies[2].because == (gone.format("Bell"),)  # the lamp has no part in that one


def test_that_the_file_of_a_note_is_newer_than_the_reply_speaks_for_the_note(tmp_path: Path) -> None:
    key = TEXTS["Bell.md"].replace("bell]", "bell, lamp]")
    titles_of = {}
    for name, day in (("before", 20), ("after", 60)):  # the replies were written on the sixtieth day of 2026
        folder = tmp_path / name
        folder.mkdir()
        (folder / "Bell.md").write_text(key, encoding="utf-8")
        changed = datetime(2026, 1, 1, tzinfo=UTC).timestamp() + 86_400 * day
        os.utime(folder / "Bell.md", (changed, changed))
        made = project({"Bell.md": key})
        titles_of[name] = titles(verify(replace(made, vault_folders=(folder,))))[0]
    assert titles_of == {
        "before": "The note “Bell” did not have the key “lamp” then.",
        "after": "The note “Bell” did not have the key “lamp” then. Its file was changed after that reply.",
    }


def test_a_message_that_was_hidden_then_is_named() -> None:
    bell = source("Bell", "(constant)")
    there = chat({2: [bell, source("Lamp")], 4: [bell], 6: [bell, source("Reed")]})
    assert "Message #1 was hidden and is not today." in titles(verified(CONSTANT, there))


def test_since_when_a_message_is_hidden_is_kept_by_no_file() -> None:
    there = chat({4: [source("Bell", "(constant)")]}, {}, m1={"is_system": True})
    found = verified(CONSTANT, there)
    assert found.replies[1].verdict is Agreement.MAY_BE
    cause = next(each for each in found.causes if each.kind is SuspectKind.HIDDEN)
    assert cause.title == "Message #1 was hidden already."
    (hidden,) = cause.suspect.hidden
    assert hidden.since == 2


def test_that_hidden_messages_were_all_in_sight_is_one_cause() -> None:
    """The lamp of #1 for #2, the reed of #5 for #6: no message alone explains both."""
    there = {2: [source("Lamp")], 6: [source("Reed")]}
    made = project(None, chat(there, m1={"is_system": True}, m5={"is_system": True}))
    found = verify(replace(made, basis=KeptBasis(ChatBasis(history="now"))))
    best = found.causes[0]
    assert (best.title, best.explains) == ("What is hidden today was still in sight.", (Generation(2), Generation(6)))
    assert best.suspect.hidden == (HiddenSince(1, 1, 7), HiddenSince(5, 5, 7))
    assert not any(each.can_be_taken_over for each in found.causes[1:] if each.kind is SuspectKind.HIDDEN)


def test_choices_may_have_been_others() -> None:
    made = pinned(project(), pins=(EntryRule("Bell"),))
    found = verify(made)
    assert (found.percent, found.count(Agreement.MAY_BE)) == (100, 3)
    assert "Nothing was pinned yet." in titles(found)
    assert found.replies[0].because[0].endswith("No file keeps that.")


def test_trackers_begin_anew_when_a_chat_is_opened() -> None:
    cooling = {"Lamp.md": TEXTS["Lamp.md"].replace("[lamp]", "[lamp]\ncooldown: 3")}
    found = verified(cooling)
    assert found.replies[1].verdict is Agreement.MAY_BE
    assert "The chat was opened again before #4." in titles(found)
    assert "The note “Lamp” had no cooldown then." in titles(found)


def test_a_record_that_was_carried_over_is_no_contradiction() -> None:
    found = verified(None, chat(slots={"1|0": [], "5|0": []}), scan_depth=2)
    assert found.replies[1].verdict is Agreement.NOT_TRUSTED
    assert "that of #2 again" in found.replies[1].because[0]
    assert (found.percent, found.judged) == (100, 2)


def test_tokens_that_are_counted_otherwise_everywhere_are_not_compared() -> None:
    # The window of four messages holds all that was said before #4.
    every = ("Lamp", "Reed", "Bell")
    keys = {f"{title}.md": TEXTS[f"{title}.md"].replace(f"keys: [{title.lower()}]", "keys: [lamp]") for title in every}
    there = [source(title, "lamp", tokens=40 + place) for place, title in enumerate(sorted(every))]
    found = verified(keys, chat({2: there, 4: there}))
    assert [each.verdict for each in found.replies[:2]] == [Agreement.AGREES] * 2
    assert "Name the tokenizer" in found.remarks[0]


def test_the_order_of_the_prompt_is_compared() -> None:
    keys = {"Bell.md": TEXTS["Bell.md"].replace("bell]", "bell, lamp]")}
    found = verified(keys, chat({2: [source("Lamp"), source("Bell", "lamp")]}))
    assert found.replies[0].reordered
    assert found.replies[0].verdict is Agreement.DIFFERS


def test_without_any_record_nothing_can_be_judged() -> None:
    found = verified(None, chat({}))
    assert (found.percent, found.count(Agreement.NO_RECORD)) == (None, 3)
    assert "No reply could be judged" in found.sentence


def test_the_search_can_be_stopped() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        verify(project(scan_depth=2), on_progress=lambda _progress: token.cancel(), cancel=token)


def test_a_swipe_is_held_against_its_own_record() -> None:
    infos = [{"extra": {"deeplore_sources": [source("Bell")]}}, {}]
    swiped = {"swipes": ["Yes.", "No."], "swipe_id": 1, "swipe_info": infos}
    found = verify(project(None, chat(m2={**swiped, "extra": {"deeplore_sources": RECORDS[2]}})))
    assert [(each.generation, each.verdict) for each in found.replies[:2]] == [
        (Generation(2, 0), Agreement.DIFFERS), (Generation(2, 1), Agreement.AGREES),
    ]  # fmt: skip
    assert replace(found.replies[0], record=None).distance == 2
