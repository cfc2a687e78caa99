"""What becomes of lore on its way from one form to another: said for every entry and field, in both directions."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from lorestudio.domain.javascript import Json


class Fidelity(StrEnum):
    """What becomes of a field, the best first."""

    EXACT = "exact"
    """It means the same there, and comes back as it was."""
    APPROXIMATE = "approximate"
    """Something close to it stands there; `FieldFate.how` says what."""
    CARRIED = "carried"
    """It is kept beside, has no effect there, and comes out again."""
    LOST = "lost"
    """It is gone; `FieldFate.how` says why."""


class FieldFate(Struct, frozen=True):
    """What becomes of one field of an entry. `field` is its name where it comes from; `how` is a sentence or ""."""

    field: str
    fate: Fidelity
    how: str = ""


class EntryFate(Struct, frozen=True):
    """What becomes of an entry. Only fields that say something are listed: not those as in a new entry.

    `left_out` is the reason why the entry does not go along at all, "" where it does.
    """

    uid: str
    title: str
    fields: tuple[FieldFate, ...] = ()
    left_out: str = ""


class FateCount(Struct, frozen=True):
    """How many entries a field has the same fate in."""

    field: str
    fate: Fidelity
    how: str
    entries: int


class LoreReport(Struct, frozen=True):
    """The way of a book. `source` and `target` are what people call its forms; `remarks` are about the whole book."""

    source: str
    target: str
    entries: tuple[EntryFate, ...] = ()
    remarks: tuple[str, ...] = ()

    def counts(self) -> tuple[FateCount, ...]:
        """Each field with each of its fates, the worst fates first, then by how many entries, then by name."""
        found: dict[FieldFate, int] = {}
        for entry in self.entries:
            for said in entry.fields:
                found[said] = found.get(said, 0) + 1
        worst = list(reversed(Fidelity))
        ordered = sorted(found.items(), key=lambda item: (worst.index(item[0].fate), -item[1], item[0].field))
        return tuple(FateCount(said.field, said.fate, said.how, amount) for said, amount in ordered)

    @property
    def loses(self) -> bool:
        """Whether anything is lost, which a person has to agree to before something is written."""
        return any(said.fate is Fidelity.LOST for entry in self.entries for said in entry.fields)

    def as_json(self) -> dict[str, Json]:
        """The report for `--report` and `--json`: `from`, `to`, `remarks`, `counts`, `entries`."""
        return {
            "from": self.source,
            "to": self.target,
            "remarks": list(self.remarks),
            "counts": [
                {"field": one.field, "fate": one.fate.value, "how": one.how, "entries": one.entries}
                for one in self.counts()
            ],
            "entries": [
                {
                    "uid": entry.uid,
                    "title": entry.title,
                    "left_out": entry.left_out,
                    "fields": [{"field": one.field, "fate": one.fate.value, "how": one.how} for one in entry.fields],
                }
                for entry in self.entries
            ],
        }

    def then(self, second: LoreReport) -> LoreReport:
        """This way and the one after it as one: what either says of an entry is said, its worse fates included."""
        first = {entry.uid: entry for entry in self.entries}
        after = {entry.uid: entry for entry in second.entries}
        joined = [_joined(entry, after.get(entry.uid)) for entry in self.entries]
        joined += [entry for uid, entry in after.items() if uid not in first]
        return LoreReport(self.source, second.target, tuple(joined), told_once((*self.remarks, *second.remarks)))


def _joined(entry: EntryFate, later: EntryFate | None) -> EntryFate:
    if later is None:
        return entry
    return EntryFate(entry.uid, entry.title, (*entry.fields, *later.fields), entry.left_out or later.left_out)


def told_once(remarks: Iterable[str]) -> tuple[str, ...]:
    """Remarks in their order, each once, with a number behind those that were made several times."""
    found: dict[str, int] = {}
    for remark in remarks:
        found[remark] = found.get(remark, 0) + 1
    return tuple(remark if amount == 1 else f"{remark} ({amount} times)" for remark, amount in found.items())
