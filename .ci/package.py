"""The program as one folder that needs no Python: `pip install ".[package]" && python .ci/package.py`.

Leaves dist/lorestudio with the program, and in share/ the desktop entry and the icon; `sh dist/lorestudio/register.sh`
enters it into the desktop's menu, with the files that it opens. What Qt brings and the window never uses is left out.
The folder is then tried: its version, its doctor, and a picture of the demo.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DIST: Final = ROOT / "dist"
PROGRAM: Final = DIST / "lorestudio"

LEFT_OUT: Final = (
    "tkinter", "pydoc_data", "tokenizers", "huggingface_hub", "scipy", "matplotlib", "IPython", "pytest", "hypothesis",
    "mypy", "ast_serialize", "setuptools", "pip",
)  # fmt: skip
"""Modules that are never imported here, or belong to the extra `tokenizers`, which is installed with Python."""

UNUSED: Final = (
    "libQt6Pdf*", "libQt6Qml*", "libQt6Quick*", "libQt6VirtualKeyboard*", "libqtvirtualkeyboardplugin*", "libqpdf*",
    "libQt6Sql*", "libQt6Test*", "libqtiff*", "libqwebp*", "libqtga*", "libqwbmp*", "libqicns*", "qt_*.qm",
    "qtbase_*.qm", "allkeys-[5-9]*", "libqeglfs*", "libqlinuxfb*", "libqvnc*", "libqvkkhrdisplay*", "libQt6EglFS*",
    "libQt6WaylandCompositor*",
)  # fmt: skip
"""Files of Qt for what the window does not have: PDF, QML, databases, rare pictures, screens without a desktop. And
tables of older versions of Unicode."""

FOUND_AT_RUN_TIME: Final = ("tiktoken", "tiktoken_ext.openai_public", "sentencepiece", "pyuca")
"""What the program imports by a name in a text."""

REGISTER: Final = """#!/bin/sh
# Enter this folder's lorestudio into the menu of the person's desktop, with its icon and what it opens.
set -e
here=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
mkdir -p "$data/applications" "$data/icons/hicolor/scalable/apps"
cp "$here/share/lorestudio.svg" "$data/icons/hicolor/scalable/apps/"
sed -e "s|^Exec=lorestudio|Exec=\\"$here/lorestudio\\"|" -e "s|^TryExec=.*|TryExec=$here/lorestudio|" \\
    "$here/share/lorestudio.desktop" >"$data/applications/lorestudio.desktop"
if command -v update-desktop-database >/dev/null; then update-desktop-database "$data/applications"; fi
"""


def run(*command: object) -> None:
    """Carry out a command; its failure is this program's."""
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)  # noqa: S603  # the commands are written here


def build(work: Path) -> None:
    """Make the folder."""
    run(
        sys.executable, "-m", "PyInstaller", ROOT / "lorestudio" / "__main__.py", "--name", "lorestudio", "--noconfirm",
        "--onedir", "--distpath", DIST, "--workpath", work, "--specpath", work, "--log-level", "WARN",
        "--paths", ROOT, "--collect-submodules", "lorestudio", "--recursive-copy-metadata", "lorestudio",
        "--add-data", f"{ROOT / 'resources'}:lorestudio/resources", "--collect-data", "pyuca",
        *(f"--hidden-import={name}" for name in FOUND_AT_RUN_TIME), *(f"--exclude-module={name}" for name in LEFT_OUT),
    )  # fmt: skip
    for pattern in UNUSED:
        for path in PROGRAM.rglob(pattern):
            path.unlink()


def complete() -> None:
    """Put in what a desktop wants to know, and the licence."""
    share = PROGRAM / "share"
    share.mkdir()
    shutil.copy(ROOT / "resources" / "desktop" / "lorestudio.desktop", share)
    shutil.copy(ROOT / "resources" / "icons" / "lorestudio.svg", share)
    shutil.copy(ROOT / "LICENSE", PROGRAM)
    register = PROGRAM / "register.sh"
    register.write_text(REGISTER, encoding="utf-8")
    register.chmod(0o755)


def tried(arguments: Sequence[str], folder: Path) -> str:
    """What the program in the folder says, in a home of its own and far from this source tree."""
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen", "LANG": "C.UTF-8"}
    done = subprocess.run(  # noqa: S603  # the program that was just made
        [PROGRAM / "lorestudio", *arguments], cwd=folder, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"lorestudio {' '.join(arguments)}: code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Make it, try it, and say how large it is."""
    with tempfile.TemporaryDirectory() as work:
        build(Path(work) / "build")
        complete()
        told = tried(["--version"], Path(work))
        tried(["doctor"], Path(work))
        tried(["demo", "--screenshot", "shot.png"], Path(work))
        if not (Path(work) / "shot.png").stat().st_size:
            raise SystemExit("the picture of the demo is empty")
    size = sum(path.stat().st_size for path in PROGRAM.rglob("*") if path.is_file() and not path.is_symlink())
    sys.stdout.write(f"{told.strip()} is in {PROGRAM.relative_to(ROOT)}: {size / 1e6:.0f} MB\n")


if __name__ == "__main__":
    main()
