"""Where an injected entry came from; the groups and what they are drawn with are those of the trace."""

from lorestudio.trace.origins import (
    AI,
    ALWAYS,
    CASCADE,
    FUZZY,
    KEYWORD,
    ORIGINS,
    OTHER,
    PINNED,
    RECURSION,
    Origin,
    origins,
)

__all__ = [
    "AI",
    "ALWAYS",
    "CASCADE",
    "FUZZY",
    "KEYWORD",
    "ORIGINS",
    "OTHER",
    "PINNED",
    "RECURSION",
    "Origin",
    "origins",
]
