"""Settings of systems beside DeepLore, carried to where they run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lorestudio.exchange import json_file
from lorestudio.exchange.problems import InputError
from lorestudio.settings.declaration import declared
from lorestudio.settings.deeplore import setting_value
from lorestudio.settings.files import SettingsError
from lorestudio.settings.recap import RecapSettings
from lorestudio.settings.sections import section_of
from lorestudio.settings.worldinfo import WorldInfoSettings
from lorestudio.systems.base import SystemKind
from lorestudio.systems.registry import KINDS, kind_of

HOST = (
    '{"power_user": {},\n  "world_info_settings": { "world_info_depth": 5,  "world_info": {"globalSelect": ["A"]}},\n'
    '  "extension_settings": {"note": {"allowWIScan": false, "x": 1.50}, "auto_recap_memory": {"auto_recap": true}}}\n'
)
DEEPER = WorldInfoSettings(depth=7, scan_note=True, vectors=True, book="A.json")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    path = tmp_path / "settings.json"
    path.write_text(HOST, encoding="utf-8")
    return path


def test_each_key_goes_to_its_place_and_all_else_stays_as_it_is(host: Path) -> None:
    carrier = kind_of("world-info").carrier(DEEPER)
    differing = {each.declaration.alias: (each.before, each.after) for each in carrier.candidates(host)}
    assert differing == {"world_info_depth": (5, 7), "allowWIScan": (False, True), "enabled_world_info": (False, True)}
    values, remarks = carrier.prepared(differing)
    assert remarks == ()
    merge = carrier.plan(host, values)
    assert [each.text for each in merge.changes] == [
        "world_info_depth: 5 messages → 7 messages", "allowWIScan: off → on",
        "enabled_world_info: off (not written) → on",
    ]  # fmt: skip
    assert [each for each in merge.remarks if "extension_settings.vectors" in each] == list(merge.remarks)
    json_file.carry_out(merge.file)
    after = host.read_text(encoding="utf-8")
    assert '{ "world_info_depth": 7,  "world_info": {"globalSelect": ["A"]}}' in after
    assert '"allowWIScan": true, "x": 1.50' in after
    assert json.loads(after)["extension_settings"]["vectors"] == {"enabled_world_info": True}
    assert carrier.candidates(host) == ()


def test_what_only_the_studio_has_stays_here(host: Path) -> None:
    carrier = kind_of("world-info").carrier(DEEPER)
    values, remarks = carrier.prepared(["book", "world_info_depth"])
    assert values == {"world_info_depth": 7}
    assert [each.startswith("book: only lorestudio") for each in remarks] == [True]
    assert "book" in {each.declaration.alias for each in carrier.differing()}
    assert not carrier.plan(host, {"world_info_depth": 5}).changes


def test_the_older_name_is_kept_where_it_is_used(host: Path) -> None:
    carrier = kind_of("recap").carrier(RecapSettings(auto_recap=False))
    json_file.carry_out(carrier.plan(host, carrier.prepared(["auto_recap"])[0]).file)
    extensions = json.loads(host.read_text(encoding="utf-8"))["extension_settings"]
    assert (extensions["auto_recap_memory"], "auto_recap" in extensions) == ({"auto_recap": False}, False)


def test_an_object_that_is_none_is_not_written_over(host: Path) -> None:
    host.write_text('{"power_user": {}, "world_info_settings": [1]}', encoding="utf-8")
    with pytest.raises(InputError, match="world_info_settings"):
        kind_of("world-info").carrier(DEEPER).candidates(host)


def test_a_system_without_a_place_there_says_so_and_gives_its_file() -> None:
    kind = kind_of("context-window")
    carrier = kind.carrier(kind.read(None, ["total_token_budget=2000"]))
    assert "own program" in carrier.not_there
    values, _ = carrier.prepared([each.declaration.alias for each in carrier.differing()])
    assert json.loads(carrier.snippet(values)) == {"totalTokenBudget": 2000}


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if not kind.in_project], ids=lambda kind: kind.name)
def test_what_was_exported_is_read_for_a_run(kind: SystemKind, host: Path) -> None:
    """Every switch that can be carried over, thrown."""
    switches = {each.alias: not each.default for each in declared(kind.settings) if each.type is bool}
    carrier = kind.carrier(section_of(switches, kind.settings, "switches"))
    values, _ = carrier.prepared(switches)
    assert values
    if carrier.not_there:
        host.write_text(carrier.snippet(values), encoding="utf-8")
    else:
        json_file.carry_out(carrier.plan(host, values).file)
    read = kind.read_file(host)
    assert {each.alias: setting_value(read, each) for each in declared(kind.settings) if each.alias in values} == values


def test_recap_settings_of_sillytavern_that_cannot_be_used_are_named(host: Path) -> None:
    host.write_text('{"extension_settings": {"auto_recap": {"recap_delay": -1, "its_own": 3}}}', encoding="utf-8")
    with pytest.raises(SettingsError, match="recap_delay"):
        kind_of("recap").read_file(host)
    host.write_text('{"extension_settings": {}}', encoding="utf-8")
    assert kind_of("recap").reads_file(host) is None
