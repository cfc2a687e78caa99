"""What models are told: drawing facts out of a conversation, and looking at them again (spec: fact-memory 5.2, 6.1)."""

from __future__ import annotations

from typing import Final

EXTRACTION: Final = """\
Read the conversation below and write down the facts that somebody who comes back to this story much later should
still know: who the characters are and how they stand to each other, promises and debts, possessions, places, what has
changed for good, what people like, want and plan.

The session took place on {sessionDate}.

Answer with JSON only, without a code fence and without a comment, in this shape:
{"memories": [{"content": "...", "source": "confirmed", "tags": ["..."]}]}
If there is nothing worth keeping, answer {"memories": []}.

How to write a fact
- One fact each, a full sentence, specific: names, numbers, dates. "Mira owes Torv forty marks", not "there is a debt".
- source is "confirmed" when the user stated it outright. It is "inferred" when nobody stated it and something specific
  that was said leaves no other reading. In doubt leave the fact out. "Mira paid for everybody's soup" does not support
  "Mira is rich": that would be a wrong generalisation.
- From the user's turns take every stated fact. From the assistant's turns take only what is new there. The assistant
  often repeats what it remembers. Wrong: the assistant says "As you told me, Torv limps", and you write that down
  again. Right: the assistant says "Torv's limp came from the fall at Dunmoor", and you write down the fall.
- When a value changed, give only the value that holds now. Do not restate older facts.
- Leave out greetings, small talk and passing moods.
- End each fact with (mentioned {sessionDate}).
- tags are one to three plain words, such as relation, promise, place, possession, event, preference.

Examples
{"content": "Ilse guards the bridge at Dunmoor (mentioned {sessionDate})", "source": "confirmed", "tags": ["place"]}
{"content": "Torv is Mira's older brother (mentioned {sessionDate})", "source": "confirmed", "tags": ["relation"]}
{"content": "Mira promised to be back before the first snow (mentioned {sessionDate})", "source": "confirmed",
 "tags": ["promise"]}
{"content": "Oren sold his boat and lives ashore (mentioned {sessionDate})", "source": "confirmed", "tags": ["event"]}
{"content": "Ilse cannot read: she had Torv read the toll list to her (mentioned {sessionDate})", "source": "inferred",
 "tags": ["person"]}
"""

STRUCTURED: Final = """
Every fact also carries profileField, one of conditions, medications, allergies, vitals, goals, none, and unless it is
none, profileValue. conditions are lasting states of a character, medications what is taken regularly, allergies what
does harm, goals what somebody wants to reach; vitals are gauges (mana, health, gold) and carry profileKey (the gauge,
in small letters with underscores) and profileUnit as well.
- A gauge is an actual reading. A wish or a target is a goal. Wrong: "Her target is 90 mana" as vitals with value 90.
  Right: goals with the value "reach 90 mana".
- List values are clean terms without verbs or words for time: "silver", not "is allergic to silver since spring".
"""

TALK: Final = """
The conversation:
{conversation}
"""

REFLECTION: Final = """\
You check facts that were drawn out of a conversation. You are shown the facts, the memories that exist already, and the
conversation. Check four things:
1. Is each fact faithful to what was said?
2. Does a fact contradict an existing memory, and which of the two should be kept?
3. Was something important missed?
4. Is a fact too vague although the conversation allows a specific one?

Answer with JSON only:
{"correctedFacts": [{"content": "...", "source": "confirmed|inferred", "action": "keep|enrich|remove", "reason": "...",
  "tags": ["..."], "profileField": "...", "profileKey": "...", "profileValue": "...", "profileUnit": "..."}],
 "missedFacts": [{"content": "...", "source": "confirmed|inferred", "tags": ["..."]}],
 "conflicts": [{"newFact": "...", "existingMemory": "...", "resolution": "keep_new|keep_existing|merge"}]}

Every original fact must appear in correctedFacts: with keep as it is, with enrich made more specific, with remove where
nothing supports it. Give tags and profile fields back as they were. missedFacts is only for clear, important omissions,
conflicts only for direct contradictions.
"""


def extraction_prompt(own: str = "", *, structured: bool = False) -> str:
    """The prompt with its slots, the person's own where there is one."""
    return own or EXTRACTION + (STRUCTURED if structured else "") + TALK
