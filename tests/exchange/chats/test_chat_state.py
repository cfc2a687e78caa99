"""A chat's choices go into its header and nowhere else (rules: deeplore-tools 4.7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.domain.records import replace
from lorestudio.domain.state import ChatControls, EntryRule
from lorestudio.exchange import json_file
from lorestudio.exchange.chats.loading import load_chat
from lorestudio.exchange.chats.metadata import plan_state, read_controls, state_json
from lorestudio.exchange.problems import InputError

HEADER = (
    '{"user_name":"Wren","character_name":"Ada","chat_metadata":{"note_depth":4.0,'
    '"deeplore_pins":["Flood",{"title":"Hob","vaultSource":"v","since":1}],"deeplore_context":{"era":"old"},"z":"\\u00e9"}}'
)
BODY = '\r\n{"name":"Wren","mes":"A lamp.","extra":{"x":1.50}}\nnot json\n{"name":"Ada","mes":"Yes."}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "chat.jsonl"
    file.write_bytes((HEADER + BODY).encode())
    return file


def known(path: Path) -> ChatControls:
    return read_controls(load_chat(path).chat.metadata)


def test_only_the_changed_keys_change_and_every_other_byte_stays(path: Path) -> None:
    before = known(path)
    controls = replace(before, pins=(*before.pins, EntryRule("Lamp")), notebook="Remember the bell.")
    plan = plan_state(path, controls, before)
    assert [(change.key.key, change.before, change.after) for change in plan.changes] == [
        ("deeplore_pins", "Flood, Hob (v)", "Flood, Hob (v), Lamp"),
        ("deeplore_notebook", "none", "Remember the bell."),
    ]
    assert plan.file is not None
    copy = json_file.carry_out(plan.file)
    assert copy.read_bytes() == (HEADER + BODY).encode()
    written = path.read_bytes().decode()
    assert written.endswith(BODY)
    assert written.removesuffix(BODY) == HEADER.replace(
        '"since":1}]', '"since":1},{"title":"Lamp","vaultSource":null}]'
    ).replace('"z":"\\u00e9"', '"z":"\\u00e9","deeplore_notebook":"Remember the bell."')
    assert known(path) == controls


def test_everything_a_person_chooses_is_read_back(path: Path) -> None:
    controls = ChatControls(
        (EntryRule("A"),),
        (EntryRule("B", "v"),),
        ("places",),
        {"era": ["new", "old"], "scene": "fight"},
        "n",
        "ai",
        "s",
    )
    plan = plan_state(path, controls, known(path))
    assert plan.file is not None
    assert len(plan.changes) == 7
    json_file.carry_out(plan.file)
    assert known(path) == controls
    again = plan_state(path, ChatControls(), controls)
    assert again.file is not None
    json_file.carry_out(again.file)
    metadata = load_chat(path).chat.metadata
    assert (metadata["deeplore_pins"], metadata["deeplore_folder_filter"]) == ([], None)
    assert known(path) == ChatControls()


def test_what_was_not_changed_here_stays_as_it_is_by_now(path: Path) -> None:
    before = known(path)
    path.write_bytes(path.read_bytes().replace(b'"era":"old"', b'"era":"new"'))
    plan = plan_state(path, replace(before, notebook="n"), before)
    assert plan.file is not None
    json_file.carry_out(plan.file)
    assert known(path).context == {"era": "new"}


def test_what_was_changed_in_both_places_is_said(path: Path) -> None:
    before = known(path)
    path.write_bytes(path.read_bytes().replace(b'"era":"old"', b'"era":"new"'))
    controls = replace(before, context={"era": "future"}, notebook="n")
    assert [change.clashes for change in plan_state(path, controls, before).changes] == [True, False]
    only = plan_state(path, controls, before, {"deeplore_notebook"})
    assert [change.key.key for change in only.changes] == ["deeplore_notebook"]
    assert plan_state(path, replace(before, context={"era": "new"}), before).changes == ()


def test_folders_that_the_vault_does_not_have_are_no_change_in_the_file(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"z":', b'"deeplore_folder_filter":["places","gone"],"z":'))
    before = replace(known(path), folders=("places",))  # as a project reads it
    (change,) = plan_state(path, replace(before, folders=("items",)), before).changes
    assert not change.clashes
    assert change.before == "places, gone"


def test_a_header_without_metadata_gets_some(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf\n{"user_name": "W"}\n{"mes": "x"}')
    plan = plan_state(path, ChatControls(notebook="n"), ChatControls())
    assert plan.file is not None
    assert plan.file.data.startswith(b'\xef\xbb\xbf\n{"user_name": "W"')
    assert plan.file.data.endswith(b'\n{"mes": "x"}')
    assert json.loads(plan.file.data.split(b"\n")[1])["chat_metadata"] == {"deeplore_notebook": "n"}


@pytest.mark.parametrize("text", ['{"mes": "x"}', "Wren: Hello", "", "\n\n", '{"odd": 1}\n{"mes": "x"}'])
def test_a_file_without_a_header_is_refused(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no header line|is empty"):
        plan_state(path, ChatControls(notebook="n"), ChatControls())


def test_nothing_changed_means_nothing_to_write(path: Path) -> None:
    plan = plan_state(path, known(path), known(path))
    assert (plan.changes, plan.file) == ((), None)


def test_the_choices_as_json_are_what_deeplore_reads() -> None:
    controls = ChatControls((EntryRule("A"),), folders=("places",), context={"era": "old"})
    assert read_controls(json.loads(state_json(controls))) == controls
