"""The signing key: taken from the environment or made once and kept in the data folder."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from kbqa_project.env import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from kbqa_project.env import Environment

KEY_FILE = "secret_key"


def private_folder(path: Path) -> Path:
    """Make the data folder, open to its owner only, unless it is there; return it.

    Raises:
        ConfigurationError: it cannot be made or written to.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ConfigurationError([f"KBQA_DATA_DIR: cannot make {path} ({reason})"]) from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise ConfigurationError([f"KBQA_DATA_DIR: cannot write to {path}"])
    return path


def secret_key(environment: Environment) -> str:
    """Return KBQA_SECRET_KEY, or the key of `<data>/secret_key` (made with mode 0600 if absent).

    Two processes that start together agree on one key: the file appears whole, by a link that
    fails when it is there already.

    Raises:
        ConfigurationError: the file holds no key.
    """
    if environment.secret_key is not None:
        return environment.secret_key.get_secret_value()
    path = environment.root / KEY_FILE
    if not path.exists():
        private_folder(environment.root)
        draft = path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return _kept_key(path)


def _kept_key(path: Path) -> str:
    try:
        key = path.read_text().strip()
    except (OSError, ValueError):
        key = ""
    if not key:
        raise ConfigurationError([f"{path}: empty or unreadable; delete it to get a new key"])
    return key
