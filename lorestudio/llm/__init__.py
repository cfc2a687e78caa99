"""Talking to models: what is asked, who answers, and what goes wrong."""

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.messages import PREFILTER, SEARCH, ChatReply, ChatRequest, Usage
from lorestudio.llm.protocol import AnswerSource, NoAnswers

__all__ = [
    "PREFILTER",
    "SEARCH",
    "AnswerSource",
    "ChatReply",
    "ChatRequest",
    "ErrorKind",
    "LlmError",
    "NoAnswers",
    "Usage",
]
