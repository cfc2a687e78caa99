"""Front matter as YAML has it, for notes that the studio makes and reads back: python-frontmatter with ruamel.yaml.

What DeepLore reads in a note is `vault.front_matter`'s to say, and notes that exist are changed by `NoteDocument`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, TypeAlias

import frontmatter
from frontmatter.default_handlers import YAMLHandler
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

from lorestudio.vault import front_matter
from lorestudio.vault.note.spelling import agrees, figures, plain_is_safe, why_not

_Style: TypeAlias = Callable[[str], str]
_QUOTED: Final[_Style] = DoubleQuotedScalarString
_STYLES: Final[tuple[_Style, ...]] = (
    str,
    _QUOTED,
    SingleQuotedScalarString,
    lambda text: LiteralScalarString(text + "\n"),  # lines of its own
)


class _Null:
    """Nothing, spelled out: to DeepLore a property that is left empty is a list."""


class _Representer(RoundTripRepresenter):
    """Writes numbers and moments as DeepLore's line machine reads them."""


def _scalar(representer: _Representer, value: object) -> ScalarNode:
    kind, text = "null", "null"
    if isinstance(value, datetime):
        kind, text = "timestamp", value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    elif isinstance(value, int | float):
        text = figures(value)
        kind = "float" if "." in text else "int"
    node: ScalarNode = representer.represent_scalar(f"tag:yaml.org,2002:{kind}", text)
    return node


for _kind in (int, float, datetime, _Null):
    _Representer.add_representer(_kind, _scalar)


class RuamelHandler(YAMLHandler):
    """Reads and writes front matter between the fences that DeepLore sees.

    What was read keeps its comments, order and quotes when it is written again. What is new is spelled so that DeepLore
    and YAML read the same wherever a text has such a spelling, and else as YAML wants it.
    """

    def detect(self, text: str) -> bool:
        """Whether the text begins with front matter."""
        return front_matter.split(text)[0] is not None

    def split(self, text: str) -> tuple[str, str]:
        """The front matter and the body. Raises ValueError where there is no front matter."""
        head, body = front_matter.split(text)
        if head is None:
            raise ValueError("There is no front matter.")
        return head, body

    def load(self, fm: str, **_options: object) -> CommentedMap:
        """The properties. Raises ValueError with the reason where YAML cannot read them."""
        try:
            loaded = _yaml().load(fm)
        except (YAMLError, RecursionError) as error:
            reason = error.problem if isinstance(error, MarkedYAMLError) else ""
            raise ValueError(
                f"YAML cannot read the front matter: {reason or 'it is no list of properties'}."
            ) from error
        return loaded if isinstance(loaded, CommentedMap) else CommentedMap()

    def export(self, metadata: dict[str, object], **options: object) -> str:
        """The properties as YAML; `alike` raises ValueError where DeepLore would read another text."""
        if not isinstance(metadata, CommentedMap):
            alike = bool(options.get("alike"))
            metadata = {name: _spelled(name, value, alike=alike) for name, value in metadata.items()}
        return _dumped(metadata)

    def format(self, post: frontmatter.Post, **options: object) -> str:
        """The whole note, its body as it is; without properties there are no fences."""
        return post.content if not post.metadata else f"---\n{self.export(post.metadata, **options)}---\n{post.content}"


HANDLER: Final = RuamelHandler()


def compose_note(properties: Mapping[str, object], body: str, *, alike: bool = False) -> str:
    """A new note with texts, numbers, flags, moments and lists of texts as properties.

    Raises ValueError where a value cannot be written, with `alike` also where DeepLore and YAML would differ about it.
    """
    post = frontmatter.Post(body, HANDLER)
    post.metadata = dict(properties)
    return frontmatter.dumps(post, alike=alike)


def _yaml() -> YAML:
    yaml = YAML()
    yaml.Representer = _Representer
    yaml.preserve_quotes = True
    yaml.width = sys.maxsize
    yaml.indent(sequence=4, offset=2)
    return yaml


def _dumped(metadata: Mapping[str, object]) -> str:
    text = io.StringIO()
    _yaml().dump(metadata, text)
    return text.getvalue()


def _spelled(name: str, value: object, *, alike: bool) -> object:
    if isinstance(value, list | tuple):
        return [_styled(name, item, alike=alike, item=True) for item in value]
    if value is None:
        return _Null()
    return _styled(name, value, alike=alike) if isinstance(value, str) else value


def _styled(name: str, text: str, *, alike: bool, item: bool = False) -> str:
    """The text in the style that both readers understand: bare, in quotes, or on lines of its own."""
    wanted = [text] if item else text
    for style in _STYLES if plain_is_safe(text) else _STYLES[1:]:
        styled = style(text)
        if agrees(_dumped({"x": [styled] if item else styled}), "x", wanted):
            return styled
    if alike:
        raise ValueError(why_not(name, text))
    return _QUOTED(text)
