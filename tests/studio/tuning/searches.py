"""A vault of a few notes and a chat in which what should be in depends on how far back is looked."""

from __future__ import annotations

import random
from pathlib import Path

from lorestudio.studio.compare.comparison import candidate
from lorestudio.studio.project.project import Project, open_project
from lorestudio.studio.tuning.expectations import Expectation, ReplyMark, Should, answered
from lorestudio.studio.tuning.trials import TuningTrial, trial_of

NOTES = {
    "Lamp.md": "keys: [lamp, lantern]\npriority: 10",
    "Oil.md": "keys: [oil]\npriority: 20",
    "Gull.md": "keys: [gull]\npriority: 30\ncooldown: 2",
}
NOISE = tuple(f"Noise {number}.md" for number in range(5))
TURNS = 40


def text_of(front: str) -> str:
    return f"---\ntags: [lorebook]\n{front}\n---\n{'Word word word. ' * 20}\n"


def make_world(folder: Path) -> Project:
    """The lamp is spoken of in every third question, the rest of the time of nothing; the noise is always there."""
    folder.mkdir(parents=True)
    for name, front in {**NOTES, **dict.fromkeys(NOISE, "keys: [nothing]\npriority: 90")}.items():
        (folder / name).write_text(text_of(front), encoding="utf-8")
    said = ["nothing but a lamp and oil", "nothing", "nothing, a gull"]
    lines = [f"Wren: {said[turn % 3]} {turn}\nAnn: Yes, {turn}." for turn in range(TURNS)]
    chat = folder.parent / "story.txt"
    chat.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_project([folder], chat)


LAMP = (Expectation(Should.IN, ("Lamp.md",)), Expectation(Should.OUT, ("Gull.md",), whenever="oil"))


def lamp_trial(project: Project, *over: str) -> TuningTrial:
    """What is expected can be reached: the lamp is always in where one looks six messages back."""
    return trial_of([project], candidate("deeplore"), LAMP, over or ("scanDepth=1..8", "maxTokensBudget=100..900/100"))


def noise_trial(project: Project) -> TuningTrial:
    """What is expected of the noise is drawn by lot for every reply: nothing that was learnt holds elsewhere."""
    chance = random.Random(3)  # no secret
    chat = project.chat
    assert chat is not None
    expected = [
        Expectation(chance.choice([Should.IN, Should.OUT]), (name,), reply=ReplyMark("story", place, mark))
        for place in chat.replies
        if (mark := answered(chat, place))
        for name in NOISE
    ]
    over = [f"{name}:keys" for name in NOISE]
    return trial_of([project], candidate("deeplore"), expected, over)
