"""What differs between two traces of one generation: who comes in, who leaves, who takes more or less room."""

from __future__ import annotations

from dataclasses import dataclass

from lorestudio.trace.model import EntryRef, Injection, Trace


@dataclass(frozen=True, slots=True)
class Resized:
    """An entry that goes in both times, with the tokens of the part that goes in."""

    entry: EntryRef
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class PromptChanges:
    """What an edit does to the injections. Entries that left are named as the trace before names them.

    `tokens_before` and `tokens_after` are those of all injections, outlets included.
    """

    entered: tuple[EntryRef, ...]
    left: tuple[EntryRef, ...]
    resized: tuple[Resized, ...]
    tokens_before: int
    tokens_after: int

    def __bool__(self) -> bool:
        return bool(self.entered or self.left or self.resized)


def prompt_changes(before: Trace, after: Trace) -> PromptChanges:
    """The changes, in injection order. Entries are the same when vault and file name are."""
    old, new = _by_file(before), _by_file(after)
    return PromptChanges(
        tuple(after.entries[item.entry] for name, item in new.items() if name not in old),
        tuple(before.entries[item.entry] for name, item in old.items() if name not in new),
        tuple(
            Resized(after.entries[item.entry], old[name].tokens, item.tokens)
            for name, item in new.items()
            if name in old and old[name].tokens != item.tokens
        ),
        before.total_tokens,
        after.total_tokens,
    )


def _by_file(trace: Trace) -> dict[tuple[str, str], Injection]:
    files = ((trace.entries[item.entry], item) for item in trace.injections)
    return {(entry.vault, entry.filename): item for entry, item in files}
