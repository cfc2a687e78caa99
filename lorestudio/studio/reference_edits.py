"""The references in the text of one note, rewritten for files that got other names, other folders or other titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from posixpath import dirname

from lorestudio.domain.javascript import Json
from lorestudio.vault.link_paths import escaped, written_paths
from lorestudio.vault.link_targets import FoundBy, LinkTargets, Target
from lorestudio.vault.links import Escape, Reference, ReferenceKind, decode, references
from lorestudio.vault.note_document import NoteDocument, TextEdit, apply_edits

_SUBPATH = re.compile(r"#([^#|\]\n)>]*)")


@dataclass(frozen=True, slots=True)
class Moves:
    """What becomes of files: `paths` from old names to new ones, `titles` from old names to titles that change.

    `headings` are the old and new words of a first heading that changes, by old file name. `before` and `after` are the
    names of all files then and now.
    """

    before: LinkTargets
    after: LinkTargets
    paths: Mapping[str, str]
    titles: Mapping[str, str]
    headings: Mapping[str, tuple[str, str]]
    elsewhere: bool = False
    """The changed notes are of another vault: only DeepLore leads there."""

    def new_path(self, filename: str) -> str:
        """Where the file is afterwards."""
        return self.paths.get(filename, filename)


@dataclass(slots=True)
class Rewriting:
    """The references of one note, one by one. `remarks` are sentences about those that could not be kept."""

    moves: Moves
    source: str
    text: str
    own: Iterable[TextEdit] = ()
    remarks: list[str] = field(default_factory=list)

    def result(self) -> str:
        """The note's text afterwards, with the edits of its `own` that were given."""
        edits = list(self.own)
        taken = [(edit.start, edit.end) for edit in edits]
        fields: dict[str, dict[int | None, str]] = {}
        for reference in references(self.text):
            if any(reference.start < end and start < reference.end for start, end in taken):
                continue
            target = self.moves.before.find(reference, self.source)
            if target.filename is None or (self.moves.elsewhere and not reference.counts_for_deeplore):
                continue
            name = self._new_name(reference, target, target.filename)
            if reference.target and not self._tell_of_deeplore(reference, name):
                self._tell_where_it_leads(reference, name, target.filename)
            if name is not None and reference.names_title and reference.counts_for_deeplore:
                fields.setdefault(reference.field, {})[reference.item] = name
                continue
            found = list(self._edits(reference, target.filename, name))
            if found and reference.names_title:
                fields.setdefault(reference.field, {})[reference.item] = _edited_part(self.text, reference, found)
                continue
            edits += found
            taken += [(reference.start, reference.end)] if found else []
        for name, items in fields.items():
            edits += self._property_edit(name, items)
        return apply_edits(self.text, edits)

    def _new_name(self, reference: Reference, target: Target, filename: str) -> str | None:
        """The words that name the same file afterwards; None where they stay.

        What DeepLore follows goes by the title, everything else by the file.
        """
        if not reference.target:
            return None
        goal = self.moves.new_path(filename)
        if self._follows_title(reference, target, filename):
            title = self.moves.titles.get(filename)
            return title if title != reference.target else None
        if target.by not in (FoundBy.PATH, FoundBy.NAME):
            return None
        return self._new_path(reference, filename, goal)

    def _follows_title(self, reference: Reference, target: Target, filename: str) -> bool:
        if target.by is FoundBy.TITLE:
            return True
        if reference.deeplore_name is None:
            return False
        titled = self.moves.before.by_title(reference.deeplore_name)
        return titled is not None and titled.filename == filename

    def _new_path(self, reference: Reference, old: str, goal: str) -> str | None:
        source_after = self.moves.new_path(self.source)
        unmoved = goal == old and dirname(source_after) == dirname(self.source)
        relative_first = reference.escape is not Escape.NONE
        if unmoved and self._leads(reference.target, goal, relative_first=relative_first, surely=False):
            return None
        for name in written_paths(reference, old, goal, self.source, source_after):
            if self._leads(name, goal, relative_first=relative_first):
                return name if name != reference.target else None
        return None

    def _leads(self, name: str, goal: str, *, relative_first: bool, surely: bool = True) -> bool:
        """Whether the words lead to the file; `surely`: a mere name is no other file's, or a file's at the root."""
        after = self.moves.after
        found = after.by_path(name, self.moves.new_path(self.source), relative_first=relative_first)
        if found is None or found.filename != goal:
            return False
        return not surely or "/" in name or "/" not in goal or after.unique(name)

    def _tell_of_deeplore(self, reference: Reference, name: str | None) -> bool:
        """A remark where DeepLore will not find the note that it found; says whether there is one."""
        if reference.deeplore_name is None:
            return False
        before = self.moves.before.by_title(reference.deeplore_name)
        if before is None or before.filename is None:
            return False
        after = self.moves.after.by_title(reference.deeplore_name if name is None else name + reference.subpath)
        if after is not None and after.filename == self.moves.new_path(before.filename):
            return False
        elsewhere = "nowhere" if after is None else f"to {after.filename}, which has the same title"
        self.remarks.append(
            f"“{reference.target}” led to {before.filename} in DeepLore and will lead {elsewhere}. Notes of the same "
            "title or name cannot be told apart; give them different ones."
        )
        return True

    def _tell_where_it_leads(self, reference: Reference, name: str | None, filename: str) -> None:
        """A remark where the reference does not lead to the same file any more, or not for both readers."""
        goal, source = self.moves.new_path(filename), self.moves.new_path(self.source)
        renamed = reference if name is None else replace(reference, target=name)
        words = renamed.target
        found = self.moves.after.find(renamed, source).filename
        titled = self.moves.after.by_title(words)
        if reference.counts_for_deeplore and titled is not None and titled.filename == goal:
            before = self.moves.before.by_path(reference.target, self.source)
            after = self.moves.after.by_path(words, source)
            lost = reference.in_obsidian and before is not None and before.filename == filename
            if found != goal or (lost and (after is None or after.filename != goal)):
                elsewhere = "will not find it" if found in (goal, None) else f"finds {found}"
                self.remarks.append(
                    f"“{words}” goes on to lead to {goal} in DeepLore, which looks for the title. "
                    f"Obsidian looks for the file's name and {elsewhere}."
                )
        elif found != goal:
            elsewhere = "nowhere" if found is None else f"to {found}, which has the same name or title"
            self.remarks.append(f"“{words}” led to {goal} and will lead {elsewhere}. Mend it by hand.")

    def _edits(self, reference: Reference, filename: str, name: str | None) -> Iterator[TextEdit]:
        as_written = self.text[reference.target_start : reference.target_end]
        if name is not None:
            if reference.in_heading and reference.kind is not ReferenceKind.WIKILINK:
                self.remarks.append("A link in the heading stays as it is, or the title would change.")
                return
            spelled = escaped(name, reference, as_written)
            if reference.kind is ReferenceKind.PROPERTY and self.text[reference.start - 1] == "'":
                spelled = spelled.replace("'", "''")
            yield TextEdit(reference.target_start, reference.target_end, spelled)
            if reference.in_heading and reference.alias is None:
                # The heading is a title: what is read there stays.
                shown = self.text[reference.start + 2 : reference.end - 2]
                yield TextEdit(reference.end - 2, reference.end - 2, f"|{shown}")
        words = self.moves.headings.get(filename)
        subpath = _SUBPATH.match(self.text, reference.target_end) if words is not None and reference.subpath else None
        if words is not None and subpath is not None and decode(subpath[1]).strip() == words[0]:
            yield TextEdit(subpath.start(1), subpath.end(1), escaped(words[1], reference, subpath[1]))

    def _property_edit(self, name: str, items: Mapping[int | None, str]) -> list[TextEdit]:
        """The edit of a field whose items are titles; `items` are the new ones by their place in the list."""
        document = NoteDocument(self.text)
        found = document.find(name)
        if found is None:
            return []
        value: Json = items.get(None)
        if value is None and isinstance(found.value, list | tuple):
            value = [items.get(place, item) for place, item in enumerate(found.value)]
        if value is None:
            return []
        try:
            return [document.set(found.name, value)]
        except ValueError as error:
            self.remarks.append(str(error))
            return []


def _edited_part(text: str, reference: Reference, edits: Iterable[TextEdit]) -> str:
    """The text of the reference with these edits, which are all inside it."""
    start = reference.start
    moved = [TextEdit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    return apply_edits(text[start : reference.end], moved)
