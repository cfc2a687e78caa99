"""Captures on the disk, and attaching: an endpoint whose captures are kept, with the port and token that it had before.

Only their owner can read them; they are listed, redacted, deleted, pruned by age and size. Each is one file: a line of
JSON that says when and what, and a line with the two bodies, written whole and then renamed. What it never holds is
said in `Exchange`. Beside the captures lies what the endpoint is started with.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import ValidationError, convert, field, to_builtins

from lorestudio.domain.javascript import Json
from lorestudio.domain.json_text import mapping_in, parse_json, spell
from lorestudio.domain.records import Terse, replace
from lorestudio.domain.resources import OWN_FOLDERS
from lorestudio.exchange.problems import InputError
from lorestudio.settings.files import SettingsError, bytes_if_there, json_bytes, write_atomically
from lorestudio.settings.files import parse_json as parse_settings
from lorestudio.settings.sections import dump_section, section_of
from lorestudio.settings.studio import AttachSettings
from lorestudio.studio.attach.endpoint import MAX_REQUEST, Endpoint, new_token, provider_address
from lorestudio.studio.attach.exchange import ENDING_WORDS, Exchange, ExchangeEnd, SentPrompt, read_prompt, read_replies
from lorestudio.trace.wording import plural
from lorestudio.vault.files import epoch_ms

ENDING: Final = ".capture"
_ID: Final = re.compile(r"\d{10,16}-[0-9a-f]{6}")
_WORD: Final = re.compile(r"\w", re.UNICODE)
_DAY_MS: Final = 86_400_000
_LONGEST_HEAD: Final = 1024 * 1024  # names of headers and the address have 64 KiB, escaped six times as much
_LONGEST_BODIES: Final = 4 * MAX_REQUEST
_LONGEST_RAW: Final = 4_000  # characters of an answer that no text was found in
_LATEST_MS: Final = 250_000_000_000_000  # the calendar ends soon after


def default_folder() -> Path:
    """Where captures and the endpoint's token lie, among the person's data."""
    return OWN_FOLDERS.user_data_path / "attach"


_SPELLED: Final = {
    "started_ms": "started", "finished_ms": "finished", "first_byte_ms": "firstByte", "header_names": "headers",
}  # fmt: skip
"""What fields are called in a file that are not called so there."""


class Capture(Terse, frozen=True, rename=_SPELLED):
    """One request for text and its answer, as kept. Times are in milliseconds since 1970.

    `body` and `answer` are empty where only the list was read. `redacted`: letters and digits of texts are masked.
    """

    unprinted = ("body", "answer")

    id: str
    started_ms: int
    finished_ms: int
    path: str
    query: str = ""
    auxiliary: bool = False
    provider: str = ""
    header_names: tuple[str, ...] = ()
    first_byte_ms: int | None = None
    status: int = 0
    reason: str = ""
    ending: ExchangeEnd = ExchangeEnd.COMPLETE
    problem: str = ""
    redacted: bool = False
    body: str = ""
    answer: str = ""

    @property
    def prompt(self) -> SentPrompt:
        """What was asked. Raises ValueError where the body cannot be read."""
        return read_prompt(self.body)

    @property
    def replies(self) -> tuple[str, ...]:
        """What was answered, one text for each choice."""
        return read_replies(self.answer)


def capture_words(capture: Capture) -> str:
    """What came of it, in a line."""
    seconds = f"{(capture.finished_ms - capture.started_ms) / 1000:.1f} s"
    first = ""
    if capture.first_byte_ms:
        first = f", first byte after {(capture.first_byte_ms - capture.started_ms) / 1000:.1f} s"
    status = f"{f'{capture.status} {capture.reason}'.rstrip()}, " if capture.status >= 400 else ""
    second = "second address, " if capture.auxiliary else ""
    return f"{second}{status}{ENDING_WORDS[capture.ending]}, {seconds}{first}"


def capture_text(capture: Capture) -> str:
    """What went wrong, the messages, and the answers, each under a line that says what it is.

    Of an answer without a text, an error say, it is what came.
    """
    try:
        messages = capture.prompt.messages
    except ValueError as error:
        messages, unread = (), f"The request cannot be read as a prompt ({error})."
    else:
        unread = ""
    problem = f"{capture.problem[:1].upper()}{capture.problem[1:]}." if capture.problem else ""
    parts = [f"--- {place} of {len(messages)}: {each.role}\n{each.text}" for place, each in enumerate(messages, 1)]
    raw = "" if capture.redacted else capture.answer.strip()
    rest = f"{raw[:_LONGEST_RAW]}{'…' * (len(raw) > _LONGEST_RAW)}"
    answers = list(filter(str.strip, capture.replies)) or [rest] * bool(rest)
    return "\n\n".join(filter(None, (problem, unread, *parts, *(f"--- answer\n{text}" for text in answers))))


def capture_of(exchange: Exchange, token: str, provider: str) -> Capture:
    """What is kept of an exchange: no key, no token, no picture (rules: live-capture 3)."""
    answer, why = exchange.kept_answer(token)
    cut = "only the beginning of the answer was kept" if exchange.rest_not_kept else ""
    return Capture(
        f"{exchange.started_ms}-{secrets.token_hex(3)}",
        exchange.started_ms,
        exchange.finished_ms,
        exchange.told(exchange.path, token),
        exchange.kept_query,
        exchange.auxiliary,
        provider,
        tuple(name.decode("latin-1") for name, _ in exchange.headers),
        exchange.first_byte_ms,
        exchange.status,
        exchange.told(exchange.reason, token),
        exchange.ending,
        exchange.told("; ".join(each for each in (exchange.problem, why, cut) if each), token),
        body=exchange.kept_text(exchange.body, token),
        answer=answer,
    )


class Captures:
    """The captures in a folder. One instance serves all threads; every method waits for the disk.

    `problems` are sentences about files that cannot be read.
    """

    def __init__(self, folder: Path, settings: AttachSettings | None = None) -> None:
        self.folder = folder / "captures"
        self.settings = settings or AttachSettings()
        self.problems: dict[str, None] = {}
        self._lock = threading.Lock()
        self._held: int | None = None  # bytes on the disk as far as this instance knows

    def list(self, *, whole: bool = False) -> tuple[Capture, ...]:
        """All that can be read, the newest first; their bodies only with `whole`."""
        found = (self._read(path, whole=whole) for path in sorted(self._paths(), reverse=True))
        return tuple(each for each in found if each is not None)

    def ids(self) -> tuple[str, ...]:
        """The ids of all, also of those that cannot be read."""
        return tuple(path.stem for path in self._paths())

    def read(self, name: str) -> Capture:
        """The capture of that id, or the only one whose id begins so. Raises InputError."""
        path = self.path(name)
        found = self._read(path, whole=True)
        if found is None:
            raise InputError(path, "the capture cannot be read. It can be deleted.")
        return found

    def path(self, name: str) -> Path:
        """The file of that id, or the only one whose id begins so. Raises InputError."""
        paths = [path for path in self._paths() if path.stem == name] or [
            path for path in self._paths() if name and path.stem.startswith(name)
        ]
        if len(paths) != 1:
            what = f"{len(paths)} captures begin with" if paths else "there is no capture"
            raise InputError("ID", f"{what} “{name}”. “lorestudio captures list” shows them.")
        return paths[0]

    def add(self, capture: Capture) -> None:
        """Keep it, and delete what is too old or too much. Raises OSError."""
        with self._lock:
            size = self._write(capture)
            self._held = None if self._held is None else self._held + size
            self._prune()

    def delete(self, names: Sequence[str]) -> int:
        """Delete these, and say how many there were."""
        wanted = set(names)
        with self._lock:
            gone = [path for path in self._paths() if path.stem in wanted]
            for path in gone:
                path.unlink(missing_ok=True)
        return len(gone)

    def redact(self, name: str) -> Capture:
        """Mask letters and digits of a capture's texts for good; what it was and how long stays. Raises InputError."""
        whole = redacted(self.read(name))
        with self._lock:
            self._write(whole)
        return whole

    def prune(self) -> int:
        """Delete what is too old or too much, and say how many that were."""
        with self._lock:
            self._held = None
            return self._prune()

    def size(self) -> int:
        """Bytes on the disk."""
        return sum(_size(path) for path in self._paths())

    def _paths(self) -> Sequence[Path]:
        return [path for path in self.folder.glob(f"*{ENDING}") if _ID.fullmatch(path.stem)]

    def _prune(self) -> int:
        """Names tell how old they are; sizes are asked for only while what is kept may be too much."""
        now, room = epoch_ms(), self.settings.keep_mebibytes << 20
        oldest = now - self.settings.keep_days * _DAY_MS
        # What a clock that was ahead has named goes first: nothing new would have room beside it.
        paths = sorted(self._paths(), key=lambda path: (_started(path) <= now + _DAY_MS, path.name), reverse=True)
        gone = [path for path in paths if _started(path) < oldest]
        if gone or self._held is None or self._held > room:
            self._held = 0
            for path in (each for each in paths if _started(each) >= oldest):
                size = _size(path)
                room -= size
                if room < 0:
                    gone.append(path)
                else:
                    self._held += size
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)

    def _read(self, path: Path, *, whole: bool) -> Capture | None:
        try:
            head, bodies = _lines(path, whole=whole)
            return _of_json(path.stem, parse_json(head), parse_json(bodies))
        except (OSError, ValueError) as error:
            self.problems[f"{path.name}: this capture cannot be read ({error}). It can be deleted."] = None
            return None

    def _write(self, capture: Capture) -> int:
        head = {name: each for name, each in to_builtins(capture).items() if name not in {"id", "body", "answer"}}
        lines = (spell(head, ascii_only=True), spell([capture.body, capture.answer], ascii_only=True))
        data = "\n".join((*lines, "")).encode("ascii")
        write_atomically(self.folder / f"{capture.id}{ENDING}", data, private=True)
        return len(data)


def redacted(capture: Capture) -> Capture:
    """The capture with texts of the same shape in which no letter and no digit is left."""
    try:
        body = spell(_masked(parse_json(capture.body)))
    except ValueError:
        body = _WORD.sub("x", capture.body)
    choices: Json = [{"index": place, "text": _WORD.sub("x", text)} for place, text in enumerate(capture.replies)]
    return replace(capture, redacted=True, body=body, answer=spell({"choices": choices}))


def _masked(value: Json, key: str = "") -> Json:
    if isinstance(value, str):
        return value if key in {"role", "type", "model"} else _WORD.sub("x", value)
    if isinstance(value, Mapping):
        return {name: _masked(each, name) for name, each in value.items()}
    return [_masked(each, key) for each in value] if isinstance(value, list) else value


def _started(path: Path) -> int:
    return int(path.stem.partition("-")[0])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines(path: Path, *, whole: bool) -> tuple[str, str]:
    """The line that says when and what, and the one with the bodies. Raises OSError and ValueError."""
    if not path.is_file():  # a pipe would be waited for
        raise ValueError("it is no file")
    with path.open("rb") as stream:
        head = stream.readline(_LONGEST_HEAD).decode()
        return head, stream.readline(_LONGEST_BODIES).decode() if whole else '["", ""]'


def _of_json(name: str, head: Json, bodies: Json) -> Capture:
    match head, bodies:
        case {"started": int(started), "ending": _, "status": _}, [body, answer] if 0 <= started <= _LATEST_MS:
            with suppress(ValidationError):
                return convert({**mapping_in(head), "id": name, "body": body, "answer": answer}, Capture)
    raise ValueError("it is no capture")


# ---- what the endpoint is started with ------------------------------------------------------------------------------


class Attachment(Terse, frozen=True):
    """Settings of live capture, and the token in its addresses."""

    unprinted = ("token",)

    settings: AttachSettings = field(default_factory=AttachSettings)
    token: str = ""


def load_attachment(folder: Path) -> Attachment:
    """What was kept in the folder, else the defaults with a new token. Waits for the disk. Raises SettingsError."""
    path = folder / "attach.json"
    data = bytes_if_there(path)
    if data is None:
        return Attachment(token=new_token())
    document = parse_settings(data, path)
    if not isinstance(document, Mapping):
        raise SettingsError(f"{path}: the file holds no object of settings. Delete it, and a new one is made.")
    token = document.get("token")
    values = {key: value for key, value in document.items() if key != "token"}
    return Attachment(section_of(values, AttachSettings, str(path)), token if isinstance(token, str) else new_token())


def keep_attachment(folder: Path, attachment: Attachment) -> None:
    """Keep it for the next time, for its owner's eyes only. Waits for the disk. Raises OSError."""
    document = {**dump_section(attachment.settings), "token": attachment.token}
    write_atomically(folder / "attach.json", json_bytes(document), private=True)


def attached(
    folder: Path, attachment: Attachment, captures: Captures, told: Callable[[], object] = lambda: None
) -> Endpoint:
    """An endpoint that listens, and whose requests for text are kept in `captures`. Waits for the disk.

    Port and token are kept in the folder, so that SillyTavern's address stays. Raises InputError and OSError.
    """
    provider = provider_address(attachment.settings.provider)

    def keep(exchange: Exchange) -> None:
        if exchange.generates and (captures.settings.keep_auxiliary or not exchange.auxiliary):
            captures.add(capture_of(exchange, attachment.token, provider))

    endpoint = Endpoint(provider, attachment.token, attachment.settings.port, keep=keep, told=told)
    endpoint.start()
    try:
        settings = attachment.settings.model_copy(update={"provider": provider, "port": endpoint.port})
        keep_attachment(folder, replace(attachment, settings=settings))
    except OSError:
        endpoint.stop()
        raise
    return endpoint


def steps(endpoint: Endpoint) -> tuple[str, ...]:
    """What a person does in SillyTavern, with these addresses."""
    bare = endpoint.address.removesuffix("/v1")
    return (
        "In SillyTavern open API Connections (the plug).",
        (
            f"Chat Completion, source “Custom (OpenAI-compatible)”: enter {endpoint.address} as Custom Endpoint, and "
            "the provider's own key as Custom API Key. For OpenRouter, NanoGPT and Groq, too."
        ),
        (
            f"Chat Completion with OpenAI, Claude, Mistral, DeepSeek or xAI: under Reverse Proxy enter "
            f"{endpoint.address} as Proxy Server URL (Google: {bare}), and the provider's key as Proxy Password."
        ),
        f"Text Completion: enter {bare} as API URL.",
        "Press Connect. Claude asks for nothing then: press Test Message.",
        f"Give the profile that DeepLore's AI search uses the second address: {endpoint.auxiliary}",
    )


def arrived(endpoint: Endpoint) -> str:
    """What has come, by which the steps are checked, and what could not be kept of it."""
    lost = plural(endpoint.dropped, "# copy|# copies")
    return _came(endpoint) + f" {lost} could not be kept: {endpoint.why_dropped}." * bool(endpoint.dropped)


def _came(endpoint: Endpoint) -> str:
    last = endpoint.last
    if last is not None and last.problem:
        return f"Something came, but {last.told(last.problem, endpoint.token)}."
    if last is not None and last.status >= 400:
        answered = last.told(f"{last.status} {last.reason}".rstrip(), endpoint.token)
        return f"Something came, and the provider answered {answered}."
    if endpoint.requests:
        return f"{plural(endpoint.requests, '# request|# requests')} for text went through: it works."
    if endpoint.models_asked:
        return "SillyTavern has asked for the model list: it works."
    away = endpoint.turned_away
    if away is not None and away.sentence:
        return f"Something came and was turned away: {away.sentence}."
    if away is not None and away.status == 404:
        return f"Something asked at an old or mistyped address. Enter {endpoint.address} as it stands."
    if away is not None:
        return f"Something came and was turned away ({away.status}), as web pages and other computers' names are."
    return "It listens. Nothing has come yet."
