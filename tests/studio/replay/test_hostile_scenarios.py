"""A scenario from somebody else takes no memory, and reads nothing, that it was not given."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from lorestudio.exchange.problems import InputError
from lorestudio.llm.tokenizers import TokenizerError, read_tokenizer
from lorestudio.settings import files
from lorestudio.studio.replay.scenario import run_scenarios

SCENARIO = {"id": "s", "messages": [], "generations": [{"now_ms": 1, "chat": []}]}


def test_a_packed_file_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TEXT_AT_MOST", 1 << 20)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * (8 << 20)))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        run_scenarios(path)
    with pytest.raises(TokenizerError, match="larger than 1 MiB"):
        read_tokenizer(path)


@pytest.mark.parametrize("ref", ["../outside", "..", "/", "inside/../../outside", "link"])
def test_a_vault_outside_of_the_root_is_refused(tmp_path: Path, ref: str) -> None:
    for name in ("root/inside", "outside"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "Lamp.md").write_text("---\ntags: [lorebook]\nkeys: [lamp]\n---\nx", encoding="utf-8")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    path = tmp_path / "scenario.json"

    def of(name: str) -> list[object]:
        path.write_text(json.dumps({**SCENARIO, "vaults": [{"name": "v", "ref": name}]}), encoding="utf-8")
        return list(run_scenarios(path, tmp_path / "root"))

    assert of("inside")
    with pytest.raises(InputError, match="leads out of"):
        of(ref)


@pytest.mark.skipif(sys.platform == "win32", reason="a file without content takes its room there")
def test_a_vault_with_a_file_of_gigabytes_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with (tmp_path / "vault" / "Huge.md").open("wb") as file:
        file.truncate(10 << 30)
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({**SCENARIO, "vaults": [{"name": "v", "ref": "vault"}]}), encoding="utf-8")
    with pytest.raises(InputError, match=r"Huge\.md.*larger than 4 MiB"):
        list(run_scenarios(path, tmp_path))
