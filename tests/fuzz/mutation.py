"""Damaging a file as people, programs and attackers do: values of the wrong kind, cut, repeated and foreign bytes."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

_RAW: Final = (
    "1e999", "-1e999", "9" * 4301, "9" * 350, "NaN", "1e-999", "-0", '"\\ud800"', "[" * 400 + "]" * 400, "0.1e1",
)  # fmt: skip
"""JSON that Python's own writer does not make; stands in the text as it is."""

_VALUES: Final = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 0.5, 1e300, "", " ", "0", "true", "null", "1e5", "\0", "\n",
    "\x1b[2J", "{{", "}}", "{{random}}", "[[", "/(/", "/(a+)+$/", "a" * 5000, "ß", "İ", "\u202e", "\ufeff", "\ud83d",
    "../../../etc/passwd", "/dev/zero", "CON", "a\0b", [], {}, [[]], [None], [1, "a", {}], {"": None},
    {"a": {"a": {}}},
    ["a"] * 300, {str(n): n for n in range(100)}, "__proto__", "constructor", [True], "2024-13-45T99:99:99Z", "∞",
)  # fmt: skip

_PIECES: Final = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n---\n", b"---", b": ", b"- ", b"[", b"]", b"{", b"}",
    b'"', b"'",
    b"&a ", b"*a", b"!!python/object:os.system ", b"!!binary ", b"%YAML 9.9\n", b"<<: *a\n", b"\t", b"|\n",
    b">-\n", b"? ",
    b"#", b"\xed\xa0\x80", b"\xc2\x85", b"\xe2\x80\xa8", b"9" * 4301, b"9" * 350,
    b"1e999", b"0x" + b"f" * 4000, b".inf", b".nan",
    b"2001-99-99", b"1_000", b"0o7", b"\\", b"\\u", b"\\ud800", b"{{", b"/(/", b"null", b"true", b"[" * 400,
    b"{a: " * 400,
)  # fmt: skip


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes with one to four things wrong."""
    try:
        document = json.loads(data) if random.random() < 0.7 else None
    except ValueError:
        document = None
    if isinstance(document, dict | list):
        raw: list[str] = []
        for _ in range(random.randint(1, 4)):
            document = _changed(document, random, raw)
        text = json.dumps(document, ensure_ascii=random.random() < 0.5)
        for number, value in enumerate(raw):
            text = text.replace(f'"\\u0001{number}\\u0001"', value)
        data = text.encode("utf-8", "surrogatepass")
        if random.random() < 0.8:
            return data
    for _ in range(random.randint(1, 4)):
        data = _cut(data, random)
    return data


def _changed(value: Any, random: Random, raw: list[str]) -> Any:
    """The value with something else at one place, the deeper the likelier."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        rest = {name: each for name, each in value.items() if name != key}
        match random.randint(0, 9):
            case 0:
                return rest
            case 1:
                return {**rest, random.choice([key.upper(), f"{key} ", "", "__proto__"]): value[key]}
        return {**rest, key: _changed(value[key], random, raw)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        match random.randint(0, 9):
            case 0:
                return [*value[:place], *value[place + 1 :]]
            case 1:
                return [*value, value[place]]
        return [*value[:place], _changed(value[place], random, raw), *value[place + 1 :]]
    if random.random() < 0.2:
        raw.append(random.choice(_RAW))
        return f"\1{len(raw) - 1}\1"
    return random.choice(_VALUES)


def _cut(data: bytes, random: Random) -> bytes:
    start, end = sorted(random.randint(0, len(data)) for _ in range(2))
    match random.randint(0, 6):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:end] * random.randint(1, 3) + data[end:]
        case 3:
            return data[:start] + random.randbytes(random.randint(1, 8)) + data[start + 1 :]
    return data[:start] + random.choice(_PIECES) + data[start:]
