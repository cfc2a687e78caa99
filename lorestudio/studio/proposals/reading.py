"""From the text that came back to a summary, keys or a draft, whatever the model wrapped it in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

from lorestudio.domain.javascript import Json, fold, head, length, trim
from lorestudio.domain.json_text import is_deep, items_in, text_in, values_in
from lorestudio.domain.records import Terse
from lorestudio.llm.messages import ChatReply
from lorestudio.studio.proposals.model import ProposalRemark

SUMMARY_LENGTH: Final = 600
"""Code units of a summary (rules: deeplore-tools 2.6)."""
FEWEST_KEYS: Final = 3
FEWEST_DRAFT_KEYS: Final = 2
MOST_KEYS: Final = 10
"""How many keys are asked for (rules: deeplore-tools 2.5)."""

LONGEST_KEY: Final = 200
"""Code units of a key that take part in matching (rules: deeplore 3.4)."""

_FENCED: Final = re.compile(r"\A```\w*[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_LABEL: Final = re.compile(
    r"\A(?:#+\s*)?[*_]{0,2}summary[*_]{0,2}\s*:?[*_]{0,2}\s*(?:\n|(?<=:)|(?<=\*))", re.IGNORECASE
)
_HEADING: Final = re.compile(r"\A#{1,6}[ \t][^\n]*\n\s*(?=\S)")
_LEAD_IN: Final = re.compile(r"\A[^\n]{1,120}:[ \t]*\n\s*\n?(?=\S)")
_SENTENCE: Final = re.compile(r"[.!?…。！？][\"'”’»)\]]*(?=\s|\Z)|[。！？]")
_BULLET: Final = re.compile(r"\A(?:[-*+•]|\d+[.)])\s+")
_PAIRS: Final = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“"), ("`", "`"))
_EMPTY: Final = "The answer is empty. Ask again, or write it yourself."
_NOT_WHOLE: Final = "The answer ended at the limit for replies, so it is not whole."
_CUT_OFF: Final = f"{_NOT_WHOLE} Raise the limit in the settings, or ask again."
_HELD_BACK: Final = "The provider's filter ended the answer. Ask again, ask somebody else, or write it yourself."
_REFUSED: Final = "The answer reads like a refusal. Look at it before it goes into a note."
_REFUSAL: Final = re.compile(
    r"(?:I['’]?m|I am) (?:very |so )?(?:sorry|afraid|unable|not able)\b|I apologi[sz]e\b|(?:Sorry|Unfortunately),|"
    r"As an AI\b|I (?:can(?:no|['’])t|won['’]t)\b",
    re.IGNORECASE,
)
"""How models begin to say no."""


class ReadKeys(Struct, frozen=True):
    """The keys of an answer, at most `MOST_KEYS`. With a `problem` there are none."""

    keys: tuple[str, ...] = ()
    reasoning: str = ""
    problem: str = ""
    remarks: tuple[ProposalRemark, ...] = ()


class ReadText(Struct, frozen=True):
    """The summary of an answer. With a `problem` there is none."""

    text: str = ""
    problem: str = ""
    remarks: tuple[ProposalRemark, ...] = ()


class ReadDraft(Terse, frozen=True):
    """The parts of a new note. With a `problem` there are none."""

    unprinted = ("content",)

    title: str = ""
    keys: tuple[str, ...] = ()
    summary: str = ""
    content: str = ""
    problem: str = ""
    remarks: tuple[ProposalRemark, ...] = ()


def read_summary(reply: ChatReply) -> ReadText:
    """The summary as one paragraph of at most `SUMMARY_LENGTH` code units; what is longer is cut at a sentence."""
    text = _spoken(reply)
    for value in values_in(text) if text[:1] in ("{", "[", "`") else ():
        found = "" if is_deep(value) else _summary_in(value)
        if found:
            text = found
            break
        if isinstance(value, Mapping):
            return ReadText(problem="The answer is JSON without a summary. Ask again, or write it yourself.")
    fenced = _FENCED.match(text)
    if fenced:
        text = trim(fenced[1])
    lead_in = _LEAD_IN.match(text)
    if lead_in and len(text) - lead_in.end() > 40:
        text = text[lead_in.end() :]
    text = one_line(_unquoted(trim(_HEADING.sub("", _LABEL.sub("", trim(text))))))
    if not text:
        return ReadText(problem=_why_short(reply, f"{_NOT_WHOLE} Ask again, or write it yourself.") or _EMPTY)
    doubts = (_why_short(reply, f"{_NOT_WHOLE} Finish it yourself, or ask again."), _REFUSAL.match(text) and _REFUSED)
    remarks = [ProposalRemark(doubt, serious=True) for doubt in doubts if doubt]
    if length(text) > SUMMARY_LENGTH:
        remarks.append(ProposalRemark(f"The answer had {length(text):,} characters and was cut to {SUMMARY_LENGTH}."))
        text = shortened(text, SUMMARY_LENGTH)
    return ReadText(text, remarks=tuple(remarks))


def read_keys(reply: ChatReply) -> ReadKeys:
    """The keys of an answer: of an object with `suggested`, another list of texts in it, a bare list, or of bullets."""
    text = _spoken(reply)
    if not text:
        return ReadKeys(problem=_why_short(reply) or _EMPTY)
    bullets: list[Json] = [line for line in map(trim, text.split("\n")) if _BULLET.match(line)]
    for value in chain(values_in(text), [bullets] if len(bullets) > 1 else ()):
        found = None if is_deep(value) else _key_list(value)
        if found is None:
            continue
        keys, remarks = clean_keys(found)
        if not keys:
            break
        reasoning = value.get("reasoning") if isinstance(value, Mapping) else ""
        return ReadKeys(keys, one_line(reasoning) if isinstance(reasoning, str) else "", remarks=remarks)
    else:
        told = "The answer holds no JSON with keys. Look at it, ask again, or write the keys yourself."
        return ReadKeys(problem=_why_short(reply) or (_CUT_OFF if _looks_cut(text) else told))
    return ReadKeys(problem="The answer names no key that can be used. Ask again, or write the keys yourself.")


def read_drafts(reply: ChatReply) -> tuple[ReadDraft, ...]:
    """The drafts of an answer, each title once: an object, or those of a list. At least one, maybe with a problem."""
    text = _spoken(reply)
    if not text:
        return (ReadDraft(problem=_why_short(reply) or _EMPTY),)
    drafts = [_draft_of(item) for item in next(filter(None, map(_objects, values_in(text))), ())]
    if drafts:
        good = {fold(draft.title): draft for draft in reversed(drafts) if not draft.problem}
        return tuple(reversed(good.values())) or (drafts[0],)
    told = "The answer holds no JSON with a note. Look at it, ask again, or write the note yourself."
    return (ReadDraft(problem=_why_short(reply) or (_CUT_OFF if _looks_cut(text) else told)),)


def clean_keys(items: Sequence[Json], fewest: int = FEWEST_KEYS) -> tuple[tuple[str, ...], tuple[ProposalRemark, ...]]:
    """The texts of a list as keys: trimmed, each once whatever its case, at most `MOST_KEYS`; and what was left out."""
    found: dict[str, str] = {}
    unusable = 0
    for item in items:
        key = _unquoted(_BULLET.sub("", trim(item))) if isinstance(item, str) else ""
        if not key or "\n" in key or length(key) > LONGEST_KEY:
            unusable += 1
            continue
        found.setdefault(fold(key), key)
    keys = tuple(found.values())
    remarks = []
    if unusable:
        what = "1 item of the answer was" if unusable == 1 else f"{unusable} items of the answer were"
        remarks.append(ProposalRemark(f"{what} left out: no text of one line with at most {LONGEST_KEY} characters."))
    if len(keys) > MOST_KEYS:
        remarks.append(ProposalRemark(f"The answer has {len(keys)} keys; the first {MOST_KEYS} were taken."))
    elif 0 < len(keys) < fewest:
        what = "only 1 key" if len(keys) == 1 else f"only {len(keys)} keys"
        remarks.append(ProposalRemark(f"The answer has {what}; at least {fewest} were asked for.", serious=True))
    return keys[:MOST_KEYS], tuple(remarks)


def one_line(text: str) -> str:
    """The text as one paragraph, runs of white space as one blank."""
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """The beginning of the text in at most `limit` code units: whole sentences where half of it is kept so, else words.

    A word that is longer than the limit is cut.
    """
    if length(text) <= limit:
        return text
    start = head(text, limit).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    ends = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= len(start)]
    if ends and ends[-1] * 2 >= len(start):
        return trim(text[: ends[-1]])
    if not text[len(start)].isspace():
        start = start.rpartition(" ")[0] or start
    return trim(start)


def _spoken(reply: ChatReply) -> str:
    """What the model said, without what it thought."""
    return trim(reply.without_thinking().text)


def _why_short(reply: ChatReply, cut_off: str = _CUT_OFF) -> str:
    """Why the answer ended before its end, "" where it did not."""
    return cut_off if reply.cut_off else _HELD_BACK if reply.held_back else ""


def _summary_in(value: Json) -> str:
    if isinstance(value, Mapping):
        return text_in(value.get("summary"))
    if isinstance(value, list) and len(value) == 1:
        return value[0] if isinstance(value[0], str) else _summary_in(value[0])
    return ""


def _key_list(value: Json) -> Sequence[Json] | None:
    """The list of keys that a value holds, None where it holds none."""
    if isinstance(value, Mapping):
        named = ("suggested", "keys", "keywords")
        lists = [*map(value.get, named), *(item for name, item in value.items() if name not in named)]
        return next((found for found in map(_key_list, lists) if found is not None and _texts(found)), None)
    if not isinstance(value, list):
        return None
    items = [item.get("key", item.get("keyword")) if isinstance(item, Mapping) else item for item in value]
    return items if not items or _texts(items) else None


def _texts(items: Sequence[Json]) -> bool:
    return any(isinstance(item, str) for item in items)


def _objects(value: Json) -> list[Mapping[str, Json]]:
    """The objects with a title that a value holds."""
    if isinstance(value, Mapping):
        if isinstance(value.get("title"), str):
            return [value]
        return next((found for item in value.values() if isinstance(item, list) and (found := _objects(item))), [])
    if isinstance(value, list):
        return [item for item in value if isinstance(item, Mapping) and isinstance(item.get("title"), str)]
    return []


def _draft_of(draft: Mapping[str, Json]) -> ReadDraft:
    title = one_line(text_in(draft.get("title")))
    content = trim(text_in(draft.get("content")))
    if not title:
        return ReadDraft(
            problem="The answer says that nothing here is worth a note. Choose other messages or a subject."
        )
    if not content:
        return ReadDraft(problem="The draft has a title and no text. Ask again, or write the note yourself.")
    keys, remarks = clean_keys(items_in(draft.get("keys")), FEWEST_DRAFT_KEYS)
    summary = one_line(text_in(draft.get("summary")))
    if length(summary) > SUMMARY_LENGTH:
        told = f"The summary had {length(summary):,} characters and was cut to {SUMMARY_LENGTH}."
        remarks = (*remarks, ProposalRemark(told))
    return ReadDraft(title, keys, shortened(summary, SUMMARY_LENGTH), content, remarks=remarks)


def _looks_cut(text: str) -> bool:
    """Whether the text begins JSON that never closes."""
    start = min((place for sign in "{[" if (place := text.find(sign)) >= 0), default=-1)
    return start >= 0 and not text.rstrip("` \n").endswith(("}", "]"))


def _unquoted(text: str) -> str:
    """Without the quotation marks around the whole text."""
    for opening, closing in _PAIRS:
        inside = text[1:-1]
        if len(text) > 1 and text[0] == opening and text[-1] == closing and not {opening, closing} & set(inside):
            return trim(inside)
    return text
