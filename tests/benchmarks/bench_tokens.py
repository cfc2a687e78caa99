"""Counting the notes of a large vault: the tokenizer alone, cold, warm, and from the disk; and a switch and back.

Run with `python -m tests.benchmarks.bench_tokens [COUNT] [TOKENIZER]`. Prints milliseconds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lorestudio.llm.tokenizers import CountingWay, TokenizerCounter, read_tokenizer
from lorestudio.studio.project.project import open_project
from tests.benchmarks.bench_open_vault import write_vault

FIXTURE = Path(__file__).parents[1] / "cases" / "fixtures" / "tiny-spm.model"


def took(name: str, work: Callable[[], object]) -> None:
    begun = time.perf_counter()
    work()
    print(f"{name:<28}{1000 * (time.perf_counter() - begun):>9.1f} ms")  # noqa: T201


def main(count: int = 5000, tokenizer: str = str(FIXTURE)) -> None:
    """One line for each case."""
    with tempfile.TemporaryDirectory() as folder:
        write_vault(Path(folder), count)
        project = open_project([folder], tokenizer="chars/4")
        texts = [entry.content for entry in project.index.entries]
        read = read_tokenizer(Path(tokenizer))
        counter, file = TokenizerCounter(read, CountingWay.PLAIN), Path(folder) / "tokens.sqlite"
        took("the tokenizer alone", lambda: [read.pieces(text) for text in texts])
        took("cold", lambda: [counter.count(text) for text in texts])
        took("warm", lambda: [counter.count(text) for text in texts])
        counter.known.keep(file)
        again = TokenizerCounter(read, CountingWay.PLAIN)
        took("reading what is kept", lambda: again.known.load(file))
        took("warm, from the disk", lambda: [again.count(text) for text in texts])
        counted = project.with_tokenizer(tokenizer)
        took("back to chars/4", lambda: counted.with_tokenizer("chars/4"))
        took("and to the tokenizer", lambda: project.counted(counted.counting))


if __name__ == "__main__":
    main(*(int(each) if each.isdigit() else each for each in sys.argv[1:]))  # type: ignore[arg-type]
