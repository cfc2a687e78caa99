"""Holding a run against a recorded one: everything is compared but what the format leaves out
(rules: scenario-format 6).

Left out is what depends on the wording of the original's own prompts: the hashes of AI requests, what is appended to
their system prompt, the fixed sentences around the user text's contents, and the hash of a notepad prompt that contains
the tag instruction.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

MISSING: Final = "<missing>"
_SHOWN: Final = 160
_TOLERANCE: Final = 1e-9
_IGNORED_OF_CALL: Final = frozenset({"system_hash", "user_hash", "message_hash"})
_SCORES: Final = re.compile(r"generations\[\d+\]\.keyword\.bm25\[\d+\]\[1\]")


@dataclass(frozen=True, slots=True)
class Case:
    """A recorded scenario and what the original made of it; `expected["index"]` is written out."""

    id: str
    scenario: dict[str, Any]
    expected: dict[str, Any]

    @property
    def keywords_only(self) -> bool:
        """Whether no generation asks an AI."""
        patches = (generation.get("settings_patch", {}) for generation in self.scenario["generations"])
        return not any(values.get("aiSearchEnabled") for values in (self.scenario["settings"], *patches))


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs, and where: `generations[1].budget.cut[0]`."""

    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {_shown(self.expected)}, got {_shown(self.got)}"


def _shown(value: Any) -> str:
    if value is MISSING:
        return MISSING
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@cache
def read_cases(path: Path) -> Sequence[Case]:
    """All cases of a file, with an index that is only referred to filled in from the case it refers to."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8")
    cases: dict[str, Case] = {}
    for line in filter(str.strip, text.split("\n")):
        record = json.loads(line)
        expected = record["expected"]
        same_as = expected["index"].get("same_as")
        if same_as is not None:
            expected = {**expected, "index": cases[same_as].expected["index"]}
        cases[record["id"]] = Case(record["id"], record["scenario"], expected)
    return tuple(cases.values())


def differences(case: Case, got: Mapping[str, Any]) -> list[Difference]:
    """Everything in which `got`, an `expected` object of our own, differs from the recorded one."""
    mine = json.loads(json.dumps(got))
    found: list[Difference] = []
    ignored = _notepad_hashes(case)
    if case.scenario.get("rules") == "2.6":
        for number in range(len(case.expected["generations"])):
            ignored |= {f"generations[{number}].ai.error_message", f"generations[{number}].trace.ai_error"}
    for one in _walk("", case.expected, mine):
        if not (one.path in ignored or (_SCORES.fullmatch(one.path) and _near(one.expected, one.got))):
            place = _CALL.fullmatch(one.path)
            found += _of_call(one, _paragraphs(case, int(place["generation"]))) if place else [one]
    return found


def _paragraphs(case: Case, generation: int) -> int:
    """Paragraphs of the scenario's own system prompt in that generation."""
    settings = dict(case.scenario["settings"])
    for one in case.scenario["generations"][: generation + 1]:
        settings |= one.get("settings_patch", {})
    return len(str(settings.get("aiSearchSystemPrompt", "")).strip().split(_PARAGRAPH))


def _near(expected: Any, got: Any) -> bool:
    return isinstance(expected, int | float) and isinstance(got, int | float) and abs(expected - got) <= _TOLERANCE


_CALL: Final = re.compile(r"generations\[(?P<generation>\d+)\]\.ai_calls\[\d+\]")
_PARAGRAPH: Final = "\n\n"


def _walk(path: str, expected: Any, got: Any) -> Iterator[Difference]:
    """Differing values, outermost first. AI requests come out whole, as their parts have rules of their own."""
    if _CALL.fullmatch(path):
        if expected != got:
            yield Difference(path, expected, got)
    elif isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            inner = f"{path}.{key}" if path else key
            yield from _walk(inner, expected.get(key, MISSING), got.get(key, MISSING))
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got) and not any(isinstance(item, dict | list) for item in (*expected, *got)):
            yield Difference(path, expected, got)
            return
        for place in range(max(len(expected), len(got))):
            yield from _walk(f"{path}[{place}]", _at(expected, place), _at(got, place))
    elif expected != got or isinstance(expected, bool) is not isinstance(got, bool):
        yield Difference(path, expected, got)


def _at(items: Sequence[Any], place: int) -> Any:
    return items[place] if place < len(items) else MISSING


def _of_call(one: Difference, paragraphs: int) -> list[Difference]:
    """What really differs between two AI requests; a custom system prompt has that many paragraphs of its own."""
    if not isinstance(one.expected, dict) or not isinstance(one.got, dict):
        return [one]
    expected, got = (
        {key: value for key, value in call.items() if key not in _IGNORED_OF_CALL} for call in (one.expected, one.got)
    )
    for call in (expected, got):
        if isinstance(call.get("system"), dict):
            call["system"] = _system(call["system"], paragraphs)
    wanted, text = expected.pop("user", None), got.pop("user", None)
    found = [Difference(f"{one.path}{inner.path}", inner.expected, inner.got) for inner in _inner(expected, got)]
    if isinstance(wanted, str) and isinstance(text, str):
        found += [Difference(f"{one.path}.user", piece, rest) for piece, rest in _unequal(wanted, text)]
    elif wanted != text:
        found.append(Difference(f"{one.path}.user", wanted, text))
    return found


def _system(system: dict[str, Any], paragraphs: int) -> dict[str, Any]:
    """A system prompt without the original's wording: of a paragraph that was appended only that it is there."""
    kept = {key: value for key, value in system.items() if key != "suffix"}
    if kept.get("base") == "custom" and isinstance(kept.get("text"), str):
        parts = kept["text"].split(_PARAGRAPH)
        kept["text"] = _PARAGRAPH.join(parts[:paragraphs]) + _PARAGRAPH * (len(parts) > paragraphs)
    return kept


def _inner(expected: dict[str, Any], got: dict[str, Any]) -> Iterator[Difference]:
    for one in _walk("", expected, got):
        yield Difference(f".{one.path}", one.expected, one.got)


_TRANSCRIPT: Final = re.compile(r"<recent_chat_transcript>\n(?P<text>.*)\n</recent_chat_transcript>", re.DOTALL)
_CATEGORIES: Final = re.compile(r"## Categories\n(?P<categories>.*?)\n\n## Recent Chat\n(?P<chat>.*)", re.DOTALL)
_CONTEXT: Final = re.compile(
    r"(?:\[STORY CONTEXT[^\]\n]*\]\n(?P<story>.*?)\n\n\[RECENT CHAT\]\n)?"
    r"(?P<chat>.*?)"
    r"(?:\n\n\[SESSION SUMMARY[^\]\n]*\]\n(?P<summary>.*))?",
    re.DOTALL,
)
_TRANSCRIPT_LINE: Final = re.compile(r"^.* \((?:user|character)\): ", re.MULTILINE)
PLACEHOLDERS: Final = ("{{HEADER}}", "{{MANIFEST}}")


def contents(user: str) -> list[str]:
    """The parts of a recorded user text that do not depend on its wording, in order.

    Header and manifest (as placeholders), story context, transcript and scribe summary; or categories and transcript.
    """
    categories = _CATEGORIES.fullmatch(user)
    if categories:
        return [categories["categories"], categories["chat"]]
    transcript = _TRANSCRIPT.search(user)
    if transcript is None:
        return [user]
    context = _CONTEXT.fullmatch(transcript["text"])
    parts = [] if context is None else [context["story"], context["chat"], context["summary"]]
    return [*(one for one in PLACEHOLDERS if one in user), *(part for part in parts if part is not None)]


def _unequal(wanted: str, text: str) -> Iterator[tuple[str, str]]:
    """The recorded parts that our text lacks, or a transcript line or placeholder that it has beyond them."""
    wording, place = "", 0
    for part in contents(wanted):
        start = text.find(part, place)
        if start < 0 or not _stands_free(text, start, start + len(part)):
            yield part, text[place:]
            return
        wording += text[place:start] + "\n"
        place = start + len(part)
    wording += text[place:]
    surplus = _TRANSCRIPT_LINE.search(wording)
    if surplus or any(one in wording for one in PLACEHOLDERS):
        yield MISSING, surplus.group() if surplus else wording


def _stands_free(text: str, start: int, end: int) -> bool:
    """Whether the part takes whole lines, so that nothing was put before or behind it unnoticed."""
    return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")


def _notepad_hashes(case: Case) -> set[str]:
    """Paths of the hashes of notepad prompts that hold our own instruction: in tag mode with the built-in wording."""
    paths: set[str] = set()
    settings = dict(case.scenario["settings"])
    worded = False
    for number, generation in enumerate(case.scenario["generations"]):
        settings |= generation.get("settings_patch", {})
        recorded = case.expected["generations"][number]
        if recorded["outcome"] in {"injected", "nothing_injected"}:  # otherwise the prompt is of an earlier generation
            worded = (
                settings.get("aiNotepadMode", "tag") == "tag" and not str(settings.get("aiNotepadPrompt", "")).strip()
            )
        for place, prompt in enumerate(recorded["committed"]):
            if worded and prompt["tag"] == "deeplore_ai_notepad":
                paths.add(f"generations[{number}].committed[{place}].hash")
    return paths
