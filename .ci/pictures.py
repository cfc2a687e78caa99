"""Take the pictures of the documents from the real window, drawn without a display.

Usage: python .ci/pictures.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lorestudio.settings.deeplore import declarations
from lorestudio.studio.project.project import demo_project
from lorestudio.ui.shell.app import render_window
from lorestudio.ui.shell.main_window import MainWindow

DOCS = Path(__file__).resolve().parents[1] / "resources" / "docs"
MENDED = (("places/Café Brouillard.md", ", the]", "]"), ("items/Storm Glass.md", "era: before the flood\n", ""))
"""What the tutorial's second and third step change in the practice copy."""


def show_expectations(window: MainWindow) -> None:
    """The first step of the tutorial in tuning.md."""
    window.context.show("expectations")


def try_a_budget(window: MainWindow) -> None:
    """Its fourth, after the two before it: what a larger budget would do to every reply."""
    budget = next(each for each in declarations() if each.name == "max_tokens_budget")
    window.context.show("settings")
    window.features.settings.pane.trial.move(budget, 1300)
    window.features.tuning.show_change()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        demo = demo_project(Path(folder) / "demo")
        for theme in ("light", "dark"):
            render_window(demo, DOCS / f"window-{theme}.png", theme=theme)
        render_window(None, DOCS / "start.png")
        broken = demo_project(Path(folder) / "practice", broken=True)
        render_window(broken, DOCS / "tuning-expectations.png", (1280, 720), then=show_expectations)
        for name, old, new in MENDED:
            note = broken.roots[0] / name
            note.write_text(note.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        render_window(broken.reloaded(), DOCS / "tuning-change.png", (1280, 720), then=try_a_budget)
