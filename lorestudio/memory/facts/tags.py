"""Tags by words in the text (spec: fact-memory 5.6). The lists are about health, as in the original."""

from __future__ import annotations

from typing import Final

from lorestudio.domain.patterns import compile_pattern

GENERAL: Final = "general"

_WORDS: Final = {
    "medication": (
        "medication|medicine|drug|prescription|dose|dosage|pill|tablet|mg|aspirin|metformin|insulin|antibiotic|"
        "supplement|vitamin"
    ),
    "condition": (
        "diabetes|hypertension|asthma|allergy|allergic|diagnosis|condition|disease|disorder|syndrome|symptom|pain|"
        "chronic|cancer|anxiety|depression|blood pressure"
    ),
    "vital": (
        "a1c|hba1c|hemoglobin|blood pressure|bp|systolic|diastolic|blood sugar|glucose|blood glucose|weight|bmi|"
        "body mass|heart rate|pulse|bpm|cholesterol|ldl|hdl|triglycerides"
    ),
    "lifestyle": (
        "exercise|workout|diet|sleep|walk|run|gym|yoga|meditation|smoke|smoking|alcohol|drink|weight|calorie|vegan|"
        "vegetarian"
    ),
    "preference": "prefer|like|dislike|favorite|want|enjoy|love|hate|rather|choose",
    "social": (
        "family|friend|wife|husband|partner|child|children|parent|mother|father|sibling|brother|sister|colleague|"
        "doctor|therapist"
    ),
}

KNOWN: Final = (*_WORDS, GENERAL)
"""Every tag that the lists give."""

_PATTERNS: Final = {tag: compile_pattern(rf"\b(?:{words})\b") for tag, words in _WORDS.items()}


def tags_of(text: str) -> tuple[str, ...]:
    """The tags whose words occur in the text, `general` where none does. Inflected words are other words."""
    low = text.lower()
    return tuple(tag for tag, pattern in _PATTERNS.items() if pattern.search(low)) or (GENERAL,)
