"""A model that answers as a test wants, and small helpers."""

import asyncio

import numpy as np

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.systems.facts.records import Memory


class Model:
    """Facts by list, vectors by text; `failing` texts get none, and `down` fails extraction."""

    def __init__(self, facts=(), vectors=None, failing=(), *, down=False):
        self.facts, self.vectors, self.failing, self.down = list(facts), vectors or {}, set(failing), down
        self.embedded, self.asked, self.at_once, self.most = [], 0, 0, 0

    async def extract(self, _lines, _date):
        self.asked += 1
        if self.down:
            raise LlmError(ErrorKind.CONNECTION, "no connection")
        return [{"content": fact, "source": "confirmed"} for fact in self.facts]

    async def review(self, _system, _user):
        return None

    async def embed(self, text):
        self.embedded.append(text)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if text in self.failing:
            raise LlmError(ErrorKind.CONNECTION, "no connection")
        return np.array(self.vectors[text], dtype=np.float64)


def memory(name, vector, user="u", **more):
    embedding = None if vector is None else np.array(vector, dtype=np.float64)
    return Memory(name, user, "t", f"fact {name}", "confirmed", embedding, 0, **more)
