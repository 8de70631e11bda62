"""How the vector owner and its clients talk: frames on a private unix socket.

A frame is a JSON header and a block of float32 bytes. Nothing is unpickled, the socket file is
open to this user only, and both sides prove that they know the key of the data folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import struct
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    Frame = tuple[dict[str, Any], bytes]

SOCKET_NAME = "vectors.sock"
SOCKET_PATH_MAX_BYTES = 100  # sun_path holds 104 bytes on macOS, 108 on Linux


def socket_path() -> Path:
    """Return where the owner of this data folder listens.

    That is in the data folder, or in a private directory for temporary files when the path would
    be too long for a unix socket.

    Raises:
        PermissionError: that private directory belongs to somebody else.
    """
    path = Path(settings.DATA_DIR) / SOCKET_NAME
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(settings.DATA_DIR)).hexdigest()[:16]
    return _private_directory(f"kbqa-{os.getuid()}-{digest}") / SOCKET_NAME


def _private_directory(name: str) -> Path:
    directory = Path(tempfile.gettempdir()) / name
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{directory} is not a private directory of this user")
    return directory


def auth_key() -> bytes:
    """Return the key that owner and clients of this data folder share."""
    return salted_hmac("kbqa.vectors", str(settings.DATA_DIR), algorithm="sha256").digest()


class PatientConnection(Connection):
    """A connection whose reads and writes end with TimeoutError at `deadline` (monotonic s)."""

    deadline = float("inf")

    def recv_bytes(self, maxlength: int | None = None) -> bytes:
        """Return the next message."""
        if not self.poll(max(0.0, self.deadline - time.monotonic())):
            raise TimeoutError
        return super().recv_bytes(maxlength)


def connect(path: Path, *, timeout_s: float) -> PatientConnection:
    """Return a connection to the socket at `path`, not yet authenticated.

    Raises:
        OSError: nobody listens there, or not in time.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(timeout_s)
        client.connect(os.fspath(path))
        client.settimeout(None)
        # The kernel's time-outs end a call that stops in the middle of a message.
        seconds = struct.pack("ll", int(timeout_s), int(timeout_s % 1 * 1e6))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, seconds)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)
        connection = PatientConnection(client.detach())
    connection.deadline = time.monotonic() + timeout_s
    return connection


def send_frame(connection: Connection, header: dict[str, Any], block: bytes = b"") -> None:
    """Send one frame."""
    connection.send_bytes(json.dumps(header).encode())
    connection.send_bytes(block)


def receive_frame(connection: Connection) -> Frame:
    """Return the next frame.

    Raises:
        EOFError: the other side closed the connection.
    """
    header = json.loads(connection.recv_bytes())
    return header, connection.recv_bytes()
