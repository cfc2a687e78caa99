"""Requires, excludes, cascade links, gating fields, links (rules: deeplore 1.7, 1.9, 1.13, 3.6, 5.2 to 5.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from lorestudio.domain.entry import FieldDefinition, NoteProblem
from lorestudio.domain.file_names import same_name
from lorestudio.domain.javascript import Json, to_string, trim
from lorestudio.vault.lint.facts import MOST_STEPS, VaultFacts, base_name
from lorestudio.vault.lint.model import FixSpec, Hit, Note, Rules, quoted


def field_values(note: Note, rules: Rules) -> Iterator[Hit]:
    """F52, F53: values that the field does not list, and numbers that are none."""
    entry = note.entry
    for field in rules.parse.fields:
        if field.name not in entry.custom_fields:
            continue
        value = entry.custom_fields[field.name]
        if field.type == "number" and value is None:
            yield Hit("F53", f"{field.name} is defined as a number, and this is none.", field.name)
        for odd in _unlisted(value, field):
            told = f"{field.label}: “{odd}” is not among {quoted(field.values, 8)}."
            yield Hit("F52", told, field.name, odd)


def _unlisted(value: Json, field: FieldDefinition) -> Iterator[str]:
    allowed = {trim(item).strip("'\"").lower() for item in field.values}
    if not allowed:
        return
    for item in value if isinstance(value, list | tuple) else (value,):
        text = to_string(item)
        if item is not None and text and text.lower() not in allowed:
            yield text


_ASLEEP: Final = {
    NoteProblem.DISABLED: "is switched off",
    NoteProblem.NEVER_INSERT: "has the tag that keeps it out",
    NoteProblem.NO_LOREBOOK_TAG: "has no lorebook tag",
    NoteProblem.NO_FRONT_MATTER: "has no front matter that DeepLore sees",
}
_LISTS: Final = ("requires", "excludes", "cascade_links")
_CODES: Final = {"requires": "G01", "excludes": "G02", "cascade_links": "G03"}
_VERBS: Final = {"requires": "requires", "excludes": "excludes", "cascade_links": "has a cascade link to"}


def missing_titles(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """G01, G02, G03, G51: titles that no entry has."""
    entry = note.entry
    for name in _LISTS:
        titles = tuple(dict.fromkeys(entry.written(name)))
        for title in titles:
            if title.lower() not in facts.titles:
                yield _missing(note, facts, name, titles, title)


def _missing(note: Note, facts: VaultFacts, name: str, titles: tuple[str, ...], title: str) -> Hit:
    told = f"“{note.entry.title}” {_VERBS[name]} “{title}”"
    meant = _meant(title, facts)
    if meant:
        what = f"Write {quoted(meant)}"
        hint = f"{what} as a list." if len(meant) > 1 else f"{what}."
        fix = _set(note, name, _replaced(titles, title, meant), what)
        return Hit(_CODES[name], f"{told}, which no entry is called.", name, title, advice=hint, fix=fix)
    other = _other_characters(title, facts)
    if other:
        fix = _set(note, name, _replaced(titles, title, (other,)), "Write it in the characters of the title")
        why = f"{told}, which is the title “{other}” in other characters: letters and their accents in one, or apart"
        return Hit(_CODES[name], f"{why}.", name, title, advice="Write it in the characters of the title.", fix=fix)
    same_file = facts.by_file_name.get(title.lower(), ())
    if same_file:
        right = same_file[0].title
        code = "G51" if name == "cascade_links" else _CODES[name]
        fix = _set(note, name, _replaced(titles, title, (right,)), f"Write “{right}”", safe=len(same_file) == 1)
        return Hit(code, f"{told}; a file is called so, but its entry is “{right}”.", name, title,
                   advice=f"Write “{right}”.", fix=fix)  # fmt: skip
    left_out = facts.left_out.get(title.lower())
    if left_out is not None:
        why = _ASLEEP.get(left_out.problem, "cannot be read")
        return Hit(_CODES[name], f"{told}; the note {left_out.filename} is no entry: it {why}.", name, title)
    near = facts.near(title)
    if near:
        fix = _set(note, name, _replaced(titles, title, (near,)), f"Write “{near}”", safe=False)
        return Hit(_CODES[name], f"{told}, which no entry is called.", name, title,
                   advice=f"Did you mean “{near}”?", fix=fix)  # fmt: skip
    fix = _set(note, name, _replaced(titles, title, ()), f"Remove “{title}” from {name}")
    return Hit(_CODES[name], f"{told}, which no entry is called.", name, title, fix=fix)


def _meant(title: str, facts: VaultFacts) -> tuple[str, ...]:
    """The titles that are surely meant: without a comment or the brackets of a link, or cut at the commas."""
    bare = trim(title.partition(" #")[0])  # DeepLore takes a comment for a part of the value before it
    if bare.startswith("[[") and bare.endswith("]]"):
        bare = trim(bare[2:-2].partition("|")[0])
    if bare != trim(title):
        found = facts.titles.get(bare.lower())
        return (found[0].title,) if found else ()
    parts = [trim(part) for part in title.split(",")] if "," in title else []
    if len(parts) > 1 and all(part.lower() in facts.titles for part in parts):
        return tuple(facts.titles[part.lower()][0].title for part in parts)
    return ()


def _other_characters(title: str, facts: VaultFacts) -> str:
    """The title that looks the same, though its accents are characters of their own, or these are; "" for none."""
    if title.isascii():
        return ""
    wanted = same_name(title)
    return next((found[0].title for found in facts.titles.values() if same_name(found[0].title) == wanted), "")


def contradictions(note: Note, _facts: VaultFacts) -> Iterator[Hit]:
    """G04, G05, G55, G56: what an entry's own two lists say together."""
    entry = note.entry
    if entry.guide:
        return
    requires, excludes = entry.written("requires"), entry.written("excludes")
    if not (requires or excludes):
        return
    if entry.is_exempt:
        kind = "constant" if entry.constant else "a seed" if entry.seed else "a bootstrap entry"
        for name, titles in (("requires", requires), ("excludes", excludes)):
            if titles:
                yield Hit("G55", f"“{entry.title}” is {kind}, so its {name} has no effect.", name)
        return
    own = entry.title.lower()
    for name, titles, code, told in (
        ("excludes", excludes, "G04", "excludes itself, so it never comes in"),
        ("requires", requires, "G56", "requires itself"),
    ):
        rest = tuple(title for title in titles if title.lower() != own)
        if rest != titles:
            fix = _set(note, name, rest, "Remove its own title")
            yield Hit(code, f"“{entry.title}” {told}.", name, entry.title, fix=fix)
    unwanted = {title.lower() for title in excludes}
    for title in dict.fromkeys(requires):
        if title.lower() in unwanted and title.lower() != own:
            yield Hit("G05", f"“{entry.title}” both requires and excludes “{title}”.", "requires", title)


def excluded_fixtures(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """G06, G52: excluding what is always there, or at the beginning of every chat."""
    entry = note.entry
    if entry.guide or entry.is_exempt:
        return
    for title in dict.fromkeys(entry.written("excludes")):
        called = (each for each in facts.titles.get(title.lower(), ()) if not each.guide)
        copies = [each for each in called if each.note_key != entry.note_key]
        if any(copy.constant for copy in copies):
            yield Hit(
                "G06", f"“{entry.title}” excludes the constant “{title}”, so it never comes in.", "excludes", title
            )
        elif any(copy.bootstrap for copy in copies):
            told = f"“{entry.title}” excludes the bootstrap entry “{title}”, so it stays out while the chat is short."
            yield Hit("G52", told, "excludes", title)


def chains(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """G07, G53, G54, G57: what follows along chains of entries."""
    entry, known = note.entry, facts.chains
    own = entry.title.lower()
    circle = known.circles.get(own)
    if circle and not entry.is_exempt:
        yield Hit("G07", f"“{circle[0]}” requires {_steps(circle[1:], ', which requires ')}.", "requires", circle[1])
    cascade = known.cascade_circles.get(own)
    if cascade:
        yield Hit("G57", f"Cascade links lead from {_steps(cascade, ' to ')}.", "cascade_links", cascade[1])
    hopeless = known.hopeless.get(entry.id)
    if hopeless:
        *titles, why = hopeless
        told = f"“{titles[0]}” requires {_steps(titles[1:], ', which requires ')}, and that one {why}."
        yield Hit("G53", told, "requires", titles[1])
    clash = known.contradictions.get(entry.id)
    if clash:
        yield Hit("G54", f"{clash}. So “{entry.title}” never comes in.", "requires")


def _steps(titles: Sequence[str], leads_to: str) -> str:
    """A chain in words; of a long one how it begins, how many lie between, and how it ends."""
    named = [f"“{title}”" for title in titles]
    if len(named) > MOST_STEPS:
        named[MOST_STEPS - 2 : -2] = [f"{len(named) - MOST_STEPS:,} more"]
    return leads_to.join(named)


def _replaced(titles: tuple[str, ...], title: str, by: tuple[str, ...]) -> tuple[str, ...]:
    """The list of different titles with one of them replaced."""
    place = titles.index(title)
    return tuple(dict.fromkeys((*titles[:place], *by, *titles[place + 1 :])))


def _set(note: Note, name: str, titles: tuple[str, ...], what: str, *, safe: bool = True) -> FixSpec:
    name = note.written(name)
    if not titles:
        return FixSpec(what, "remove", name, safe=safe)
    return FixSpec(what, "list" if len(titles) > 1 else "set", name, titles, safe=safe)


def dead_links(note: Note, facts: VaultFacts) -> Iterator[Hit]:
    """L01: links whose target is no entry's title, each with what it leads to instead."""
    for link in note.entry.links:
        if link.lower() in facts.titles:
            continue
        shown = f"[[{link}]]" if link else "An empty link"
        yield Hit("L01", f"{shown} {_instead(link, facts)}.", "body", f"[[{link}")


def _instead(link: str, facts: VaultFacts) -> str:
    page = link.partition("#")[0].partition("^")[0].strip()
    if page != link and page.lower() in facts.titles:
        return f"names a part of “{page}”; DeepLore follows whole titles only"
    name = base_name(page)
    same_file = facts.by_file_name.get(name, ())
    if same_file:
        return f"is the file of the entry “{same_file[0].title}”; DeepLore follows titles only"
    left_out = facts.left_out.get(name)
    if left_out is not None:
        return f"leads to the note {left_out.filename}, which is no entry"
    near = facts.near(link) if link else ""
    return f"leads to no entry; there is “{near}”" if near else "leads to no entry"
