"""Tokenizers from files: rank tables, sentencepiece models and Hugging Face's JSON, read, checked and counted with.

Counts are kept by the counter's identity and the text's digest, in memory and in one file on disk. Nothing here reaches
for the network but `fetch`, which somebody has to ask for.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import os
import re
import sqlite3
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import regex
from msgspec import Struct

from lorestudio.domain.records import Terse
from lorestudio.domain.resources import OWN_FOLDERS, resource
from lorestudio.domain.sqlite_file import connect, delete, is_damage, transaction
from lorestudio.domain.tokens import BYTES_3_35, CHARS_4, GrowingText, ScriptEstimate, TokenCounter
from lorestudio.settings.files import read_whole, unpacked, write_atomically

MOST: Final = 200_000
"""So many counts of one counter are held in memory."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""A larger file is begun anew."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS counts (counter BLOB NOT NULL, text BLOB NOT NULL, tokens INTEGER NOT NULL,
                                   PRIMARY KEY (counter, text)) WITHOUT ROWID
"""


def text_key(text: str) -> bytes:
    """The digest of a text, 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def default_path() -> Path:
    """The file where nothing else is said."""
    return OWN_FOLDERS.user_cache_path / "tokens.sqlite"


class KnownCounts:
    """What one counter has counted. Every thread may use it; a count that is lost is counted again."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self._counts: dict[bytes, int] = {}
        self._new: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def get(self, key: bytes) -> int | None:
        """The count of the text with this digest, None where it is not known."""
        return self._counts.get(key)

    def put(self, key: bytes, tokens: int) -> int:
        """Keep a count, and give it back."""
        with self._lock:
            if len(self._counts) >= MOST:
                for old in list(self._counts)[: MOST // 4]:
                    del self._counts[old]
            self._counts[key] = self._new[key] = tokens
        return tokens

    @property
    def _counter(self) -> bytes:
        return hashlib.blake2b(self.identity.encode(), digest_size=16).digest()

    def load(self, path: Path | None = None) -> None:
        """Take in what is on the disk. A file that cannot be used is as good as none."""
        place = path or default_path()
        if not place.exists():
            return
        try:
            with closing(_opened(place)) as connection:
                rows = connection.execute(
                    "SELECT text, tokens FROM counts WHERE counter = ? LIMIT ?", (self._counter, MOST)
                ).fetchall()
        except (sqlite3.Error, OSError):
            return
        with self._lock:
            self._counts = dict(rows) | self._counts

    def keep(self, path: Path | None = None) -> None:
        """Write what is new. Where that fails nothing is lost but time."""
        with self._lock:
            rows, self._new = list(self._new.items()), {}
        if not rows:
            return
        place = path or default_path()
        try:
            if place.exists() and place.stat().st_size > MOST_BYTES:
                delete(place)
            with closing(_opened(place)) as connection, transaction(connection):
                name = self._counter
                connection.executemany(
                    "INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", ((name, key, tokens) for key, tokens in rows)
                )
        except (sqlite3.Error, OSError) as error:
            if is_damage(error):
                delete(place)


def _opened(path: Path) -> sqlite3.Connection:
    return connect(path, lambda connection: connection.execute(_SCHEMA))


if TYPE_CHECKING:
    import httpx

# Libraries are loaded where a file needs them: most commands begin without.

RULES: Final = 1
"""Version of the rules by which a tokenizer's pieces become a count; part of every counter's identity."""

_GPT2: Final = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_CL100K: Final = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
_FASTER: Final = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": _GPT2,
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+": _CL100K,
}
"""Patterns as they were first published, and the same rules as they are written today."""

_O200K: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_END: Final = "<|endoftext|>"
_PROMPT_END: Final = "<|endofprompt|>"
_FIM: Final = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")


class _Ranks(Struct, frozen=True):
    """A public rank table: its name, its file's SHA-256, how it cuts, and the texts that it refuses."""

    name: str
    sha256: str
    pattern: str
    special: tuple[str, ...]


_TABLES: Final = (
    _Ranks("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", _CL100K,
           (_END, *_FIM, _PROMPT_END)),
    _Ranks("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", _O200K,
           (_END, _PROMPT_END)),
    _Ranks("p50k_base", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", _GPT2, (_END,)),
    _Ranks("r50k_base", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", _GPT2, (_END,)),
)  # fmt: skip
_ADDRESS: Final = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"

LONG_BLANKS: Final = 10_000
"""A longer run of blanks is cut by an engine that needs no stack for it, as tiktoken's own does and then gives up."""

MOST_SEEN: Final = 20_000
"""So many texts are found again without their digests: those of a vault in use, which are in memory anyway."""

_BLANKS: Final = re.compile(rf"\s{{{LONG_BLANKS}}}")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_OF_ALL_KINDS: Final = "".join(map(chr, range(0x20, 0x7F))) + "\n\té漢"
"""A text by which a pattern is tried before it is used."""
_CONTRACTED: Final = regex.compile(r"\p{L}'(?:s|t|re|ve|m|ll|d)")
_ON_A_MARK: Final = regex.compile(r"[^\s\p{L}\p{N}'][\p{L}\r\n]")
_CUT: Final = re.compile(r"(?<=\S) (?=[A-Za-z])")


class TokenizerError(Exception):
    """A tokenizer cannot be used: which file or name, why, and what to do, in one sentence or two."""


class CountingWay(StrEnum):
    """How a text becomes a count (rules: tokens 1)."""

    MODEL = "model"
    """As the model bills it: the pieces of the text alone."""
    PLAIN = "plain"
    """As SillyTavern counts it for text completion."""
    CHAT = "chat"
    """As SillyTavern counts it for chat completion: as one message of the system's."""


class TokenizerKind(StrEnum):
    """What kind of file it is, which decides how SillyTavern wraps a text."""

    RANKS = "tiktoken"
    PIECES = "sentencepiece"
    JSON = "tokenizer.json"


_BEFORE: Final = {TokenizerKind.PIECES: "system\n\n", TokenizerKind.JSON: "\n\nHuman: "}


class Tokenizer(Terse, frozen=True):
    """A tokenizer that was read from a file; `digest` is the file's SHA-256.

    `special` are texts that SillyTavern's own rank tables refuse. With `cuts` the pieces of a text stay the same when
    it is cut before a word, the blank before that word gone where `drops_blank`.
    """

    unprinted = ("pieces",)

    name: str
    kind: TokenizerKind
    digest: str
    pieces: Callable[[str], int]
    special: tuple[str, ...] = ()
    cuts: bool = False
    drops_blank: bool = False

    def tokens(self, text: str) -> int:
        """Tokens of a text; a lone half of a surrogate pair counts as the character that stands for one."""
        return self.pieces(text if text.isascii() else _SURROGATES.sub("\ufffd", text)) if text else 0

    def refuses(self, text: str) -> bool:
        """Whether SillyTavern's server cannot count the text, because it holds a special token's text."""
        return any(map(text.__contains__, self.special))


class TokenizerCounter:
    """Counts with a tokenizer in one of the three ways; counts are kept by the text's digest. For every thread."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        way: CountingWay = CountingWay.MODEL,
        *,
        exact: bool = True,
        message: int = 3,
        extra: int = 0,
    ) -> None:
        """`message` and `extra`: what a message costs beside its texts, where a rank table counts one."""
        self.tokenizer, self.way, self.exact = tokenizer, way, exact
        self.name = tokenizer.name if way is CountingWay.MODEL else f"{tokenizer.name} ({way} completion)"
        self._overhead, self._before = 0, ""
        self._seen: dict[str, int] = {}
        if way is CountingWay.CHAT:
            self._before = _BEFORE.get(tokenizer.kind, "")
            ranks = tokenizer.kind is TokenizerKind.RANKS
            self._overhead = message + tokenizer.tokens("system") + 3 + extra - 1 if ranks else -1
        # Tables that cost something for each message beside the text share what the text itself counts.
        refusing = "refusing" if way is not CountingWay.MODEL and tokenizer.special else ""
        self.known = KnownCounts(f"{tokenizer.kind} {tokenizer.digest} {RULES} {refusing}{self._before!r}")
        self.identity = f"{self.known.identity} {self._overhead}"

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for the empty one."""
        if not text:
            return 0
        found = self._seen.get(text)
        if found is None:
            key = text_key(text)
            found = self.known.get(key)
            if found is None:
                found = self.known.put(key, self._counted(text))
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen[text] = found
        return max(0, found + self._overhead)

    def _counted(self, text: str) -> int:
        refused = self.way is not CountingWay.MODEL and self.tokenizer.refuses(text)
        return 0 if refused else self.tokenizer.tokens(self._before + text)

    def growing(self) -> GrowingText:
        """A text of which only what may still change is counted again, where the tokenizer cuts before words."""
        return _Growing(self, self._before, self._overhead)


class _Growing:
    """The tokens of what is settled, and the open end."""

    def __init__(self, counter: TokenizerCounter, before: str, overhead: int) -> None:
        self._counter, self._overhead = counter, overhead
        self._settled, self._open, self._empty, self._refused = 0, before, True, False
        self._last = ""
        longest = max(map(len, counter.tokenizer.special), default=0)
        self._look_back = max(0, longest - 1) if counter.way is not CountingWay.MODEL else -1

    def _refuses(self, more: str) -> bool:
        return self._refused or (self._look_back >= 0 and self._counter.tokenizer.refuses(self._last + more))

    def anew(self) -> GrowingText:
        return self._counter.growing()

    def add(self, more: str) -> int:
        if self._empty and not more:
            return 0
        self._refused, self._empty = self._refuses(more), False
        self._last = (self._last + more)[-self._look_back :] if self._look_back > 0 else ""
        self._open += more
        tokenizer = self._counter.tokenizer
        found = 0 if self._refused else self._settled + tokenizer.tokens(self._open)
        if tokenizer.cuts and len(self._open) >= 200:
            cut = max((match.start() for match in _CUT.finditer(self._open)), default=0)
            if cut:
                self._settled += tokenizer.tokens(self._open[:cut])
                self._open = self._open[cut + tokenizer.drops_blank :]
        return max(0, found + self._overhead)


# ---- reading files --------------------------------------------------------------------------------------------------


def read_tokenizer(path: Path, name: str = "") -> Tokenizer:
    """The tokenizer in a file of any of the kinds, checked. Raises TokenizerError; reading takes up to 0.3 s."""
    try:
        data = read_whole(path.expanduser())
    except OSError as error:
        raise TokenizerError(f"{path}: the tokenizer cannot be read ({error.strerror or error}).") from error
    return _read(data, path, name or path.stem)


@lru_cache(maxsize=16)
def _read(data: bytes, path: Path, name: str) -> Tokenizer:
    digest = hashlib.sha256(data).hexdigest()
    if not data.strip():
        raise _damaged(path, "it is empty")
    try:
        data = unpacked(data)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, str(error)) from error
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] == b"{":
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _damaged(path, str(error)) from error
        if "bpe_ranks" in document:
            return _encoder_file(document, path, name)
        return _json_file(data, document, path, name, digest)
    if path.suffix == ".json":
        raise _damaged(path, "it holds no JSON object")
    if path.suffix == ".model" or not (head[:1].isalnum() or path.suffix == ".tiktoken"):
        return _model_file(data, path, name, digest)
    return _rank_file(data, path, name)


def _damaged(path: Path, reason: str) -> TokenizerError:
    reason = reason.strip().splitlines()[0][:200] if reason.strip() else "unknown reason"
    return TokenizerError(f"{path} is no tokenizer that can be used here ({reason}). Choose another file.")


def _guarded(work: Callable[[], Any], path: Path) -> Any:  # noqa: ANN401 - the libraries' own objects
    """What the library makes; its panics, which are no Exceptions, become messages too."""
    try:
        return work()
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise _damaged(path, str(error)) from error


def _rank_file(data: bytes, path: Path, name: str) -> Tokenizer:
    """Lines of base64, a blank and the rank."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            piece = base64.b64decode(token, validate=True)
            if ranks.setdefault(piece, int(rank)) != int(rank):
                raise _damaged(path, f"line {number} gives a token a second rank")
        except ValueError as error:
            raise _damaged(path, f"line {number} is not a token and its rank") from error
    digest = hashlib.sha256(data).hexdigest()
    table = next((each for each in _TABLES if each.sha256 == digest), None)
    if table is None:
        table = _Ranks(name, digest, *_way_of(ranks))
    return _of_ranks(ranks, table, path, name, digest)


def _way_of(ranks: Iterable[bytes]) -> tuple[str, tuple[str, ...]]:
    """How a table cuts and what it refuses, which a file of ranks does not say, by the tokens that it could make.

    Only the newest way joins a word and its 's, and GPT-2's joins neither letters nor line ends to a mark before them.
    """
    tokens = [token.decode("utf-8", "replace") for token in ranks]
    if any(_CONTRACTED.search(token) for token in tokens):
        return _O200K, (_END, _PROMPT_END)
    if any(_ON_A_MARK.search(token) for token in tokens):
        return _CL100K, (_END, _PROMPT_END)
    return _GPT2, (_END,)


def _encoder_file(document: dict[str, Any], path: Path, name: str) -> Tokenizer:
    """A table of SillyTavern's tiktoken module: pattern, special tokens, and runs of tokens from a first rank on."""
    ranks: dict[bytes, int] = {}
    try:
        for line in document["bpe_ranks"].split("\n"):
            if line.strip():
                _, first, *tokens = line.split()
                ranks.update((base64.b64decode(token), int(first) + at) for at, token in enumerate(tokens))
        pattern, special = str(document["pat_str"]), tuple(map(str, document["special_tokens"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path, f"the rank table cannot be read: {error}") from error
    # Written as a rank file, the public tables have the very digests that they are published with.
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    written = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ordered)
    digest = hashlib.sha256(written).hexdigest()
    table = _Ranks(name, digest, _FASTER.get(pattern, pattern), special)
    return _of_ranks(ranks, table, path, name, digest)


def _of_ranks(ranks: dict[bytes, int], table: _Ranks, path: Path, name: str, digest: str) -> Tokenizer:
    lacking = sum(bytes([byte]) not in ranks for byte in range(256))
    if lacking or len(set(ranks.values())) != len(ranks):
        raise _damaged(path, f"{lacking} single bytes are missing" if lacking else "two tokens have one rank")
    known = {text: max(ranks.values()) + 1 + at for at, text in enumerate(table.special)}
    library = importlib.import_module("tiktoken")
    encoding = _guarded(
        lambda: library.Encoding(name, pat_str=table.pattern, mergeable_ranks=ranks, special_tokens=known), path
    )
    identity = digest if table.pattern in (_CL100K, _O200K, _GPT2) else f"{digest} {table.pattern}"

    def counted(text: str) -> int:
        if len(text) >= LONG_BLANKS and _BLANKS.search(text):
            count = encoding._encode_single_piece  # noqa: SLF001  # its own engine has no stack for such a text
            return sum(len(count(piece.group())) for piece in regex.finditer(table.pattern, text))
        return len(encoding.encode_ordinary(text))

    def pieces(text: str) -> int:
        return int(_guarded(lambda: counted(text), path))  # a pattern that finds an empty piece ends in a panic

    pieces(_OF_ALL_KINDS)
    # A piece never goes on over a blank before a word: so with all patterns in the manner of GPT-2's.
    cuts = r"\s+(?!\S)" in table.pattern
    return Tokenizer(name, TokenizerKind.RANKS, identity, pieces, table.special, cuts=cuts)


def _model_file(data: bytes, path: Path, name: str, digest: str) -> Tokenizer:
    try:
        model = importlib.import_module("sentencepiece").SentencePieceProcessor(model_proto=data)
    except RuntimeError as error:
        raise _damaged(path, "it is no sentencepiece model, or not a whole one") from error
    size = model.get_piece_size()
    if not size:
        raise _damaged(path, "it holds no pieces")
    crossing = any("▁" in model.id_to_piece(number).lstrip("▁") for number in range(size))
    dummy = model.encode("a b", out_type=str)[0].startswith("▁")
    return Tokenizer(
        name, TokenizerKind.PIECES, digest, lambda text: len(model.encode(text)), cuts=dummy and not crossing,
        drops_blank=True,
    )  # fmt: skip


def _json_file(data: bytes, document: dict[str, Any], path: Path, name: str, digest: str) -> Tokenizer:
    try:
        library = importlib.import_module("tokenizers")
    except ImportError as error:
        message = f"{path}: this kind of file needs the package “tokenizers”. Run: pip install 'lorestudio[tokenizers]'"
        raise TokenizerError(message) from error
    tokenizer = _guarded(lambda: library.Tokenizer.from_str(data.decode("utf-8-sig")), path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Tokenizer(
        name,
        TokenizerKind.JSON,
        digest,
        lambda text: len(tokenizer.encode(text, add_special_tokens=False)),
        cuts=_json_cuts(document),
    )


def _json_cuts(document: dict[str, Any]) -> bool:
    """Whether the file cuts at blanks before anything else, and no added token reaches over one."""
    wide = any(
        " " in str(token.get("content")) or token.get("lstrip") or token.get("rstrip")
        for token in document.get("added_tokens") or ()
    )
    before = document.get("pre_tokenizer") or {}
    steps = before.get("pretokenizers") or [before]
    byte_level = any(step.get("type") == "ByteLevel" and step.get("use_regex", True) for step in steps)
    return not wide and (byte_level or r"\\s+(?!\\S)" in json.dumps(steps))


# ---- finding files --------------------------------------------------------------------------------------------------


class NamedTokenizer(Struct, frozen=True):
    """A tokenizer that SillyTavern knows: its file in SillyTavern's folder, and what it falls back to without it.

    `weights` names the estimate that comes nearest where no file is there.
    """

    name: str
    title: str
    file: str
    weights: str
    fallback: str = ""

    @property
    def kind(self) -> TokenizerKind:
        """What kind of file it is."""
        if self.file.endswith(".model"):
            return TokenizerKind.PIECES
        return TokenizerKind.RANKS if "encoders" in self.file else TokenizerKind.JSON

    @property
    def table(self) -> str:
        """The public rank table with the same tokens, its own name for all others."""
        return {"gpt2": "r50k_base", "p50k_edit": "p50k_base"}.get(self.name, self.name)


def _named() -> Iterator[NamedTokenizer]:
    for name, title in (("cl100k_base", "GPT-4, GPT-3.5"), ("o200k_base", "GPT-4o, GPT-5, o-series"),
                        ("p50k_base", "text-davinci-003"), ("p50k_edit", "edit models"),
                        ("r50k_base", "GPT-3"), ("gpt2", "GPT-2")):  # fmt: skip
        weights = "o200k" if name == "o200k_base" else "cl100k"
        yield NamedTokenizer(name, title, f"node_modules/tiktoken/encoders/{name}.json", weights)
    for name, title, weights in (
        ("llama", "Llama 1/2", "llama2"), ("nerdstash", "NerdStash (Clio)", "nerd2"), ("yi", "Yi", "yi"),
        ("nerdstash_v2", "NerdStash v2 (Kayra)", "nerd2"), ("mistral", "Mistral V1", "mistral1"),
        ("gemma", "Gemma / Gemini", "o200k"), ("jamba", "Jamba", "jamba"),
    ):  # fmt: skip
        yield NamedTokenizer(name, title, f"src/tokenizers/{name}.model", weights)
    yield NamedTokenizer("claude", "Claude 1/2", "src/tokenizers/claude.json", "claude")
    yield NamedTokenizer("llama3", "Llama 3", "src/tokenizers/llama3.json", "cl100k")
    for name, title in (("qwen2", "Qwen2"), ("command-r", "Command-R"), ("command-a", "Command-A"),
                        ("nemo", "Mistral Nemo"), ("deepseek", "DeepSeek V3")):  # fmt: skip
        yield NamedTokenizer(name, title, f"data/_cache/{name}.json", "cl100k", "llama3")


NAMED: Final = {each.name: each for each in _named()}
_SHORT: Final = {"cl100k": "cl100k_base", "o200k": "o200k_base", "p50k": "p50k_base", "r50k": "r50k_base",
                 "llama2": "llama", "nerd": "nerdstash", "nerd2": "nerdstash_v2"}  # fmt: skip

ESTIMATES: Final[dict[str, TokenCounter]] = {each.name: each for each in (CHARS_4, BYTES_3_35)}
"""The estimates that can be asked for by name, beside those by script."""


def named_tokenizer(name: str) -> NamedTokenizer:
    """The tokenizer of that name. Raises TokenizerError."""
    found = NAMED.get(_SHORT.get(name, name))
    if found is None:
        known = ", ".join((*NAMED, *ESTIMATES, "estimate"))
        raise TokenizerError(f"There is no tokenizer “{name}”, and no file of that name. There are: {known}.")
    return found


def is_published(named: NamedTokenizer, tokenizer: Tokenizer) -> bool:
    """Whether the file is the published one, as far as its digest is known here."""
    table = next((each for each in _TABLES if each.name == named.table), None)
    return table is None or tokenizer.digest == table.sha256


def own_folder() -> Path:
    """Where files lie that were fetched or put there by hand."""
    return OWN_FOLDERS.user_data_path / "tokenizers"


def find_file(named: NamedTokenizer, folders: Sequence[Path] = ()) -> Path | None:
    """The file of a tokenizer in SillyTavern's folders, else among our own, else in tiktoken's cache."""
    places = [folder / named.file for folder in folders]
    places += [folder / "_cache" / Path(named.file).name for folder in folders if "_cache" in named.file]
    places += [own_folder() / name for name in (Path(named.file).name, f"{named.table}.tiktoken")]
    table = next((each for each in _TABLES if each.name == named.table), None)
    if table is not None:
        places += _cached(table)
    return next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113  # False for a disk that is away


def _cached(table: _Ranks) -> list[Path]:
    """The file in tiktoken's own cache, where it is whole."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    root = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    name = hashlib.sha1(_ADDRESS.format(table.name).encode(), usedforsecurity=False).hexdigest()
    place = root / name
    try:
        whole = hashlib.sha256(read_whole(place)).hexdigest() == table.sha256
    except OSError:  # it is not here, or cannot be reached
        return []
    return [place] if whole else []


def fetch(name: str, transport: httpx.BaseTransport | None = None) -> Path:
    """Fetch a public rank table into our own folder, and check it. Raises TokenizerError. Asks the network."""
    table = next((each for each in _TABLES if each.name == _SHORT.get(name, name)), None)
    if table is None:
        names = ", ".join(each.name for each in _TABLES)
        raise TokenizerError(
            f"“{name}” is not published by itself; its file comes with SillyTavern. There are: {names}."
        )
    from httpx import Client, HTTPError  # noqa: PLC0415  # nothing else here asks the network

    address = _ADDRESS.format(table.name)
    try:
        with Client(transport=transport, timeout=60, follow_redirects=True) as client:
            data = client.get(address).raise_for_status().content
    except HTTPError as error:
        raise TokenizerError(f"{address} cannot be fetched ({error}). Try again later.") from error
    if hashlib.sha256(data).hexdigest() != table.sha256:
        raise TokenizerError(f"{address} gave another file than the published one. Nothing was kept; try again later.")
    place = own_folder() / f"{table.name}.tiktoken"
    write_atomically(place, data)
    return place


# ---- estimates ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _weights() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(resource("tokens", "script-weights.json").read_text("utf-8"))
    return found


def estimate_of(weights: str, factor: float = 1.0) -> ScriptEstimate:
    """The estimate by script for a tokenizer whose file is not there (rules: tokens 4)."""
    return ScriptEstimate(f"estimate for {weights}", _weights()[weights], factor)


def calibrated(counter: ScriptEstimate, known: Sequence[tuple[str, int]]) -> tuple[ScriptEstimate, float]:
    """The estimate with the factor that known counts show, and the median error of the single ones, as a share."""
    pairs = [(estimated, tokens) for text, tokens in known if tokens > 0 and (estimated := counter.count(text)) > 0]
    if not pairs:
        return counter, 0.0
    factor = counter.factor * sum(tokens for _, tokens in pairs) / sum(estimated for estimated, _ in pairs)
    made = ScriptEstimate(counter.name, counter.weights, factor)
    errors = sorted(abs(estimated * factor / counter.factor / tokens - 1) for estimated, tokens in pairs)
    return made, errors[len(errors) // 2]
