"""Whose vectors are used, and keeping them: made once for each text and model, found again afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from lorestudio.exchange.problems import InputError
from lorestudio.llm.connections import Connections, Patience, default_profiles_path
from lorestudio.llm.embedding import Embedder, HashEmbedder, Vector, VectorCache, cached_vectors, default_path
from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.profiles import Api
from lorestudio.settings.hybrid import NO_EMBEDDER, STAND_IN
from lorestudio.systems.base import NOTHING_GIVEN, Given, Moment, Offline, System, VectorCount
from lorestudio.systems.runner import Run
from lorestudio.trace.model import AiCall

_ANY: Final[Vector] = np.ones(1, np.float32)


class EmbedderError(InputError):
    """Whoever was chosen to make vectors cannot."""


def embedder_named(name: str, connections: Connections | None = None) -> Embedder | None:
    """The stand-in, a provider by the name of its profile, or None for nobody. Raises EmbedderError for others."""
    if name in {"", NO_EMBEDDER}:
        return None
    if name == STAND_IN:
        return HashEmbedder()
    connections = connections or Connections(default_profiles_path())
    profile = connections.load().find(name)
    if profile is None:
        reason = f"there is no profile “{name}” to make the vectors. Use stand-in, none, or one of your profiles."
        raise EmbedderError("embedder", reason)
    if profile.api is not Api.OPENAI:
        raise EmbedderError("embedder", f"the profile “{name}” speaks an API without embeddings. Choose another one.")
    from lorestudio.llm.http.embedding import HttpEmbedder  # noqa: PLC0415  # most vectors ask nobody

    return HttpEmbedder(profile, connections.keys)


class TextVectors(Protocol):
    """Whoever has the vectors of texts, or makes them."""

    @property
    def label(self) -> str:
        """Who makes them, for people."""

    async def of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of texts; who makes none may leave some out. Raises LlmError."""


class KnownVectors:
    """Vectors of one embedder, in memory and on disk."""

    def __init__(self, embedder: Embedder, cache_file: Path | None = None) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self.label, self.model_id = embedder.label, embedder.model_id
        self.is_free = isinstance(embedder, HashEmbedder)
        """Whether nobody has to be asked for them."""
        self._file = cache_file or default_path()
        self._patience = Patience()

    def made(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors that these texts have already. Waits for the disk; nobody is asked."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing and self._file.exists():
            with VectorCache(self._file) as cache:
                self._known.update(cache.find(self.model_id, missing))
        return {text: self._known[text] for text in dict.fromkeys(texts) if text in self._known}

    async def of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of texts, made where they are not known. Raises LlmError; what came before it is kept.

        After three failures in a row nobody is asked any more.
        """
        wanted = list(dict.fromkeys(texts))
        if any(text not in self._known for text in wanted):
            made = await asyncio.to_thread(self.made, wanted)
            if len(made) < len(wanted):
                await self._patience.ask(lambda: self._made_anew(wanted))
        return self._known

    async def _made_anew(self, wanted: Sequence[str]) -> None:
        with await asyncio.to_thread(VectorCache, self._file) as cache:
            self._known.update(await cached_vectors(wanted, self._embedder, cache, self._known))


class MadeVectors:
    """The vectors that there are already, for trying things out: nobody is asked for one.

    `counting` gives every text the same vector, so that a run asks for the texts that it would ask for with others.
    """

    def __init__(self, known: KnownVectors, *, counting: bool = False) -> None:
        self._known, self.label, self._counting = known, known.label, counting
        self.missing: dict[str, None] = {}
        """Texts that had no vector, each once."""

    def afresh(self) -> MadeVectors:
        """The same vectors, with nothing missing so far."""
        return MadeVectors(self._known)

    async def of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Those of these texts that have one. Raises LlmError where none of them has."""
        looked_for = [text for text in texts if not (self._counting and text in self.missing)]
        found = await asyncio.to_thread(self._known.made, looked_for) if looked_for else {}
        self.missing.update(dict.fromkeys(text for text in looked_for if text not in found))
        if self._counting:
            return dict.fromkeys(texts, _ANY)
        if texts and not found:
            raise LlmError(ErrorKind.NO_VECTORS)
        return found


class VectorRun(Run):
    """A run that compares by vectors: `calls` are the questions for some, `problem` says why the last brought none."""

    def __init__(self, moment: Moment, vectors: TextVectors | None) -> None:
        super().__init__(moment)
        self.vectors = vectors
        self.maker = vectors.label if vectors is not None else ""
        self.problem = ""
        self.calls: list[AiCall] = []

    async def vectors_of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of texts, as far as somebody makes them."""
        if self.vectors is None:
            return {}
        try:
            return await self.vectors.of(texts)
        except LlmError as error:
            self.problem = str(error).rstrip(".")
            return {}

    def asked_for(self, what: str) -> None:
        """Put on record that vectors of this were asked for."""
        self.calls.append(vector_call(what, self.maker, self.problem))

    async def query(self, text: str) -> Vector | None:
        """The vector of the text that others are compared with; asking for it is put on record."""
        found = await self.vectors_of([text])
        self.asked_for(text)
        return found.get(text)


def vector_call(asked: str, maker: str, problem: str) -> AiCall:
    """The question for vectors, as a trace keeps it."""
    return AiCall("embedding", "", asked, 0, False, error=problem, source=maker)


class VectorSystem(System):
    """A system that compares by vectors, which somebody may have to be asked for."""

    vectors: Any

    def offline(self, given: Given = NOTHING_GIVEN, known: System | None = None) -> Offline:
        """The system with the vectors that there are already, and those that `known`, another one of its kind, has."""
        vectors, others = self.vectors, getattr(known, "vectors", None)
        if isinstance(vectors, MadeVectors):
            made = vectors.afresh()
        elif isinstance(vectors, KnownVectors):
            if isinstance(others, KnownVectors) and others.model_id == vectors.model_id:
                vectors = others
            if vectors.is_free:
                return Offline(self.changed(vectors=vectors))
            made = MadeVectors(vectors)
        else:
            return Offline(self.changed(vectors=None))
        return Offline(self.changed(vectors=made), lacks=lambda: _lacking(made))

    def counting_vectors(self) -> VectorCount | None:
        """The system with vectors all alike, noting which there are not; None where they are free, or nobody's."""
        vectors = self.vectors
        if not isinstance(vectors, KnownVectors) or vectors.is_free:
            return None
        made = MadeVectors(vectors, counting=True)
        return VectorCount(self.changed(vectors=made), vectors.label, made.missing)

    def not_in_scenario(self) -> str:
        """There is nobody who makes vectors in a scenario."""
        vectors = self.vectors
        if isinstance(vectors, MadeVectors) or (isinstance(vectors, KnownVectors) and not vectors.is_free):
            return (
                f"its vectors are made by {vectors.label}, who would be asked when the scenario is run. "
                "Choose the stand-in or nobody, then replay."
            )
        return ""


def _lacking(made: MadeVectors) -> tuple[str, ...]:
    amount = len(made.missing)
    if not amount:
        return ()
    texts, them = ("text is", "it") if amount == 1 else ("texts are", "them")
    return (f"{amount:,} {texts} without a vector: nobody is asked for one here, so likeness leaves {them} out.",)
