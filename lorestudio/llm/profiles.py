"""Profiles: which provider, which model, how long to wait. Kept as JSON without keys.

A key is in the keyring of the operating system or in an environment variable; the file only says which. Fields of the
file that are not known here are kept; fields that look like a key are neither used nor written back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse
from lorestudio.llm.errors import AnsweringError
from lorestudio.settings.files import SettingsError, bytes_if_there, parse_json, write_document

FORMAT: Final = "lorestudio-profiles"
FORMAT_VERSION: Final = 1

_KEY_FIELD = re.compile(r"key$|token$|secret|password|authorization", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A key ends in many random characters, where a name has words and "_" between them. Each word is looked at once.
_LIKE_A_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|gsk|hf|xai)_|AIza)[^_]{20,}|(?<![^_])(?=[^_]*[a-z])(?=[^_]*\d)[^_]{32,}"
)
_MOST_MS: Final = 999_999

# What stands there may be the key itself, so it is not repeated.
_NO_VARIABLE: Final = (
    'The field "key_variable" is no name of an environment variable. '
    "Enter the variable's name, such as OPENAI_API_KEY, not the key."
)


class Api(StrEnum):
    """The kind of API a server speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class KeySource(StrEnum):
    """Where the key of a profile is."""

    KEYRING = "keyring"
    ENVIRONMENT = "environment"
    NONE = "none"


class ProfileError(AnsweringError):
    """A profile that cannot be used; the message names the field and says what to do."""


class Profile(Terse, frozen=True):
    """One connection. Raises ProfileError where a field cannot be right.

    `key_variable` names the environment variable when the key source is that. `timeout_ms`, for connecting and the
    whole exchange together, and `max_tokens`, the longest reply this provider allows, are None where the request
    decides: a timeout given here wins over the request's, of two token limits the smaller one.
    """

    unprinted = ("extra",)

    name: str
    api: Api = Api.OPENAI
    url: str = ""
    model: str = ""
    key_source: KeySource = KeySource.NONE
    key_variable: str = ""
    timeout_ms: int | None = None
    max_tokens: int | None = None
    supports_schema: bool = True
    extra: Mapping[str, Json] = {}

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ProfileError('The field "name" is empty. Give the profile a name.')
        _check_url(self.url)
        if self.key_source == KeySource.ENVIRONMENT and not _VARIABLE.fullmatch(self.key_variable):
            raise ProfileError(_NO_VARIABLE)
        for name, value, least, most in (
            ("timeout_ms", self.timeout_ms, 1, _MOST_MS),
            ("max_tokens", self.max_tokens, 1, 10_000_000),
        ):
            if value is not None and not least <= value <= most:
                raise ProfileError(
                    f'The field "{name}" is {value}. Use a number from {least} to {most}, or leave it out.'
                )

    @property
    def host(self) -> str:
        """Host and port, for people."""
        return urlsplit(self.url).netloc

    def check_variable(self) -> None:
        """For a profile that was just typed. Raises ProfileError where the variable's name may be the key itself."""
        if self.key_source == KeySource.ENVIRONMENT and _LIKE_A_KEY.search(self.key_variable):
            raise ProfileError(_NO_VARIABLE)


class ProfileFile(Terse, frozen=True):
    """The profiles of a file in their order. `unreadable` are entries that are no valid profile: they stay in the file
    as they are, and `problems` says for each what to do.
    """

    unprinted = ("unreadable",)

    profiles: tuple[Profile, ...] = ()
    unreadable: tuple[Json, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, name: str) -> Profile | None:
        """The profile called `name`."""
        return next((profile for profile in self.profiles if profile.name == name), None)


def load_profiles(path: Path) -> ProfileFile:
    """Read the profiles at `path`; a missing file holds none. Raises SettingsError where it is no profile file."""
    data = bytes_if_there(path)
    if data is None:
        return ProfileFile()
    document = parse_json(data, path)
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise SettingsError(f'{path} is not a file of profiles: it lacks "format": "{FORMAT}". Choose another file.')
    version = document.get("version")
    if type(version) is not int or version > FORMAT_VERSION:
        raise SettingsError(f'{path}, field "version": {version!r} is not known here. Update lorestudio.')
    items = document.get("profiles")
    if not isinstance(items, list):
        raise SettingsError(f'{path}: the field "profiles" is not a list. Use a backup of the file.')
    profiles: list[Profile] = []
    names: set[str] = set()
    unreadable: list[Json] = []
    problems: list[str] = []
    for number, item in enumerate(items, start=1):
        try:
            profile, warnings = _read(item, names)
        except ProfileError as error:
            unreadable.append(item)
            problems.append(f"{path}, profile {number}: {error}")
            continue
        profiles.append(profile)
        names.add(profile.name)
        problems.extend(f"{path}, profile {number}: {warning}" for warning in warnings)
    return ProfileFile(tuple(profiles), tuple(unreadable), tuple(problems))


def save_profiles(path: Path, profiles: Sequence[Profile], unreadable: Sequence[Json] = ()) -> None:
    """Write the profiles in one step. Raises ProfileError for two of the same name, SettingsError when it fails."""
    for name, times in Counter(profile.name for profile in profiles).items():
        if times > 1:
            raise ProfileError(f'Two profiles are called "{name}". Rename one of them.')
    items: list[Json] = [*(_write(profile) for profile in profiles), *unreadable]
    write_document(path, {"format": FORMAT, "version": FORMAT_VERSION, "profiles": items})


_FIELDS: Final[Mapping[str, type[str | int]]] = {
    "name": str, "api": Api, "url": str, "model": str, "key_source": KeySource, "key_variable": str, "timeout_ms": int,
    "max_tokens": int, "supports_schema": bool,
}  # fmt: skip
"""The fields of a profile in a file, and the type of each."""

_WANTED: Final = {str: "a text", int: "a whole number", bool: "true or false"}


def _write(profile: Profile) -> dict[str, Json]:
    written: dict[str, Json] = {name: getattr(profile, name) for name in _FIELDS}
    return {name: value for name, value in written.items() if value is not None} | _others(profile.extra)


def _others(item: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that are not known here, without those that look like a key."""
    return {name: value for name, value in item.items() if name not in _FIELDS and not _KEY_FIELD.search(name)}


def _read(item: Json, taken: Container[str]) -> tuple[Profile, list[str]]:
    """The profile in one entry of the file, and what the person should know. Raises ProfileError."""
    if not isinstance(item, Mapping):
        raise ProfileError("This is no object. Remove it from the file, or use a backup.")
    found: dict[str, Any] = {name: _value(name, item[name]) for name in _FIELDS if item.get(name) not in (None, "")}
    profile = Profile(**{"name": "", **found}, extra=_others(item))
    if profile.name in taken:
        raise ProfileError(f'The name "{profile.name}" is taken by an earlier profile. Rename one of them.')
    warnings = [
        f'The field "{name}" was not used and will not be written back. '
        "Keys belong in the keyring or in an environment variable; treat this one as seen by others."
        for name in item
        if name not in _FIELDS and _KEY_FIELD.search(name)
    ]
    warnings += [
        f'The field "{name}" is {json.dumps(item[name])}, which counts as left out. Correct it, or take it out.'
        for name in _FIELDS
        if name in item and name not in found and item[name] != getattr(profile, name)
    ]
    return profile, warnings


def _value(name: str, value: Json) -> str | int:
    """The value in the type of its field. Raises ProfileError."""
    kind = _FIELDS[name]
    if not issubclass(kind, StrEnum):
        if type(value) is not kind:  # true is no number
            raise ProfileError(f'The field "{name}" is not {_WANTED[kind]}. Correct it, or leave it out.')
        return value
    found = next((each for each in kind if each == value), None)
    if found is None:
        raise ProfileError(f'The field "{name}" is {value!r}. Use one of: {", ".join(kind)}.')
    return found


def _check_url(url: str) -> None:
    """Refuse what cannot be asked, and addresses that carry a key, since the file would hold it."""
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
        userinfo, query = parts.username is not None, parse_qsl(parts.query)
        host = parts.hostname or ""
    except ValueError:
        raise ProfileError('The field "url" is no valid address. Check host and port.') from None
    if userinfo or any(_KEY_FIELD.search(name) for name, _ in query):
        raise ProfileError('The field "url" holds a key or a password. Take it out and store the key in the keyring.')
    if parts.scheme not in ("http", "https") or not host or not port_fits or any(c.isspace() for c in url):
        raise ProfileError('The field "url" is no valid address. Use one such as http://127.0.0.1:11434/v1.')
