"""Files from outside checked field by field: what is wrong is said so that it can be found and mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

_Model = TypeVar("_Model", bound=BaseModel)


class InputError(ValueError):
    """A file that cannot be used: which, where in it (line from 1, path of the field), what is wrong and what to do."""

    def __init__(self, source: Path | str, message: str, line: int | None = None, field: str = "") -> None:
        self.source = source
        self.line = line
        self.field = field
        self.message = message
        where = [str(source)]
        if line is not None:
            where.append(f"line {line}")
        if field:
            where.append(f"field “{field}”")
        super().__init__(f"{', '.join(where)}: {message}")


class Belongs(StrEnum):
    """Where a file belongs that was given in the wrong place; the value says so on the command line."""

    IMPORT = "Bring its lore into a vault: “lorestudio import FILE --into VAULT”."
    OTHER_LORE = f"{IMPORT[:-1]}, or make World Info of it: “lorestudio export FILE --to NEW.json”."
    BOOK = "Give it in the place of the vault, or with --book."
    CHAT = "Give it with --chat, and in the place of the vault the folder of your notes, or a lorebook."
    CARD = "Give it with --card."
    VAULT = "Give it in the place of the vault."
    SETTINGS = "Give it with --settings, or open its folder from the start screen."
    SILLYTAVERN = "Give it with --sillytavern."


class WrongFileError(InputError):
    """A file that is another thing than was asked for: `what` it is, “this is a chat, and no vault”, and its place."""

    def __init__(self, source: Path | str, what: str, belongs: Belongs) -> None:
        self.what, self.belongs = what, belongs
        super().__init__(source, f"{what}. {belongs}")


class OutsideModel(BaseModel):
    """Base of what is read from outside: frozen, and built when it is wanted first."""

    model_config = ConfigDict(defer_build=True, frozen=True)


def unless_null(default: object) -> BeforeValidator:
    """A field's value where the file says `null`."""
    return BeforeValidator(lambda value: default if value is None else value)


Text = Annotated[str, unless_null("")]
Texts = Annotated[tuple[str, ...], unless_null(())]
Flag = Annotated[bool, unless_null(default=False)]


_SAID: Final = {
    **dict.fromkeys(("list_type", "tuple_type"), "this is no list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "this is no object"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "this is no whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "this is no number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "this is neither true nor false"),
    **dict.fromkeys(("enum", "literal_error"), "this is none of {expected}"),
    "string_type": "this is no text", "missing": "it is missing", "extra_forbidden": "no field is called so",
    "greater_than_equal": "this is less than {ge}", "less_than_equal": "this is more than {le}",
}  # fmt: skip
"""What is wrong with a value, by pydantic's name for it."""


def said(problem: Mapping[str, Any]) -> str:
    """What one of pydantic's errors says, without a full stop."""
    found = problem.get("ctx", {})
    cause = found.get("error")
    words = _SAID[problem["type"]].format(**found) if problem["type"] in _SAID else str(cause or problem["msg"])
    return words.rstrip(".")


def checked(
    kind: type[_Model], fields: object, source: Path | str, advice: str, where: Sequence[object] = ()
) -> _Model:
    """The fields as a model. Raises InputError naming the first one that is wrong; `where` is the path to them."""
    try:
        return kind.model_validate(fields, by_alias=True, by_name=False)  # a file has its names, not ours
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (*where, *first["loc"]))
        raise InputError(source, f"{said(first)}. {advice}", field=place) from error
