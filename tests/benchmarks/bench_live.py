"""From a keystroke in a note to the finished trace of the generation that is shown.

Run with `python -m tests.benchmarks.bench_live FOLDER [N...]`, FOLDER holding the inputs as N.json.gz (`files`, `chat`,
`settings`). Prints medians and 95th percentiles in milliseconds, beside what building everything anew takes; where
other programs are busy, the processor time says more. Garbage is left to the turns between, as the window has it.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.records import replace
from lorestudio.domain.tokens import CHARS_4
from lorestudio.exchange.chats.document import read_message
from lorestudio.settings.deeplore import sanitise
from lorestudio.studio.project.project import Project
from lorestudio.studio.replay.simulator import Simulator
from lorestudio.studio.tryout.preview import Previewer
from lorestudio.systems.registry import system_of
from lorestudio.vault.edited_vaults import NoteText
from lorestudio.vault.files import NoteFile, VaultFiles
from lorestudio.vault.folder import ScannedVault
from lorestudio.vault.index import build_index, update

KEYSTROKES: Final = 40
MESSAGES: Final = 20
"""The end of the chat, longer than what is scanned; what lies before it would only be replayed first."""

BUDGETS_MS: Final = {1000: 20, 5000: 60}
TWO_STAGE: Final = {"aiSearchEnabled": True, "aiSearchMode": "two-stage"}
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "keywords-only": {},
    "keywords-only + BM25": {"fuzzySearchEnabled": True},
    "two-stage, stand-in": TWO_STAGE,
    "two-stage, stand-in + BM25": {**TWO_STAGE, "fuzzySearchEnabled": True},
}
TYPED: Final = "the lantern at the harbour gate burns "


def in_body(text: str, typed: str) -> str:
    """Words at the end of the note."""
    return f"{text.rstrip()} {typed}\n"


def in_keys(text: str, typed: str) -> str:
    """One more key."""
    return text.replace("keys: [", f"keys: [{typed.strip() or 'x'}, ", 1)


def in_requires(text: str, typed: str) -> str:
    """A title that is required; while it is typed no entry has it."""
    return text.replace("\nkeys:", f"\nrequires: [{typed.strip() or 'x'}]\nkeys:", 1)


def in_the_tag(text: str, typed: str) -> str:
    """The note is no entry every other time."""
    return text.replace("lorebook", "lore" if len(typed) % 2 else "lorebook", 1)


EDITS: Final[dict[str, Callable[[str, str], str]]] = {
    "body": in_body,
    "keys": in_keys,
    "requires": in_requires,
    "tag": in_the_tag,
}


def project_of(data: dict[str, Any], changes: dict[str, Any]) -> Project:
    """The input as a project whose next reply is looked at."""
    values = {**data["settings"], "enabled": True, "recursiveScan": True, "maxRecursionSteps": 3, "scanDepth": 4}
    settings = sanitise({**values, **changes}).settings
    files = VaultFiles("bench", tuple(NoteFile(path, text) for path, text in data["files"]))
    state = update(None, [ScannedVault.of(files)], settings, CHARS_4).state
    chat = Chat(tuple(read_message(raw) for raw in data["chat"][-MESSAGES:]), "U", "Ann")
    return Project((), state.index, settings, chat=chat, vault_state=state)


def simulated(project: Project) -> Simulator:
    """The chat, replayed."""
    simulator = Simulator(project)
    asyncio.run(simulator.replay())
    return simulator


def previewer_of(simulator: Simulator) -> Previewer:
    """A previewer of the next reply, ready as it is in a window."""
    previewer = Previewer(simulator, simulator.generations[-1])
    previewer.preview(())
    return previewer


def keystrokes(previewer: Previewer, note: NoteText, edit: Callable[[str, str], str]) -> Iterator[tuple[float, float]]:
    """The time of each preview while a sentence is typed, and the processor's part of it, in milliseconds."""
    text = note.text or ""
    gc.collect()
    for number in range(1, KEYSTROKES + 1):
        typed = (TYPED * 2)[:number]
        begun, worked = time.perf_counter(), time.process_time()
        previewer.preview([NoteText(note.vault, note.filename, edit(text, typed))])
        yield 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - worked)


def anew(data: dict[str, Any], simulator: Simulator) -> float:
    """What one keystroke takes where everything is built anew, in milliseconds."""
    files = [VaultFiles("bench", tuple(NoteFile(path, text) for path, text in data["files"]))]
    project, last = simulator.project, simulator.generations[-1]
    moment, state = simulator.moment(last), simulator.state_before(last)
    begun = time.perf_counter()
    index = build_index(files, project.settings, CHARS_4)
    asyncio.run(system_of(project.scene()).decide(replace(moment, index=index), state))
    return 1000 * (time.perf_counter() - begun)


def edited_note(project: Project, previewer: Previewer, files: dict[str, str]) -> NoteText:
    """An entry that goes into the prompt of that generation, which is what an author looks at."""
    trace = previewer.before
    entry = trace.entries[trace.injections[len(trace.injections) // 2].entry]
    return NoteText(project.index.vaults[0], entry.filename, files[entry.filename])


def main(folder: Path, counts: list[int]) -> None:
    """Print a line an edit."""
    gc.disable()
    for count in counts:
        data = json.loads(gzip.decompress((folder / f"{count}.json.gz").read_bytes()))
        sys.stdout.write(f"{count:,} notes, at most {BUDGETS_MS.get(count, 0)} ms\n")
        for name, changes in VARIANTS.items():
            project = project_of(data, changes)
            simulator = simulated(project)
            previewer = previewer_of(simulator)
            note = edited_note(project, previewer, dict(data["files"]))
            sys.stdout.write(f"  {name}: everything anew {anew(data, simulator):.0f} ms\n")
            for place, edit in EDITS.items():
                times, worked = zip(*keystrokes(previewer, note, edit), strict=True)
                most, processor = statistics.quantiles(times, n=20)[-1], statistics.quantiles(worked, n=20)[-1]
                sys.stdout.write(
                    f"    {place:9} median {statistics.median(times):6.1f}   95 % {most:6.1f}   processor: "
                    f"median {statistics.median(worked):6.1f}   95 % {processor:6.1f}\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(argument) for argument in sys.argv[2:]] or list(BUDGETS_MS))
