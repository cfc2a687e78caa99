"""Recorded runs written as chats, with the records that DeepLore 2.0.2 leaves in them (rules: recorded-sources)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lorestudio.domain.json_text import spell
from lorestudio.domain.records import replace
from lorestudio.exchange.chats.metadata import existing_folders, read_controls
from lorestudio.exchange.chats.recorded import SOURCES, TAG
from lorestudio.exchange.chats.sillytavern import parse_chat
from lorestudio.exchange.scenario_file import Scenario
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.scenario import counter_of
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.index import build_index
from tests.golden.compare import Case

STARTED = "2026-03-01T10:00:00.000Z"


@dataclass(frozen=True)
class RecordedChat:
    """A chat file's lines, and the generations of the recorded run that wrote each swipe that it has."""

    lines: list[dict[str, Any]]
    wrote: dict[tuple[int, int], int]

    @property
    def text(self) -> str:
        """The file."""
        return "\n".join(map(spell, self.lines))


def recorded_chat(case: Case, *, slots: bool = True, newer: bool = False) -> RecordedChat | None:
    """The chat of a recorded run, None where it went a way that no chat file can have.

    That is one in which a reply was not written after what it was handed, or the character changed. With `newer` the
    records are attached as DeepLore 2.5 and later does it.
    """
    scenario, ran = case.scenario, case.expected["generations"]
    messages = [dict(each) for each in scenario["messages"]]
    metadata = dict(scenario.get("metadata") or {})
    wrote: dict[tuple[int, int], int] = {}
    last: list[dict[str, Any]] = []
    kept: dict[str, list[str]] = {}
    end = -1
    for number, (generation, result) in enumerate(zip(scenario["generations"], ran, strict=True)):
        handed = generation["chat"]
        if generation.get("character") or not handed or handed[-1] < end:
            return None
        end = handed[-1]
        if handed != [place for place in range(end + 1) if not messages[place].get("is_system")]:
            return None
        metadata |= generation.get("metadata_patch") or {}
        if result["outcome"] in {"injected", "nothing_injected"}:
            last = _sources(case, result)
            names = [f"{each['vaultSource']}:{each['title']}" for each in last]
            kept[f"{len(handed) - 1}|{messages[end].get('swipe_id') or 0}"] = names
        elif newer:
            last = []
        if generation["type"] == "quiet":
            continue
        place = end if generation["type"] == "continue" else end + 1
        if place == len(messages):
            messages.append({"name": scenario.get("character") or "Somebody", "is_user": False, "mes": "So it goes."})
        if messages[place].get("is_user") or messages[place].get("is_system") or not place:
            return None
        extra = {SOURCES: last, **({TAG: "g:1"} if newer else {})} if last else {}
        wrote[place, _write(messages[place], generation["type"], extra)] = number
    metadata = {key: value for key, value in metadata.items() if value is not None}
    if slots and kept:
        newest = max(int(each.partition("|")[0]) for each in kept)
        metadata["deeplore_swipe_injected_keys"] = {
            key: value for key, value in kept.items() if int(key.partition("|")[0]) > newest - 10
        }
    header = {"user_name": "User", "character_name": scenario.get("character", ""), "chat_metadata": metadata}
    return RecordedChat([header, *messages], wrote)


def _sources(case: Case, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What DeepLore writes of a generation that was not ended early."""
    accepted = ((each, result_entry(case, each["id"])) for each in result["budget"]["accepted"])
    return [
        {"title": entry["title"], "filename": entry["filename"], "matchedBy": reason,
         "priority": entry.get("priority", 100), "tokens": each["tokens"], "vaultSource": entry["vaultSource"]}
        for (each, entry), (_title, reason, *_rest) in zip(accepted, result["sources"], strict=True)
    ]  # fmt: skip


def _write(reply: dict[str, Any], kind: str, extra: dict[str, Any]) -> int:
    """Put another swipe with its record into a reply, or its only one; the number of the swipe."""
    swipes, infos = reply.setdefault("swipes", []), reply.setdefault("swipe_info", [])
    if kind != "swipe":
        swipes.clear()
        infos.clear()
    swipes.append(reply["mes"])
    infos.append({"gen_started": STARTED, "extra": extra})
    own = {key: value for key, value in reply.get("extra", {}).items() if key not in {SOURCES, TAG}}
    reply |= {"swipe_id": len(swipes) - 1, "gen_started": STARTED, "extra": {**own, **extra}}
    return len(swipes) - 1


def result_entry(case: Case, number: int) -> dict[str, Any]:
    """An entry of the recorded index."""
    entry: dict[str, Any] = case.expected["index"]["entries"][number]
    return entry


def project_of(case: Case, chat: RecordedChat) -> Project:
    """The project of a recorded run: its vaults, its settings and its chat."""
    settings = sanitise(Scenario.model_validate(case.scenario).raw_settings | {"enabled": True}).settings
    counter = counter_of(case.scenario["tokenizer"])
    vaults = [
        VaultFiles(each["name"], tuple(NoteFile(*file) for file in dict(each["files"]).items()))
        for each in case.scenario["vaults"]
    ]
    index = build_index(vaults, settings, counter)
    loaded = parse_chat(chat.text, case.id).chat
    controls = read_controls(loaded.metadata)
    controls = replace(controls, folders=existing_folders(controls.folders, index.folders))
    return Project(
        (None,) * len(vaults), index, settings, loaded, counter=counter, controls=controls,
        seed=case.scenario["rng_seed"],
    )  # fmt: skip


def write_world(case: Case, chat: RecordedChat, folder: Path) -> tuple[list[Path], Path, Path]:
    """The vaults, the chat and the settings of a recorded run as files."""
    vaults = []
    for vault in case.scenario["vaults"]:
        root = folder / vault["name"]
        vaults.append(root)
        for filename, text in vault["files"]:
            path = root / filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
    chat_path, settings_path = folder / "chat.jsonl", folder / "settings.json"
    chat_path.write_text(chat.text, encoding="utf-8")
    settings_path.write_text(spell({**case.scenario["settings"], "enabled": True}), encoding="utf-8")
    return vaults, chat_path, settings_path
