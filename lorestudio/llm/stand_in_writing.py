"""What the offline stand-in writes where a model would be asked to: summaries, keys, drafts of notes.

By rules alone, so that the whole way can be tried without a provider: a summary is the note's own first sentences, keys
are its title, its other names, those it has and the names in it. The same request always gets the same answer. What it
reads is the request alone, as a model would (its parts: studio.proposals.prompts).

English words that say nothing about a subject; other languages' get little weight by being common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import regex

from lorestudio.domain.javascript import head, length, trim
from lorestudio.domain.json_text import spell
from lorestudio.llm.messages import DRAFT, KEYS, SUMMARY, ChatRequest

_WORDS: Final = """
    a about after again all also am an and any are as at away back be because been before being but by came can
    come could did do does don't down even ever every for from get go goes got had has have he her here hers him
    his how i if i'll i'm in into is it its it's just know let like look looked looks made make may me might
    more most much must my never no nor not now of off oh old on once one only or other our out over own right
    said say says see seem she should so some still such take than that that's the their them then there these
    they thing this those though through to too toward two under until up upon us very want was way we well went
    were what when where which while who whom whose why will with without would yes yet you your yours
"""
COMMON_WORDS: Final = frozenset(_WORDS.split())


WRITTEN: Final = "Written by rules on this computer, not by a model: it knows words and nothing of their meaning."

SUMMARY_LENGTH: Final = 600
MOST_KEYS: Final = 10
DRAFT_KEYS: Final = 5
DRAFT_SENTENCES: Final = 12
SHORTEST_KEY: Final = 3

_PART = regex.compile(r"^<(note|note_text|existing_titles|passage)>\n(.*?)\n</\1>$", regex.MULTILINE | regex.DOTALL)
_SENTENCE_END = regex.compile(r"(?<=[.!?…][\"'”’»)\]]*)\s+|\n+|(?<=[。！？])")
_SPEAKER = regex.compile(r"^([^\n]*?) \((?:user|character)\): ", regex.MULTILINE)
# One or more capitalised words, held together by a space or by a small word as in "Order of the Ninth Bell".
_WORD = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{M}]+)*"
_NAME = regex.compile(rf"{_WORD}(?: (?:(?:of|the|von|van|de|del|della|la|le|du|der|den) ){{0,2}}{_WORD})*")
_LETTER = regex.compile(r"[\p{L}\p{N}]")
_MARKS = regex.compile(r"^\s*(?:#+|[-*+]|\d+\.|>+)\s+|[*_`]{1,3}", regex.MULTILINE)


def write_summary(request: ChatRequest) -> str:
    """The first sentences of the note, as many as fit."""
    return first_sentences(_parts(request.user).get("note_text", ""), SUMMARY_LENGTH)


def suggest_keys(request: ChatRequest) -> str:
    """Title, other names, the keys of now, then the names in the note by how often they occur; as JSON object."""
    parts = _parts(request.user)
    fields = _fields(parts.get("note", ""))
    named = [name for name, _ in names_in(parts.get("note_text", "")).most_common()]
    own = [fields.get("Title", ""), *_listed(fields.get("Aliases", "")), *_listed(fields.get("Keys", ""))]
    keys = _distinct([*own, *named])[:MOST_KEYS]
    reasoning = "Title, other names and the keys of now, then the names in the note, those that occur most first."
    return spell({"suggested": keys, "reasoning": reasoning})


def write_draft(request: ChatRequest) -> str:
    """A note about the name that is spoken of most and has no note yet, of the sentences that hold it."""
    parts = _parts(request.user)
    passage = parts.get("passage", "")
    said = _SPEAKER.sub("", passage)
    taken = [*parts.get("existing_titles", "").split("\n"), *_SPEAKER.findall(passage)]
    names = [name for name, _ in names_in(said).most_common()]
    known = "\n".join(taken).casefold()
    titles = [name for name in names if not _speaks_of(name.casefold(), known)]
    if not titles:
        return spell({"title": "", "keys": [], "summary": "", "content": ""})
    title = titles[0]
    sentences = [sentence for sentence in sentences_of(said) if _speaks_of(title, sentence)][:DRAFT_SENTENCES]
    content = " ".join(sentences)
    return spell(
        {
            "title": title,
            "keys": _distinct([title, *(name for name in names if any(_speaks_of(name, item) for item in sentences))])[
                :DRAFT_KEYS
            ],
            "summary": first_sentences(content, SUMMARY_LENGTH),
            "content": content,
        }
    )


WRITERS: Final[Mapping[str, Callable[[ChatRequest], str]]] = {
    SUMMARY: write_summary,
    KEYS: suggest_keys,
    DRAFT: write_draft,
}
"""By kind of request; each gives the text of the reply."""


def _parts(user: str) -> dict[str, str]:
    return {found[1]: found[2] for found in _PART.finditer(user)}


def _fields(text: str) -> dict[str, str]:
    lines = (line.partition(": ") for line in text.split("\n"))
    return {name: value for name, _, value in lines}


def _listed(text: str) -> list[str]:
    return [trim(item) for item in text.split(", ")]


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, without its marks."""
    plain = _MARKS.sub("", text)
    return (sentence for piece in _SENTENCE_END.split(plain) if piece and (sentence := trim(piece)))


def first_sentences(text: str, limit: int) -> str:
    """As many whole sentences as fit into `limit` code units; of a first one that does not fit, whole words."""
    found = ""
    for sentence in sentences_of(text):
        longer = f"{found} {sentence}" if found else sentence
        if length(longer) > limit:
            break
        found = longer
    if found or not trim(text):
        return found
    beginning = head(next(sentences_of(text), ""), limit)
    return beginning.rpartition(" ")[0] or beginning


def names_in(text: str) -> Counter[str]:
    """How often each name is spoken of; what is capitalised only because a sentence begins with it is none.

    A longer name that holds a shorter one counts for both, so that "Old Tam of the Ferry" speaks of "Old Tam" too.
    """
    counts: Counter[str] = Counter()
    opening: list[str] = []
    for sentence in sentences_of(text):
        for found in _NAME.finditer(sentence):
            name = regex.sub("['’]s$", "", found[0])
            if all(word.casefold() in COMMON_WORDS for word in name.split(" ")):
                continue
            if _LETTER.search(sentence, 0, found.start()):
                counts[name] += 1
            else:
                opening.append(name)
    known = set(counts)
    for name in opening:
        counted = name
        first, _, rest = name.partition(" ")
        if rest and (rest in known or (first.casefold() in COMMON_WORDS and not _begins_with_any(name, known))):
            counted = rest  # the first word only begins the sentence, as in "Ask Old Tam"
        if " " in counted or counted in known:
            counts[counted] += 1
    return Counter(
        {
            name: sum(count for other, count in counts.items() if f" {name} " in f" {other} ")
            for name in counts
            if length(name) >= SHORTEST_KEY
        }
    )


def _begins_with_any(name: str, known: set[str]) -> bool:
    return any(f"{name} ".startswith(f"{other} ") for other in known)


def _speaks_of(name: str, sentence: str) -> bool:
    return regex.search(rf"(?<!\w){regex.escape(name)}(?!\w)", sentence) is not None


def _distinct(names: list[str]) -> list[str]:
    """Without blanks and without what differs from an earlier one in case alone."""
    found: dict[str, str] = {}
    for name in names:
        if trim(name):
            found.setdefault(name.casefold(), name)
    return list(found.values())
