"""What answers and their sources raise, for those who only tell a person of it and load nothing else for that."""

from lorestudio.llm.errors import AnsweringError, LlmError

__all__ = ["AnsweringError", "LlmError"]
