"""A project: opened, held together, checked and kept. What answers raise is here for those who only tell of it."""

from lorestudio.llm.errors import AnsweringError, LlmError

__all__ = ["AnsweringError", "LlmError"]
