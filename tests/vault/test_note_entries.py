from __future__ import annotations

import math

import pytest

from lorestudio.domain.entry import Entry, FieldDefinition, LeftOutNote, NoteProblem
from lorestudio.domain.javascript import simple_hash
from lorestudio.domain.tokens import CHARS_4
from lorestudio.settings.deeplore import DeepLoreSettings
from lorestudio.vault.entries import ParseRules, parse_note

LENIENT = ParseRules()
STRICT = ParseRules(lenient=False)


def entry(front: str, rules: ParseRules = LENIENT, filename: str = "n.md") -> Entry:
    note = parse_note(f"---\n{front}\n---\n", filename, "V", rules, CHARS_4)
    assert isinstance(note, Entry), note
    return note


def lore(front: str, rules: ParseRules = LENIENT) -> Entry:
    return entry(f"tags: [lorebook]\n{front}", rules)


def left_out(text: str, filename: str = "n.md", rules: ParseRules = LENIENT) -> LeftOutNote:
    note = parse_note(text, filename, "V", rules, CHARS_4)
    assert isinstance(note, LeftOutNote), note
    return note


def codes(note: Entry) -> list[str]:
    return [f"{warning.code}:{warning.field}" for warning in note.warnings]


@pytest.mark.parametrize("tags", ["tags: lorebook", "tags: [lorebook]", "tags:\n  - Lorebook", "tags: [x, LOREBOOK]"])
def test_admitted(tags: str) -> None:
    assert entry(tags).title == "n"


@pytest.mark.parametrize(
    "tags",
    [
        'tags: "#lorebook"', "tags: lorebook, npc", "tags: [lorebook/npc]", 'tags:\n  - " lorebook"', "tag: lorebook",
        "tags: lorebook # c", "tags: [lorebook] # c", "tags: lorebook-always", "a: 1",
    ],
)  # fmt: skip
def test_without_the_tag(tags: str) -> None:
    note = left_out(f"---\n{tags}\n---\n")
    assert note.problem is NoteProblem.NO_LOREBOOK_TAG
    assert "“n.md”" in note.message
    assert not note.problem.broken


@pytest.mark.parametrize("text", ["plain #lorebook", "---\n\n---\nx", "---\n# lorebook\n---\nx"])
def test_without_front_matter(text: str) -> None:
    assert left_out(text).problem is NoteProblem.NO_FRONT_MATTER


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_that_is_never_closed_is_said_to_be_so_with_its_line(mark: str, end: str) -> None:
    note = left_out(mark + end.join(("---", "tags: [lorebook]", "", "# Gate", "It is shut.")))
    assert note.problem is NoteProblem.NO_FRONT_MATTER
    assert note.message.startswith("“n.md” is no entry. The front matter that begins in line 1 has no end, ")
    rule = left_out(mark + end.join(("---", "", "It is shut: see the gate.")))
    assert "has no front matter" in rule.message, "a line across the page begins no front matter"


def test_disabled_and_never_insert() -> None:
    assert left_out("---\ntags: lorebook\nenabled: false\n---\n").problem is NoteProblem.DISABLED
    assert left_out("---\ntags: [lorebook, Lorebook-Never]\n---\n").problem is NoteProblem.NEVER_INSERT
    both = "---\ntags: [lorebook, lorebook-never]\nenabled: false\n---\n"
    assert left_out(both).problem is NoteProblem.DISABLED


@pytest.mark.parametrize("word", ["False", "no", '"false"', "false # off", ""])
def test_still_enabled(word: str) -> None:
    assert lore(f"enabled: {word}").title == "n"


def test_misspelled_tags_field() -> None:
    assert codes(entry("Tags: [lorebook]")) == ["W_ALIAS_USED:Tags"]
    assert left_out("---\nTags: [lorebook]\n---\n", rules=STRICT).problem is NoteProblem.NO_LOREBOOK_TAG


def test_special_tags() -> None:
    note = entry("tags: [lorebook, Lorebook-Always, X, x, lorebook, lorebook-seed, lorebook-bootstrap]")
    assert note.tags == ("lorebook-always", "x", "x", "lorebook-seed", "lorebook-bootstrap")
    assert (note.constant, note.seed, note.bootstrap, note.guide) == (True, True, True, False)
    guide = entry("tags: [lorebook-guide]")
    assert guide.guide
    assert guide.tags == ()


def test_constant_only_for_the_plain_word() -> None:
    assert lore("constant: true").constant
    assert not lore('constant: "true"').constant
    assert not entry("tags: [lorebook, ]", ParseRules(constant_tag="")).constant


@pytest.mark.parametrize(("body", "filename"), [("#   ", "n.md"), ("text", ".md"), ("text", "folder/.md")])
def test_empty_title_is_broken(body: str, filename: str) -> None:
    note = left_out(f"---\ntags: lorebook\n---\n{body}", filename)
    assert note.problem is NoteProblem.EMPTY_TITLE
    assert note.problem.broken
    assert f"“{filename}”" in note.message


@pytest.mark.parametrize(
    ("written", "priority", "cooldown", "probability", "scan_depth", "depth"),
    [
        ("5", 5, 5, 1, 5, 5),
        ('"5"', 5, 5, 1, None, None),
        ("-3", -3, None, 0, -3, 0),
        ("1e2", 100, 100, 1, None, None),
        ("0x1F", 31, 31, 1, None, None),
        ("5 # c", 100, None, None, None, None),
        ("", 100, None, None, None, None),
        ("true", 100, None, None, None, None),
        ("20000", 20000, 20000, 1, 20000, 10000),
        ("0.25", 0.25, 0.25, 0.25, 0.25, 0.25),
    ],
)
def test_numbers(
    written: str, priority: float, cooldown: float | None, probability: float | None,
    scan_depth: float | None, depth: float | None,
) -> None:  # fmt: skip
    names = ("priority", "cooldown", "warmup", "probability", "scanDepth", "depth")
    note = lore("\n".join(f"{name}: {written}" for name in names))
    assert (note.priority, note.cooldown, note.warmup) == (priority, cooldown, cooldown)
    assert (note.probability, note.scan_depth, note.depth) == (probability, scan_depth, depth)


def test_numbers_as_text() -> None:
    note = lore('priority: "Infinity"\ncooldown: " 7 "')
    assert note.priority == math.inf
    assert note.cooldown == 7
    assert codes(note) == ["W_COERCED_NUM:priority", "W_COERCED_NUM:cooldown"]
    assert "Infinity" in note.warnings[0].message
    assert note.warnings[1].suggested_fix == "Write cooldown: 7"
    strict = lore('priority: "7"', STRICT)
    assert (strict.priority, strict.warnings) == (100, ())


@pytest.mark.parametrize(
    ("written", "keys", "warnings"),
    [
        ("keys: a, b", ("a", "b"), ["W_COMMA_SPLIT:keys"]),
        ("keys: a,", ("a",), ["W_COMMA_SPLIT:keys"]),
        ("keys: ,", (), ["W_COMMA_SPLIT:keys"]),
        ("keys: [a, , b]", ("a", "", "b"), []),
        ("keys: 007", ("7",), []),
        ("keys: [007]", ("007",), []),
        ('keys: "007"', ("007",), []),
        ("keys: 3.0", ("3",), []),
        ("keys: 0", (), []),
        ("keys: false", (), []),
        ("keys: null", (), []),
        ("keys: true", ("true",), []),
        ('keys: ""', ("",), []),
        ("KEYS: [q]\nkeys: [z]", ("z",), []),
        ("KEYS: [q]", ("q",), ["W_ALIAS_USED:KEYS"]),
    ],
)
def test_keys(written: str, keys: tuple[str, ...], warnings: list[str]) -> None:
    note = lore(written)
    assert note.keys == keys
    assert codes(note) == warnings


def test_strict_keys_keep_their_commas() -> None:
    assert lore("keys: a, b", STRICT).keys == ("a, b",)


def test_misspelled_fields() -> None:
    note = lore("scandepth: 3\nexcluderecursion: true")
    assert (note.scan_depth, note.exclude_recursion) == (3, True)
    assert codes(note) == ["W_ALIAS_USED:scandepth", "W_ALIAS_USED:excluderecursion"]
    strict = lore("scandepth: 3\nexcluderecursion: true", STRICT)
    assert (strict.scan_depth, strict.exclude_recursion, strict.warnings) == (None, False, ())


@pytest.mark.parametrize(
    ("written", "requires"),
    [
        ('[A, " B ", ""]', ("A", "B")),
        ("0", ()),
        ("5", ("5",)),
        ("true", ("true",)),
        ("A, B", ("A, B",)),
        ('\n  - "[[A]]"', ("[[A]]",)),
    ],
)
def test_lists_of_titles(written: str, requires: tuple[str, ...]) -> None:
    names = ("requires", "excludes", "refine_keys", "cascade_links")
    note = lore("\n".join(f"{name}: {written}" for name in names))
    assert (note.requires, note.excludes, note.refine_keys, note.cascade_links) == (requires,) * 4
    assert lore("refineKeys: [a]").refine_keys == ()


@pytest.mark.parametrize(
    ("word", "position"), [("before", 2), ("AFTER", 0), ("in_chat", 1), ("in-chat", None), ("1", None)]
)
def test_position(word: str, position: int | None) -> None:
    assert lore(f"position: {word}").position == position


@pytest.mark.parametrize(
    ("word", "role"), [("system", 0), ("User", 1), ("assistant", 2), ("narrator", None), ("1", None)]
)
def test_role(word: str, role: int | None) -> None:
    assert lore(f"role: {word}").role == role


@pytest.mark.parametrize(
    ("written", "attribute", "value"),
    [
        ("refine_keys: a", "refine_keys", ("a",)),
        ("scanDepth: 3", "scan_depth", 3),
        ("excludeRecursion: true", "exclude_recursion", True),
        ("requires: a", "requires", ("a",)),
        ("excludes: a", "excludes", ("a",)),
        ("cascade_links: a", "cascade_links", ("a",)),
        ("outlet: a", "outlet", "a"),
        ("position: before", "position", 2),
        ("depth: 3", "depth", 3),
        ("role: user", "role", 1),
        ("cooldown: 3", "cooldown", 3),
        ("warmup: 3", "warmup", 3),
        ("probability: 0.5", "probability", 0.5),
        ("graph: false", "graph", False),
    ],
)
def test_a_rare_field_on_its_own(written: str, attribute: str, value: object) -> None:
    assert getattr(lore(written), attribute) == value
    assert getattr(lore("summary: a"), attribute) == getattr(Entry(0, "n.md", "V", "n"), attribute)


@pytest.mark.parametrize(
    ("written", "summary"), [("1.50", "1.5"), ("true", ""), (">-", ">-"), ('" a "', "a"), ("[a]", ""), ("", "")]
)
def test_summary(written: str, summary: str) -> None:
    assert lore(f"summary: {written}").summary == summary


def test_outlet_and_graph() -> None:
    assert lore("outlet: rules").outlet == "rules"
    assert lore("outlet: 5").outlet is None
    assert lore('outlet: " "').outlet is None
    assert [lore(f"graph: {word}").graph for word in ("false", "no", "")] == [False, True, True]


@pytest.mark.parametrize(
    ("written", "era"),
    [("5", ("5",)), ("true", ("true",)), ("null", ()), ('""', ()), ("", ()), ('[" a ", ""]', ("a",))],
)
def test_built_in_field(written: str, era: tuple[str, ...]) -> None:
    assert lore(f"Era: {written}").custom_fields == {"era": era}


@pytest.mark.parametrize(
    ("kind", "multi", "written", "value"),
    [
        ("string", False, "null", "null"),
        ("string", False, "[a, b]", "a,b"),
        ("string", False, "", ""),
        ("string", False, '" a "', "a"),
        ("number", True, "", 0),
        ("number", False, "null", 0),
        ("number", False, "true", 1),
        ("number", False, "[3]", 3),
        ("number", False, "[1, 2]", None),
        ("number", False, '"0x10"', 16),
        ("boolean", False, '"true"', True),
        ("boolean", False, "1", False),
    ],
)
def test_own_field(kind: str, multi: bool, written: str, value: object) -> None:
    rules = ParseRules(fields=(FieldDefinition("f1", "F", type=kind, multi=multi),))  # type: ignore[arg-type]
    assert lore(f"f1: {written}", rules).custom_fields == {"f1": value}
    assert lore("other: 1", rules).custom_fields == {}


def test_fields_of_other_tools() -> None:
    note = lore("delay: 0\ngroup: [a, b]\nlocation: Inn\ntitle: X\naliases: [y]")
    assert list(note.custom_fields.items()) == [("location", ("Inn",)), ("delay", 0), ("group", ("a", "b"))]
    assert codes(note) == ["W_NOT_IMPLEMENTED:delay", "W_NOT_IMPLEMENTED:group"]
    assert note.title == "n"


def test_everything_else() -> None:
    text = "---\ntags: lorebook\n---\n# Inn\nAt the [[Docks|quay]].\n"
    note = parse_note(text, "places/inn.md", "V", ParseRules(), CHARS_4)
    assert isinstance(note, Entry)
    assert (note.id, note.vault, note.filename, note.folder) == (0, "V", "places/inn.md", "places")
    assert (note.title, note.content, note.links) == ("Inn", "At the quay.", ("Docks",))
    assert note.tokens == 3
    assert note.content_hash == simple_hash(text)
    assert entry("tags: lorebook", filename="/a.md").folder == ""
    assert entry("tags: lorebook", filename="a.md").folder is None


def test_every_warning_says_what_to_do() -> None:
    note = lore('Keys: a, b\npriority: "7"\nsticky: 1')
    assert [warning.code for warning in note.warnings] == [
        "W_ALIAS_USED", "W_COMMA_SPLIT", "W_COERCED_NUM", "W_NOT_IMPLEMENTED",
    ]  # fmt: skip
    assert all(warning.message and warning.suggested_fix for warning in note.warnings)


def test_rules_from_settings() -> None:
    settings = DeepLoreSettings(lorebook_tag="Lore", seed_tag="S", librarian_guide_tag="", lenient_authoring=False)
    rules = ParseRules.from_settings(settings, ())
    assert rules == ParseRules("lore", "lorebook-always", "lorebook-never", "s", "lorebook-bootstrap", "", False, ())


def test_what_many_notes_say_alike_is_held_once() -> None:
    text = "---\ntags: [lorebook, old-town]\nrequires: [Old Quay]\nera: [late dusk]\n---\n[[Old Quay]] [[Far Mill]]"
    one, other = (parse_note(text, f"some/place/{name}.md", "v", LENIENT) for name in "ab")
    assert isinstance(one, Entry)
    assert isinstance(other, Entry)
    assert one.folder is other.folder
    assert one.tags[0] is other.tags[0]
    assert all(mine is yours for mine, yours in zip(one.links, other.links, strict=True))
    assert one.requires[0] is other.requires[0] is one.links[0]
