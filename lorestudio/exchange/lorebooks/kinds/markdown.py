"""Lore as Markdown: a folder or an archive of notes, each an entry (rules: lorebooks 11)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from lorestudio.domain.file_names import note_name, same_name
from lorestudio.domain.javascript import Json, to_string
from lorestudio.domain.json_text import object_in, text_in
from lorestudio.exchange.containers import MAX_MEMBERS, archive, zipped
from lorestudio.exchange.json_file import read_file
from lorestudio.exchange.lorebooks.crossing import (
    EntryForm,
    FieldLink,
    LoreReport,
    Raw,
    effective,
    from_world_info,
    into_world_info,
    kept_in,
    number,
    split_keys,
    texts,
    title_of,
)
from lorestudio.exchange.lorebooks.documents import WORLD_INFO_TITLE, Lore, Written
from lorestudio.exchange.lorebooks.entry import DEFAULT_ORDER
from lorestudio.exchange.problems import InputError
from lorestudio.trace.wording import first_few
from lorestudio.vault import front_matter
from lorestudio.vault.folder import walked
from lorestudio.vault.note.document import NoteDocument
from lorestudio.vault.note.text_edits import apply_edits

TITLE: Final = "Markdown"
ENDING: Final = ".md"
_SHOWN: Final = 3
_NOTES_WANTED: Final = "Give a folder or an archive of notes"
_LORE: Final = frozenset({".json", ".png", ".charx", ".lorebook", ".csv", ".tsv"})
"""Endings of files that may hold lore of other kinds."""

_HEAD: Final = re.compile(
    r"\s*(?:#[ \t]+(?P<title>[^\r\n]*?)[ \t]*(?:\r?\n|\Z)\s*)?"
    r"(?:\*{0,2}(?:Keys|Keywords|Triggers):\*{0,2}[ \t]*(?P<keys>[^\r\n]*)(?:\r?\n|\Z)\s*)?"
)
_TOP_ORDER: Final = 1000
"""The order is this less the priority, which DeepLore takes the lowest of first."""


# ---- files ----------------------------------------------------------------------------------------------------------


def read_notes(path: Path, split: int = 0) -> Lore:
    """The entries in a folder or an archive of notes, or in one note. Waits for the disk. Raises InputError.

    With `split` each heading of that level begins an entry, whose text ends at the next one of it or above.
    """
    if path.is_dir():
        files = _in_folder(path)
    else:
        data = read_file(path)
        files = {path.name: data} if path.suffix.lower() == ENDING else archive(data, path)
    return notes_in(files, path, split)


def _in_folder(path: Path) -> dict[str, bytes]:
    """The notes below a folder by their paths; of other files only the path."""
    below = (place / name for place, files in walked(path) for name in files)
    found = sorted(each for each in below if each.is_file() and not each.is_symlink())
    if len(found) > MAX_MEMBERS:
        raise InputError(path, f"the folder holds more than {MAX_MEMBERS:,} files. Give the one with the lore.")
    return {
        each.relative_to(path).as_posix(): read_file(each) if each.suffix.lower() == ENDING else b"" for each in found
    }


def notes_in(files: Mapping[str, bytes], source: Path, split: int = 0) -> Lore:
    """The entries in files, by their paths, or in their parts. Raises InputError where there is no note among them."""
    if split:
        files = _split(files, split)
    notes = {path: data for path, data in files.items() if is_note(path)}
    others = [path for path in files if path not in notes and not _is_hidden(path)]
    if not notes:
        lore = [path for path in others if PurePosixPath(path).suffix.lower() in _LORE]
        lore = [path for path in lore if path.startswith("worlds/")] or [path for path in lore if "/" not in path]
        advice = f"Lorebooks and cards are given as files, such as {first_few(lore, _SHOWN)}" if lore else _NOTES_WANTED
        raise InputError(source, f"there is no note (.md) in it. {advice}.")
    crossed = [
        into_world_info(FORM, _taken_apart(path, _decoded(path, data)), place, place)
        for place, (path, data) in enumerate(notes.items())
    ]
    roots = {PurePosixPath(path).parts[0] for path in files}
    root = roots.pop() if len(roots) == 1 and "/" in next(iter(files)) else ""
    folders = {str(place): _folder(path, root) for place, path in enumerate(notes) if _folder(path, root)}
    remarks = (f"What is no note is left out: {first_few(others, _SHOWN)}.",) if others else ()
    report = LoreReport(TITLE, WORLD_INFO_TITLE, tuple(fate for _entry, fate in crossed), remarks)
    placed = frozenset(to_string(entry["uid"]) for entry, _fate in crossed)
    return Lore("markdown", root or source.stem, tuple(entry for entry, _fate in crossed), report, folders, placed)


_FENCE: Final = re.compile(r"[ ]{0,3}(?:```|~~~)")


def _split(files: Mapping[str, bytes], level: int) -> dict[str, bytes]:
    """The files with a note for each part that begins with a heading, in a folder that is called as its file."""
    parts: dict[str, bytes] = {}
    taken: set[str] = set()
    heading = re.compile(rf"(#{{1,{level}}})[ \t]+(.*?)[ \t]*#*[ \t]*")
    for path, data in files.items():
        if not is_note(path):
            parts[path] = data
            continue
        text, inside = _decoded(path, data), False
        title, found = "", list[tuple[str, list[str]]]()
        found.append((title, []))
        for line in text.splitlines(keepends=True):
            inside ^= _FENCE.match(line) is not None
            begins = None if inside else heading.fullmatch(line.rstrip("\r\n"))
            if begins is not None:
                title = begins[2] if len(begins[1]) == level else ""
                found.append((title, [] if title else [line]))
            else:
                found[-1][1].append(line)
        stem = path.removesuffix(path[-len(ENDING) :])
        for title, lines in found:
            body = "".join(lines)
            own = body[NoteDocument(body).body_start :].splitlines()
            if not title and not any(line.strip() and heading.fullmatch(line) is None for line in own):
                continue  # nothing but a heading above others
            name = _free(f"{stem}/{note_name(title, 'Part')}{ENDING}" if title else path, taken, "")
            taken.add(same_name(name))
            parts[name] = (f"# {title}\n\n{body.strip()}\n" if title else body).encode()
    return parts


def is_note(path: str) -> bool:
    """Whether a path names a note: one in a hidden folder is none."""
    return path.lower().endswith(ENDING) and not _is_hidden(path)


def _is_hidden(path: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


def _folder(path: str, root: str) -> str:
    parent = PurePosixPath(path).parent
    return str(parent.relative_to(root or ".")) if str(parent) not in {".", root} else ""


def write_notes(entries: Sequence[Raw], name: str, original: bytes | None, source: Path | str) -> Written:
    """An archive of a note for each entry, in the place of the notes of another archive where that is given."""
    before = archive(original, source) if original is not None else {}
    places = [path for path in before if is_note(path)]
    made = {to_string(entry.get("uid")): from_world_info(FORM, entry) for entry in entries}
    files = {path: data for path, data in before.items() if path not in places}
    taken = {same_name(path) for path in files}
    written: dict[str, bytes] = {}
    uids: dict[str, str] = {}
    for uid, (raw, _fate) in made.items():
        path = _free(text_in(raw.get("path")), taken, "" if original is not None else note_name(name, "lore"))
        taken.add(same_name(path))
        parts = (text_in(raw.get(part)) for part in ("front matter", "heading", "content"))
        written[path] = "".join(parts).encode("utf-8", "replace")
        uids[path] = uid
    ordered = {
        path: written.pop(path) if path in written else files[path]
        for path in before
        if path in written or path in files
    }
    report = LoreReport(WORLD_INFO_TITLE, TITLE, tuple(fate for _raw, fate in made.values()))
    files = ordered | written
    return Written(zipped(files), report, tuple(uids[path] for path in files if path in uids))


def _free(path: str, taken: set[str], folder: str) -> str:
    """The path, or one with a number behind its name where a file of that name is there already."""
    wanted = PurePosixPath(path)
    inside = wanted if len(wanted.parts) > 1 or not folder else folder / wanted
    free, more = inside, 1
    while same_name(str(free)) in taken:
        more += 1
        free = inside.with_name(f"{inside.stem} ({more}){ENDING}")
    return str(free)


# ---- entries --------------------------------------------------------------------------------------------------------


def _taken_apart(path: str, whole: str) -> dict[str, Json]:
    """A note as path, front matter, heading and keys, and text; together they are the note."""
    start = NoteDocument(whole).body_start
    found = _HEAD.match(whole, start)
    end = found.end() if found is not None else start
    return {"path": path, "front matter": whole[:start], "heading": whole[start:end], "content": whole[end:]}


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(path, f"the note is no text in UTF-8 ({error.reason}). Save it as UTF-8.") from error


def _values(raw: Raw) -> Mapping[str, front_matter.Value]:
    return front_matter.read(text_in(raw.get("front matter")), unicode_names=True)[0]


def _there(raw: Raw) -> dict[str, Json]:
    values = _values(raw)
    head = _HEAD.match(text_in(raw.get("heading")))
    title = (head and head["title"]) or PurePosixPath(text_in(raw.get("path"))).stem
    keys = split_keys(values.get("keys")) or split_keys(head["keys"] if head else "")
    made = [] if "keys" in values else [title, *split_keys(values.get("aliases"))]
    priority = number(values.get("priority"))
    return {
        **({} if priority is None else {"order": _TOP_ORDER - priority}),
        "comment": title,
        "content": text_in(raw.get("content")),
        "key": keys or list(dict.fromkeys(filter(None, made))),
        "constant": values.get("constant") is True,
        "disable": values.get("enabled") is False,
    }


def _back(entry: Raw) -> dict[str, Json]:
    title = text_in(entry.get("comment"))
    path = f"{note_name(title, title_of({'uid': entry.get('uid')}).capitalize())}{ENDING}"
    head = f"# {title}\n\n" if title else ""
    front = text_in(object_in(kept_in(entry, FORM.name), "fields").get("front matter"))
    read = _there({"path": path, "heading": head, "front matter": front})
    wanted: dict[str, Json] = {"keys": texts(entry.get("key"))} if read["key"] != texts(entry.get("key")) else {}
    if read["constant"] is not effective(entry, "constant"):
        wanted["constant"] = effective(entry, "constant") is True
    if read["disable"] is not effective(entry, "disable"):
        wanted["enabled"] = effective(entry, "disable") is not True
    order = number(effective(entry, "order"))
    if order is not None and order != read.get("order", DEFAULT_ORDER):
        wanted["priority"] = _TOP_ORDER - order
    for name, value in wanted.items():
        front = _with_property(front, name, value)
    return _taken_apart(path, f"{front}{head}{text_in(entry.get('content'))}")  # as it will be read


def _with_property(front: str, name: str, value: Json) -> str:
    try:
        return apply_edits(front, [NoteDocument(front).set(name, value)])
    except ValueError:  # no note can say it: the report finds that it does not come back
        return front


FORM: Final = EntryForm(
    name="markdown",
    plain=True,
    title=TITLE,
    reads=_there,
    writes=_back,
    cannot="a plain note has no place for it",
    links=(
        FieldLink("heading", "comment"),
        FieldLink("content", "content"),
        FieldLink(
            "front matter",
            "key",
            "without keys of its own the note gets its title and its aliases for keys",
            applies=lambda raw: "keys" not in _values(raw),
        ),
        FieldLink("front matter: constant", "constant"),
        FieldLink("front matter: enabled", "disable"),
        FieldLink("front matter: priority", "order"),
    ),
)
