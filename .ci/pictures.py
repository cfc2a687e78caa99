"""Take the pictures of the documents from the real window, drawn without a display.

Usage: python .ci/pictures.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lorestudio.studio.project.project import demo_project
from lorestudio.ui.shell.app import render_window

DOCS = Path(__file__).resolve().parents[1] / "resources" / "docs"

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        demo = demo_project(Path(folder) / "demo")
        for theme in ("light", "dark"):
            render_window(demo, DOCS / f"window-{theme}.png", theme=theme)
        render_window(None, DOCS / "start.png")
