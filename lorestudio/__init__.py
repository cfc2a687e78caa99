"""lorestudio: see, for every turn of a chat, which lore reached the prompt, which did not, and why."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("lorestudio")
except PackageNotFoundError:  # running from a source tree that was never installed
    __version__ = "0.0.0"

__all__ = ["__version__"]
