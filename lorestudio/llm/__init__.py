"""Talking to models: what is asked, who answers, and what goes wrong."""

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import DRAFT, KEYS, PREFILTER, SEARCH, SUMMARY, ChatReply, ChatRequest, Usage
from lorestudio.llm.protocol import AnswerSource, NoAnswers

__all__ = [
    "DRAFT",
    "KEYS",
    "PREFILTER",
    "SEARCH",
    "SUMMARY",
    "AnswerSource",
    "ChatReply",
    "ChatRequest",
    "ErrorKind",
    "LlmError",
    "NoAnswers",
    "Usage",
]
