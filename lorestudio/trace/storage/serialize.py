"""Traces as JSON and back, without loss, also packed to about a twentieth, with a gist that nobody has to unpack.

The document is `{"format": "lorestudio-trace", "version": 1, "trace": {...}}`; a data class becomes an object of its
fields (but those that do not count when it is compared), an enumeration its value. Inside free-form details JSON has no
word for some things, so an object with one key that begins with `$` stands for them: `{"$number": "NaN" | "Infinity" |
"-Infinity"}`, `{"$tuple": [...]}`, and `{"$object": [[key, value], ...]}` for an object that could be mistaken for one
of these. The whole document is plain JSON: `json.dumps(to_json(trace), allow_nan=False)` always succeeds.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Struct, structs
from msgspec.json import encode as json_bytes

from lorestudio.domain.entry import EMPTY
from lorestudio.domain.javascript import Json
from lorestudio.domain.records import Terse, compared_fields, field_names, is_record, replace
from lorestudio.trace.ai_selection import failure_of
from lorestudio.trace.model import AS_STORED, SeenChat, Trace
from lorestudio.trace.timeline import fired_in
from lorestudio.trace.vocabulary import PLAIN, Vocabulary, plain

FORMAT: Final = "lorestudio-trace"
VERSION: Final = 1
"""Raised when the meaning of a stored field changes; a field that is merely added needs no new version."""

_Record = TypeVar("_Record")
_Encoder: TypeAlias = Callable[[Any], Any]
_Decoder: TypeAlias = Callable[[Any], Any]
"""Raises TraceFormatError with what follows the path of its value."""

_SPECIAL: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class TraceFormatError(ValueError):
    """The data is no trace; the message names the field by its path, e.g. `trace.stages[3].phase`."""

    def within(self, place: str) -> TraceFormatError:
        """The same with the path begun by `place`, which is worked out on the way out, where there is an error."""
        return TraceFormatError(f"{place}{self}")


def to_json(trace: Trace) -> dict[str, Any]:
    """The trace as a JSON document."""
    return {"format": FORMAT, "version": VERSION, "trace": _codec(Trace)[0](trace)}


def from_json(data: object, words: Callable[[str], Vocabulary[Trace]] = plain) -> Trace:
    """The trace in a JSON document, with the words of its system as `words` knows them by its name.

    Raises `TraceFormatError` with the path of the field that is wrong.
    """
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise TraceFormatError(f'format: this is no trace; a trace has the format "{FORMAT}"')
    version = data.get("version")
    if type(version) is not int or version != VERSION:
        raise TraceFormatError(f"version: this trace has version {version!r}; this program reads version {VERSION}")
    if "trace" not in data:
        raise TraceFormatError("trace: missing")
    trace = record_from_json(Trace, data["trace"], "trace")
    return replace(trace, words=words(trace.system))


def record_to_json(record: object) -> dict[str, Any]:
    """Any frozen data class of plain fields as JSON, the way a trace's parts are written."""
    kind: Any = type(record)
    encoded: dict[str, Any] = _codec(kind)[0](record)
    return encoded


def record_from_json(kind: type[_Record], data: object, path: str) -> _Record:
    """A data class from JSON; `path` begins the names of fields in the TraceFormatError that is raised otherwise."""
    hint: Any = kind
    try:
        return cast("_Record", _codec(hint)[1](data))
    except TraceFormatError as error:
        raise error.within(path) from None


def _number_out(value: float) -> object:
    if isinstance(value, int) or math.isfinite(value):
        return value
    return {"$number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}


def _json_out(value: Json) -> object:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind in _OBJECTS:
        return _object_out(cast("Mapping[str, Json]", value))
    if kind is list:
        return _list_out(cast("list[Json]", value))
    if isinstance(value, float):
        return _number_out(value)
    if isinstance(value, str | int):  # an enumeration's
        return value
    if isinstance(value, Mapping):
        return _object_out(value)
    items = [_json_out(item) for item in cast("Sequence[Json]", value)]
    return {"$tuple": items} if isinstance(value, tuple) else items


def _list_out(values: list[Any]) -> list[object]:
    """The items; those of plain values, and rows of these, are not gone through one by one."""
    kinds = set(map(type, values))
    if _AS_THEY_ARE.issuperset(kinds):
        return [*values]
    if kinds == {list} and _AS_THEY_ARE.issuperset(map(type, chain.from_iterable(values))):
        return [*map(list, values)]
    return [_json_out(item) for item in values]


def _object_out(value: Mapping[str, Json]) -> dict[str, object]:
    if len(value) == 1 and next(iter(value)).startswith("$"):
        return {"$object": [[key, _json_out(item)] for key, item in value.items()]}
    if _AS_THEY_ARE.issuperset(map(type, value.values())):
        return dict(value)
    return {key: item if type(item) in _AS_THEY_ARE else _json_out(item) for key, item in value.items()}


def _fail(wanted: str, value: object) -> TraceFormatError:
    shown = repr(value)
    return TraceFormatError(f": {wanted} expected, found {shown if len(shown) <= 60 else shown[:59] + '…'}")


def _number_in(value: object) -> float:
    if isinstance(value, Mapping) and len(value) == 1:
        name = value.get("$number")
        if isinstance(name, str) and name in _SPECIAL:
            return _SPECIAL[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _fail("a number", value)
    return value


def _items_in(values: list[Any], decoder: _Decoder) -> list[Any]:
    found: list[Any] = []
    try:
        for value in values:
            found.append(decoder(value))  # noqa: PERF401  # how many there are says which one is wrong
    except TraceFormatError as error:
        raise error.within(f"[{len(found)}]") from None
    return found


def _json_in(value: object) -> Json:
    if type(value) in _AS_THEY_ARE:
        return cast("Json", value)
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return value if _AS_THEY_ARE.issuperset(map(type, value)) else _items_in(value, _json_in)
    if not isinstance(value, Mapping):
        raise _fail("JSON", value)
    if len(value) == 1:
        key, inside = next(iter(value.items()))
        if key == "$number":
            return _number_in(value)
        if key == "$tuple":
            return tuple(_items_in(_list_in(inside), _json_in))
        if key == "$object":
            pairs = [_list_in(pair) for pair in _list_in(inside)]
            if not all(len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
                raise _fail("pairs of name and value", inside)
            return _values_in(dict(pairs), _json_in)
    return _values_in(value, _json_in)


def _values_in(values: Mapping[str, object], decoder: _Decoder) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = ""
    try:
        for name, value in values.items():
            found[name] = value if decoder is _json_in and type(value) in _AS_THEY_ARE else decoder(value)
    except TraceFormatError as error:
        raise error.within(f".{name}") from None
    return found


def _object_in(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict | Mapping) or not _ONLY_TEXT.issuperset(map(type, value)):
        raise _fail("an object", value)
    return value


def _json_object_in(value: object) -> Mapping[str, Json]:
    found = _json_in(_object_in(value))
    if not isinstance(found, Mapping):
        raise _fail("an object", value)
    return found or EMPTY


def _exactly(kind: type, wanted: str) -> _Decoder:
    """Takes values of one type only: True is no whole number."""

    def decode(value: object) -> object:
        if type(value) is not kind:
            raise _fail(wanted, value)
        return value

    return decode


_list_in: Final = _exactly(list, "a list")
_text_in: Final = _exactly(str, "text")
_path_of: Final = lru_cache(maxsize=256)(Path)  # all lines of a history name the same one or two


def _time_in(value: object) -> datetime:
    """A time that names no zone is one of UTC."""
    text = _text_in(value)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise _fail("a time", value) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _same(value: object) -> object:
    return value


_AS_THEY_ARE: Final = frozenset({str, int, bool, NoneType})
_OBJECTS: Final = frozenset({dict, MappingProxyType})
_ONLY_TEXT: Final = frozenset({str})
_PLAIN: Final[Mapping[object, tuple[_Encoder, _Decoder]]] = {
    str: (_same, _text_in),
    bool: (_same, _exactly(bool, "true or false")),
    int: (_same, _exactly(int, "a whole number")),
    float: (_number_out, _number_in),
    Path: (str, lambda value: _path_of(_text_in(value))),
    datetime: (datetime.isoformat, _time_in),
}


@lru_cache(maxsize=256)
def _codec(hint: object) -> tuple[_Encoder, _Decoder]:
    """Encoder and decoder of one type of the trace model, made from its annotation."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_record(hint):
        return _record_codec(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum_codec(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and len(arguments) == 2 and NoneType in arguments:
        return _optional_codec(next(argument for argument in arguments if argument is not NoneType))
    if origin is tuple:
        return _tuple_codec(arguments)
    if origin is frozenset:
        encoder, decoder = _tuple_codec((*arguments, Ellipsis))
        return lambda value: encoder(sorted(value)), lambda value: frozenset(decoder(value))
    if origin is Mapping:
        return _mapping_codec(*arguments)
    raise TypeError(f"no JSON form for the type {hint!r}")


def _is_json(hint: object) -> bool:
    """Whether the annotation is that of any JSON value, the one union of many types in use."""
    return get_origin(hint) in (Union, UnionType) and len(get_args(hint)) > 2


def _record_codec(hint: type[Any]) -> tuple[_Encoder, _Decoder]:
    hints = get_type_hints(hint)
    members = compared_fields(hint)
    codecs = {name: _codec(hints[name]) for name in members}
    encoders = tuple((name, codec[0]) for name, codec in codecs.items() if codec[0] is not _same)
    decoders = {name: codec[1] for name, codec in codecs.items()}
    needed = tuple(name for name, required in members.items() if required)
    names = tuple(members)
    whole = issubclass(hint, Struct) and names == field_names(hint)

    def encode(value: Any) -> dict[str, Any]:  # noqa: ANN401  # a record of this type
        found = structs.asdict(value) if whole else {name: getattr(value, name) for name in names}
        for name, encoder in encoders:
            found[name] = encoder(found[name])
        return found

    def decode(value: object) -> object:
        data = _object_in(value)
        found: dict[str, Any] = {}
        name = ""
        try:
            for name, inside in data.items():
                found[name] = decoders[name](inside)
        except KeyError:
            raise TraceFormatError(f".{name}: unknown field") from None
        except TraceFormatError as error:
            raise error.within(f".{name}") from None
        for name in needed:
            if name not in found:
                raise TraceFormatError(f".{name}: missing")
        return hint(**found)

    return encode, decode


def _enum_codec(hint: type[Enum]) -> tuple[_Encoder, _Decoder]:
    members = {member.value: member for member in hint}
    values = {member: member.value for member in hint}

    def decode(value: object) -> Enum:
        if not isinstance(value, str) or value not in members:
            raise _fail(f"one of {', '.join(members)}", value)
        return members[value]

    return values.__getitem__, decode


def _optional_codec(inner: object) -> tuple[_Encoder, _Decoder]:
    encoder, decoder = _codec(inner)
    return (
        _same if encoder is _same else lambda value: None if value is None else encoder(value),
        lambda value: None if value is None else decoder(value),
    )


def _tuple_codec(arguments: tuple[object, ...]) -> tuple[_Encoder, _Decoder]:
    codecs = tuple(_codec(argument) for argument in arguments if argument is not Ellipsis)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        encoder, decoder = codecs[0]
        alike = {arguments[0]} if arguments[0] in {str, int, bool} else set()

        def decode_all(value: object) -> tuple[Any, ...]:
            items = _list_in(value)
            return tuple(items if alike.issuperset(map(type, items)) else _items_in(items, decoder))

        return list if encoder is _same else lambda value: [encoder(item) for item in value], decode_all

    def decode(value: object) -> tuple[Any, ...]:
        items = _list_in(value)
        if len(items) != len(codecs):
            raise _fail(f"a list of {len(codecs)}", value)
        return tuple(_items_in([*zip(codecs, items, strict=True)], lambda pair: pair[0][1](pair[1])))

    return lambda value: [codec[0](item) for item, codec in zip(value, codecs, strict=True)], decode


def _mapping_codec(key: object, item: object) -> tuple[_Encoder, _Decoder]:
    """With texts or whole numbers as names; of any JSON where that is what it holds."""
    if _is_json(item):
        return _json_out, _json_object_in
    encoder, decoder = _codec(item)

    def decode(value: object) -> Mapping[Any, Any]:
        data = _object_in(value)
        wrong = next((name for name in data if key is int and not name.removeprefix("-").isdecimal()), None)
        if wrong is not None:
            raise TraceFormatError(f": a whole number expected as name, found {wrong!r}")
        found = _values_in(data, decoder)
        return {int(name): inside for name, inside in found.items()} if key is int else found

    return lambda value: {str(name): encoder(inside) for name, inside in value.items()}, decode


_QUICK: Final = 1  # of zlib's levels; the default takes three times as long for a tenth less


class Gist(Struct, frozen=True):
    """What is asked of all runs of a chat at once.

    `matched`, `injected` and `named` are ids of the entries that a run matched, that it injected, and that any stage
    said something of. `drew` says whether random numbers were used, `failed` why a question to a model had no good
    answer ("" where each had one), `skipped` whether the run never began.
    """

    matched: tuple[int, ...]
    injected: frozenset[int]
    named: tuple[int, ...] = ()
    drew: bool = False
    failed: str = ""
    skipped: bool = False


def gist_of(trace: Trace) -> Gist:
    """The gist of a trace."""
    matched, injected = fired_in(trace)
    drew, skipped = bool(trace.draws), bool(trace.skip_reason)
    return Gist(tuple(sorted(matched)), injected, tuple(trace.entries), drew, failure_of(trace), skipped)


class PackedTrace(Terse, frozen=True):
    """A trace as compressed JSON.

    `digests` and `seen` are those of the trace and count for what the data says: in these alone does a run that is
    taken over differ from the one that was made. None is what the data says.
    """

    unprinted = ("data", "words")

    data: bytes
    words: Vocabulary[Trace] = PLAIN
    digests: Mapping[str, str] | None = None
    seen: SeenChat | None = None

    @classmethod
    def of(cls, trace: Trace) -> PackedTrace:
        """Pack a trace."""
        return cls(packed(to_json(trace)), trace.words, trace.digests, trace.seen)

    def opened(self) -> Trace:
        """The trace. Raises ValueError, TypeError or zlib.error where the data is no trace."""
        trace = from_json(unpacked(self.data), lambda _system: self.words)
        digests = trace.digests if self.digests is None else self.digests
        seen = trace.seen if self.seen is None else self.seen
        same = digests == trace.digests and seen == trace.seen
        return trace if same else replace(trace, digests=digests, seen=seen)

    def heading(self) -> dict[str, Any]:
        """What counts for the data, as JSON."""
        told: dict[str, Any] = {} if self.digests is None else {"digests": dict(self.digests)}
        return told if self.seen in {None, AS_STORED} else {**told, "seen": record_to_json(self.seen)}

    def headed(self, heading: Mapping[str, Any]) -> PackedTrace:
        """The same with what stood beside it."""
        seen = heading.get("seen")
        known = record_from_json(SeenChat, seen, "seen") if seen is not None else AS_STORED if heading else None
        return replace(self, digests=heading.get("digests"), seen=known)


def packed(document: object) -> bytes:
    """JSON, compressed."""
    try:
        text = json_bytes(document)  # a tenth of the standard library's time
    except UnicodeEncodeError:  # half of a character, as a chat of SillyTavern's can have it
        text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    return zlib.compress(text, _QUICK)


def unpacked(data: bytes) -> Any:  # noqa: ANN401  # any JSON
    """What was packed. Raises ValueError or zlib.error."""
    return json.loads(zlib.decompress(data))
