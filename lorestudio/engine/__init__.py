"""Deciding which lore reaches the prompt: the stage protocol, the inputs of a run, the runner, and the systems."""

from lorestudio.engine.context import RunContext, RunResult, Watcher
from lorestudio.engine.deeplore.index import DeepLoreIndex
from lorestudio.engine.deeplore.run import run
from lorestudio.engine.holding import Hold

__all__ = ["DeepLoreIndex", "Hold", "RunContext", "RunResult", "Watcher", "run"]
