"""Killed in the middle of an import or a sync: everything is old or new, never half."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from lorestudio.studio.lorebooks.links import links_of
from lorestudio.studio.lorebooks.syncing import SyncChoice, carry_out_sync, plan_sync
from lorestudio.studio.notes.changes.log import ChangeLog
from lorestudio.studio.notes.vault_notes import read_vault_notes
from lorestudio.vault.entries import ParseRules
from tests.studio.lorebooks.test_importing import book, files, vault

WORKS = """
    import json, sys
    from pathlib import Path
    from lorestudio.studio.lorebooks.importing import ImportChoice, plan_import, read_books
    from lorestudio.studio.lorebooks.links import links_of
    from lorestudio.studio.lorebooks.syncing import SyncChoice, carry_out_sync, plan_sync
    from lorestudio.studio.notes.changes.log import ChangeLog
    from lorestudio.studio.notes.vault_notes import read_vault_notes
    from lorestudio.vault.entries import ParseRules
    what, place, data, path = sys.argv[1], *map(Path, sys.argv[2:])
    rules, log = ParseRules(), ChangeLog(data, [place])
    print("ready", flush=True)
    order = 0
    while True:
        if what == "import":
            log.apply(plan_import(read_books([path]), read_vault_notes(place), rules, ImportChoice()).planned.changes)
            log.undo()
            continue
        order += 1
        whole = json.loads(path.read_text())
        for raw in whole["entries"].values():
            raw["order"] = order
        path.with_suffix(".new").write_text(json.dumps(whole))
        path.with_suffix(".new").replace(path)
        for note in place.glob("Sea/*.md"):
            text = note.read_text()
            note.with_suffix(".new").write_text(text.split("wi_depth")[0].split("wi_uid")[0] + f"wi_depth: {order}\\n" +
                "wi_uid" + text.split("wi_uid")[1])
            note.with_suffix(".new").replace(note)
        notes = read_vault_notes(place)
        carry_out_sync(plan_sync(links_of(notes)[0], notes, rules, SyncChoice()), log)
"""
ENTRIES = [{"key": [f"k{number}"], "comment": f"N{number}", "content": "Text."} for number in range(6)]


@pytest.mark.parametrize("what", ["import", "sync"])
def test_a_kill_leaves_old_or_new(tmp_path: Path, what: str) -> None:
    place, data, path = vault(tmp_path, Old="# Old\n"), tmp_path / "data", book(tmp_path, *ENTRIES)
    if what == "sync":
        from lorestudio.studio.lorebooks.importing import ImportChoice, plan_import, read_books  # noqa: PLC0415

        plan = plan_import(read_books([path]), read_vault_notes(place), ParseRules(), ImportChoice())
        ChangeLog(data, [place]).apply(plan.planned.changes)
    for round_number in range(2):
        with subprocess.Popen(  # noqa: S603  # our own interpreter and our own text
            [sys.executable, "-c", textwrap.dedent(WORKS), what, str(place), str(data), str(path)],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.11 + 0.19 * round_number)
            process.send_signal(signal.SIGKILL)
        log = ChangeLog(data, [place])
        log.mend_interrupted()
        entries = json.loads(path.read_bytes())["entries"]
        assert len(entries) == len(ENTRIES)
        if what == "import":
            made = {name for name in files(place) if not name.endswith(".tmp")} - {"Old.md"}
            assert made in (set(), {"Sea/Sea.book.json", *(f"Sea/N{number}.md" for number in range(6))})
            continue
        notes = read_vault_notes(place)
        carry_out_sync(plan_sync(links_of(notes)[0], notes, ParseRules(), SyncChoice()), log)
        after = read_vault_notes(place)
        assert plan_sync(links_of(after)[0], after, ParseRules(), SyncChoice()).is_idle
        entries = json.loads(path.read_bytes())["entries"]
        for number, raw in enumerate(entries.values()):
            text = after.index.notes[f"Sea/N{number}.md"].text
            assert f"priority: {1000 - raw['order']}\n" in text
            assert f"wi_depth: {raw['depth']}\n" in text or raw["depth"] == 4
