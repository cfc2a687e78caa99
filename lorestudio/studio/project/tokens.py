"""How a project counts: as SillyTavern does, which decides budgets, and as the model bills, for sizes and costs.

What is said of a tokenizer (`--tokenizer`, the window) is "" for what SillyTavern's settings say, the name of a
tokenizer or an estimate, a tokenizer's file, SillyTavern's settings or a preset of it, or `profile:NAME` for one of its
connection profiles. `chat:` or `plain:` before it says over which way SillyTavern counts.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from lorestudio.domain.chat import Chat
from lorestudio.domain.json_text import parse_json
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.tokens import BYTES_3_35, CHARS_4, ScriptEstimate, TokenCounter
from lorestudio.exchange.tokenizer_choice import (
    TokenizerChoice,
    has_choice,
    tokenizer_choice,
    with_preset,
    with_profile,
)
from lorestudio.llm.tokenizers import (
    ESTIMATES,
    NAMED,
    CountingWay,
    NamedTokenizer,
    Tokenizer,
    TokenizerCounter,
    TokenizerError,
    calibrated,
    estimate_of,
    fetch,
    find_file,
    is_published,
    named_tokenizer,
    own_folder,
    read_tokenizer,
)
from lorestudio.settings.files import read_whole

_NOT_LATIN: Final = {"cyr": 0.5, "han": 1.1, "kana": 0.95, "hangul": 1.2, "arab": 0.85, "indic": 0.97}
BY_SCRIPT: Final = ScriptEstimate(
    "estimate by script",
    {"space": 0.25, "ascii_l": 0.25, "ascii_d": 0.25, "ascii_p": 0.25, "latin": 1.0, "other": 0.5} | _NOT_LATIN,
)
"""What counts where nobody knows the tokenizer: four characters a token in ASCII, others by their script."""

__all__ = [
    "BY_SCRIPT", "ESTIMATE", "NamedTokenizer", "TokenCounting", "TokenizerError", "counting_for", "fetch",
    "tokenizer_files",
]  # fmt: skip

ESTIMATE: Final = "estimate"
PROFILE: Final = "profile:"
_COMPARED: Final = 500
"""So many counts that SillyTavern stored, the newest, are compared."""

_ALIKE: Final = 0.02
"""An estimate that is off by less than this share on the whole stays as it is."""

_FOR: Final = "estimate for "
_SCRIPT: Final = "script"
_MODEL_OWN: Final = ("gpt-4", "gpt-3.5", "gpt-5", "o1", "o3", "o4", "chatgpt")
"""Models whose own tokenizer is published, so that what it counts is what they bill."""


class TokenCounting(Terse, frozen=True):
    """Two counters and what they rest on: `budgets` counts as SillyTavern does, `bills` as the model.

    `asked` is what the person said, `sentence` how it is counted, `problems` what they should know or do. `agreement`
    says how many of the chat's own counts come out the same, where the chat has any. `for_claude`: SillyTavern's
    settings say that one of Claude's models writes.
    """

    unprinted = ("folders",)

    budgets: TokenCounter = CHARS_4
    bills: TokenCounter = CHARS_4
    asked: str = ""
    sentence: str = "Counted as a quarter of the characters."
    problems: tuple[str, ...] = ()
    agreement: str = ""
    for_claude: bool = False
    folders: tuple[Path, ...] = ()

    def keep(self) -> None:
        """Write the counts that are new to the disk."""
        for counter in (self.budgets, self.bills):
            if isinstance(counter, TokenizerCounter):
                counter.known.keep()


def counting_for(asked: str = "", near: Sequence[Path | None] = (), chat: Chat | None = None) -> TokenCounting:
    """The counters of a project; `near` are its files, from which SillyTavern's folder is found.

    Raises TokenizerError where what was asked for cannot be used.
    """
    folders = sillytavern_folders(near)
    settings = _settings_near(near)
    way, _, named = asked.partition(":") if asked.startswith(("chat:", "plain:")) else ("", "", asked)
    given = _document(Path(named).expanduser()) if named else None
    if given is not None:
        settings = dict(given) if has_choice(given) else with_preset(settings or {"main_api": "openai"}, given)
        named = ""
    elif named.startswith(PROFILE):
        settings, named = _of_profile(settings, named.removeprefix(PROFILE)), ""
    choice = tokenizer_choice(settings) if settings is not None else None
    if named:
        is_chat = way == "chat" or (way == "" and choice is not None and choice.is_chat)
        made = _asked(named, CountingWay.CHAT if is_chat else CountingWay.PLAIN, folders)
    elif choice is not None:
        made = _chosen(choice, folders)
    else:
        made = TokenCounting(
            BY_SCRIPT, BY_SCRIPT, sentence="No tokenizer is known: estimated by script, English within about 25 % a "
            "note, other scripts within about 30 %. Choose one, or give SillyTavern's settings.",
        )  # fmt: skip
    for_claude = choice is not None and choice.is_claude
    return _checked(replace(made, asked=asked, folders=folders, for_claude=for_claude), chat)


def tokenizer_files(folders: Sequence[Path] = ()) -> Iterator[tuple[NamedTokenizer, Path | None]]:
    """The tokenizers that can be named, and their files, None for one that is not here."""
    for each in NAMED.values():
        yield each, find_file(each, folders)


def sillytavern_folders(near: Sequence[Path | None]) -> tuple[Path, ...]:
    """The folders of SillyTavern above these files, and those with its downloaded tokenizers."""
    found: dict[Path, None] = {}
    for path in near:
        for folder in path.expanduser().absolute().parents if path is not None else ():
            parts = (folder / part for part in ("src/tokenizers", "node_modules/tiktoken", "_cache"))
            if any(os.path.isdir(part) for part in parts):  # noqa: PTH112  # False for a disk that is away
                found[folder] = None
    return tuple(found)


def _settings_near(near: Sequence[Path | None]) -> dict[str, Any] | None:
    """SillyTavern's settings: one of the files itself, else `settings.json` of the user whose chat it is."""
    for path in near:
        if path is None:
            continue
        places = [path, *(folder / "settings.json" for folder in path.expanduser().absolute().parents[:4])]
        for place in places:
            document = _document(place) if place.name.endswith(".json") else None
            if document is not None and has_choice(document):
                return dict(document)
    return None


def _document(path: Path) -> Mapping[str, Any] | None:
    """The settings or the preset in a file, None where it holds neither."""
    try:
        status = path.stat()
        return _read_document(path, status.st_mtime_ns, status.st_size) if path.suffix == ".json" else None
    except OSError:
        return None


@lru_cache(maxsize=8)
def _read_document(path: Path, _modified: int, _size: int) -> Mapping[str, Any] | None:
    try:
        document: Any = parse_json(read_whole(path).decode("utf-8-sig"))
    except (OSError, ValueError):
        return None
    known = isinstance(document, dict) and (has_choice(document) or "chat_completion_source" in document)
    return document if known else None


def _of_profile(settings: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    if settings is None:
        raise TokenizerError(f"The connection profile “{name}” stands in SillyTavern's settings.json. Give that file.")
    changed = with_profile(settings, name)
    if changed == settings and not _has_profile(settings, name):
        raise TokenizerError(f"SillyTavern's settings have no connection profile “{name}”. Check its name.")
    return changed


def _has_profile(settings: Mapping[str, Any], name: str) -> bool:
    return f'"{name}"' in json.dumps(settings.get("extension_settings", {}), ensure_ascii=False)


def _asked(named: str, way: CountingWay, folders: Sequence[Path]) -> TokenCounting:
    """What a person named: an estimate, a file, or a tokenizer."""
    estimate = BY_SCRIPT if named == ESTIMATE else ESTIMATES.get(named)
    if estimate is not None:
        return TokenCounting(estimate, estimate, sentence=f"Estimated as you chose: {estimate.name}.")
    path = Path(named).expanduser()
    if path.is_file():
        tokenizer = read_tokenizer(path)
        return _counting(tokenizer, way, f"Counted with {path.name}, {_way_words(way, tokenizer)}.", is_models=True)
    if any(mark in named for mark in "/\\"):
        raise TokenizerError(f"{named}: there is no such file. Choose a tokenizer's file, or a name.")
    known = named_tokenizer(named)
    file = find_file(known, folders)
    if file is None:
        return _without_file(known, way)
    tokenizer = read_tokenizer(file, known.name)
    made = _counting(tokenizer, way, f"Counted with {known.name}, {_way_words(way, tokenizer)}.", is_models=True)
    return replace(made, problems=_doubts(known, tokenizer, file))


def _doubts(known: NamedTokenizer, tokenizer: Tokenizer, file: Path) -> tuple[str, ...]:
    if is_published(known, tokenizer):
        return ()
    return (f"{file} is not the published {known.name}: it may be damaged. Fetch it, or install SillyTavern again.",)


def _way_words(way: CountingWay, tokenizer: Tokenizer | None) -> str:
    if way is not CountingWay.CHAT:
        return "the text alone, as SillyTavern does for text completion"
    more = TokenizerCounter(tokenizer, way).count("a") - tokenizer.tokens("a") if tokenizer is not None else 0
    extra = f", {more} tokens more for each note" if more else ""
    return f"as SillyTavern does over chat completion{extra}"


def _counting(
    tokenizer: Tokenizer, way: CountingWay, sentence: str, *, is_models: bool, server: str = ""
) -> TokenCounting:
    message, extra = (4, 9) if server == "gpt-3.5-turbo-0301" else (3, 0)
    budgets = TokenizerCounter(tokenizer, way, message=message, extra=extra)
    bills = TokenizerCounter(tokenizer, CountingWay.MODEL, exact=is_models)
    for counter in (budgets, bills):
        counter.known.load()
    return TokenCounting(budgets, bills, sentence=sentence)


def _without_file(known: NamedTokenizer, way: CountingWay) -> TokenCounting:
    estimate = estimate_of(known.weights)
    told = f"Estimated by script in place of {known.name}, most languages within about 12 %."
    advice = f"No file of {known.name} was found, so tokens are estimated. Give the tokenizer's file, or SillyTavern's "
    advice += f"folder with {known.file}."
    if known.name in ("cl100k_base", "o200k_base", "p50k_base", "r50k_base"):
        advice += f" Or fetch it: lorestudio tokens fetch {known.name}."
    del way  # what a message costs is less than what the estimate is off by
    return TokenCounting(estimate, estimate, sentence=told, problems=(advice,))


def _chosen(choice: TokenizerChoice, folders: Sequence[Path]) -> TokenCounting:
    """What SillyTavern's settings say."""
    way = CountingWay.CHAT if choice.is_chat else CountingWay.PLAIN
    unsure = (f"{choice.open} Choose a tokenizer for this model; that is asked once.",) if choice.open else ()
    name = choice.tokenizer
    model = choice.model or "this connection"
    if not name:
        told = f"SillyTavern asks the backend of {model} itself; here it is estimated by script."
        advice = f"Tokens of {model} are estimated. Give its own tokenizer.json or .model, which counts as the backend "
        advice += "does."
        return TokenCounting(BY_SCRIPT, BY_SCRIPT, sentence=told, problems=(advice, *unsure))
    if name == "guess":
        told = "SillyTavern estimates here: UTF-8 bytes / 3.35. Counted the same."
        return TokenCounting(BYTES_3_35, BY_SCRIPT, sentence=told, problems=unsure)
    known = NAMED[name]
    file, fell_back = find_file(known, folders), ""
    if file is None and known.fallback and folders:
        fell_back = f"SillyTavern would count with {known.name}.json, which is not in its folder; it falls back itself."
        known = NAMED[known.fallback]
        file = find_file(known, folders)
    if file is None:
        made = _without_file(known, way)
        return replace(made, problems=(*made.problems, *unsure))
    tokenizer = read_tokenizer(file, known.name)
    words = _way_words(way, tokenizer).removeprefix("as SillyTavern does ")
    told = f"Counted as SillyTavern does for {model} ({known.name}), {words}."
    is_models = choice.model.startswith(_MODEL_OWN) and known.name in ("cl100k_base", "o200k_base")
    made = _counting(tokenizer, way, told, is_models=is_models, server=choice.server)
    return replace(
        made, problems=tuple(each for each in (fell_back, *_doubts(known, tokenizer, file), *unsure) if each)
    )


def word_of(counter: TokenCounter) -> str:
    """A counter in a word that `counter_by_word` understands, "" where there is none (rules: scenario-format 1)."""
    if isinstance(counter, ScriptEstimate) and (counter.name.startswith(_FOR) or counter.name == BY_SCRIPT.name):
        name = _SCRIPT if counter.name == BY_SCRIPT.name else counter.name.removeprefix(_FOR)
        return f"{ESTIMATE}:{name}*{counter.factor!r}"
    if (
        isinstance(counter, TokenizerCounter)
        and counter.identity == TokenizerCounter(counter.tokenizer, counter.way).identity
    ):
        return f"{counter.way}:{counter.tokenizer.name}@{counter.tokenizer.digest[:16]}"
    return ""


def counter_by_word(word: str) -> TokenCounter:
    """The counter that a scenario names. Raises TokenizerError where there is none, or its file is not here."""
    way, _, rest = word.partition(":")
    if way == ESTIMATE:
        weights, _, factor = rest.partition("*")
        with suppress(KeyError, ValueError):
            share = float(factor)
            if 0 < share < math.inf:
                of_script = ScriptEstimate(BY_SCRIPT.name, BY_SCRIPT.weights, share)
                return of_script if weights == _SCRIPT else estimate_of(weights, share)
        raise TokenizerError(f"“{word}” is no estimate that is known here.")
    name, _, digest = rest.partition("@")
    if way not in set(CountingWay) or not digest:
        raise TokenizerError(f"“{word}” is no way to count that is known here.")
    folder = own_folder()
    places = [find_file(NAMED[name]) if name in NAMED else None, *(sorted(folder.iterdir()) if folder.is_dir() else ())]
    for place in places:
        with suppress(TokenizerError):
            tokenizer = read_tokenizer(place, name) if place is not None and place.is_file() else None
            if tokenizer is not None and tokenizer.digest.startswith(digest):
                return TokenizerCounter(tokenizer, CountingWay(way))
    raise TokenizerError(f"the tokenizer {name} (SHA-256 {digest}…) is not here. Put its file into {folder}.")


# ---- what is known of the chat --------------------------------------------------------------------------------------


def stored_counts(chat: Chat) -> Iterator[tuple[str, int]]:
    """Texts of messages with the count that SillyTavern stored for them (rules: tokens 3)."""
    for message in chat.messages:
        tokens, reasoning = message.extra.get("token_count"), message.extra.get("reasoning")
        if isinstance(tokens, int) and tokens > 0:
            yield (reasoning if isinstance(reasoning, str) else "") + message.text, tokens


def _checked(counting: TokenCounting, chat: Chat | None) -> TokenCounting:
    """Compared with the counts in the chat; an estimate takes from them how far it is off."""
    known = list(stored_counts(chat))[-_COMPARED:] if chat is not None else []
    if not known:
        return counting
    counter = counting.budgets
    if isinstance(counter, ScriptEstimate):
        made, error = calibrated(counter, known)
        if abs(made.factor / counter.factor - 1) < _ALIKE:  # rounding alone makes as much
            made = counter
        how = "It agrees with" if made is counter else "Calibrated by"
        told = f"{counting.sentence} {how} {len(known)} counts in the chat, half of them within {max(error, 0.01):.0%}."
        return replace(counting, budgets=made, sentence=told)
    same = sum(counter.count(text) == tokens for text, tokens in known)
    counting.keep()
    told = f"{same} of {len(known)} counts that SillyTavern stored in this chat come out the same."
    doubt = f"Only {told} Another tokenizer may have counted them: choose it in the status bar, or with --tokenizer."
    return replace(counting, agreement=told, problems=(*counting.problems, *([doubt] if same * 2 < len(known) else ())))
