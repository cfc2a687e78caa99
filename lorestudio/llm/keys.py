"""Keys: from the keyring of the operating system or from an environment variable, and nowhere else.

A keyring may ask the person to unlock it, so everything here may wait; call it from a worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from lorestudio.llm.errors import ErrorKind, LlmError
from lorestudio.llm.profiles import KeySource, Profile
from lorestudio.llm.redaction import Secret

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_Answer = TypeVar("_Answer")

SERVICE: Final = "lorestudio"

_USE_VARIABLE: Final = "Or let the profile take the key from an environment variable."


class Keys:
    """Reads and keeps the keys of profiles.

    Every method raises LlmError with the kind `no_key` and a sentence that says what to do; no message holds a key.
    `backend` is the operating system's keyring and `environment` the process's variables unless given.
    """

    def __init__(self, backend: KeyringBackend | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._backend = backend
        self._environment = os.environ if environment is None else environment

    def read(self, profile: Profile) -> Secret | None:
        """The profile's key; None for a profile that needs none."""
        if profile.key_source == KeySource.NONE:
            return None
        if profile.key_source == KeySource.ENVIRONMENT:
            return _usable(
                self._environment.get(profile.key_variable),
                f"Set the environment variable {profile.key_variable} and start lorestudio again, "
                "or store the key in the keyring.",
            )
        key = self._ask(lambda backend: backend.get_password(SERVICE, profile.name))
        return _usable(key, f'Enter the key of the profile "{profile.name}". {_USE_VARIABLE}')

    def check(self) -> None:
        """Whether there is a keyring that keeps keys and can be asked; says what to do where there is none."""
        self._ask(lambda backend: backend.get_password(SERVICE, ""))

    def store(self, profile_name: str, key: str) -> None:
        """Keep `key` for the profile of that name, in place of an earlier one."""
        secret = _usable(key, "Enter a key.").reveal()

        def keep(backend: KeyringBackend) -> str | None:
            backend.set_password(SERVICE, profile_name, secret)
            return backend.get_password(SERVICE, profile_name)

        # Some backends accept everything and keep nothing.
        if self._ask(keep) != secret:
            raise _no_key(f"The keyring did not keep it. Check the keyring's settings. {_USE_VARIABLE}")

    def delete(self, profile_name: str) -> None:
        """Forget the profile's key; it is no error when there is none."""

        def forget(backend: KeyringBackend) -> None:
            if backend.get_password(SERVICE, profile_name) is not None:
                backend.delete_password(SERVICE, profile_name)

        self._ask(forget)

    def _ask(self, question: Callable[[KeyringBackend], _Answer]) -> _Answer:
        import keyring  # noqa: PLC0415  # hardly anything that is begun asks for a key
        from keyring.errors import KeyringLocked, NoKeyringError, PasswordDeleteError  # noqa: PLC0415  # as above

        problem = ""
        try:
            backend = self._backend or keyring.get_keyring()
            if any(type(part).__name__.lower().startswith("plaintext") for part in _parts(backend)):
                problem = f"The keyring would write it into a plain file. Set up a real keyring. {_USE_VARIABLE}"
            else:
                return question(backend)
        except NoKeyringError:
            problem = (
                "This system has no keyring. Install one (on Linux GNOME Keyring or KWallet, running in your session). "
                + _USE_VARIABLE
            )
        except KeyringLocked:
            problem = f"The keyring is locked. Unlock it and try again. {_USE_VARIABLE}"
        except PasswordDeleteError:
            problem = "The keyring did not remove it. Remove it with the keyring's own program."
        except Exception as error:  # noqa: BLE001  # keyrings are of many makers, and of their own errors
            problem = f"The keyring failed ({type(error).__name__}). Check that it runs. {_USE_VARIABLE}"
        # Raised here, so that what the backend said is not attached to it.
        raise _no_key(problem)


def _no_key(advice: str) -> LlmError:
    return LlmError(ErrorKind.NO_KEY, advice, advice=advice)


def _usable(key: str | None, advice: str) -> Secret:
    """The key without blanks around it; a header takes printable ASCII only."""
    text = (key or "").strip()
    if not text:
        raise _no_key(advice)
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise _no_key("It holds blanks or characters that no key has. Copy it again from the provider's page.")
    return Secret(text)


def _parts(backend: KeyringBackend) -> Iterable[object]:
    """The backend and, where it passes on to others, those."""
    yield backend
    chained = getattr(backend, "backends", None)
    if isinstance(chained, list | tuple):
        yield from chained
