"""A chat endpoint that stops in the middle of an answer until a test lets it go on."""

from __future__ import annotations

import contextlib
import socket
import threading

from tests import fault_server

PIECES_BEFORE_THE_STOP = 6
STEP_S = 0.02


class HeldEndpoint(fault_server.FaultServer):
    """Plays all stages at once; while it is held, the main agent's answers stop halfway."""

    def __init__(self):
        super().__init__()
        self._open = threading.Event()
        self._open.set()
        self._http.RequestHandlerClass = type("Handler", (_Handler,), {"owner": self})

    def hold(self):
        self._open.clear()

    def release(self):
        self._open.set()

    def is_held(self):
        return not self._open.is_set() and not self.is_closing.is_set()


class _Handler(fault_server._Handler):
    def _stream(self, deltas, reason, body):
        tools = {tool["function"]["name"] for tool in body.get("tools", ())}
        self._pieces_left = PIECES_BEFORE_THE_STOP if "research" in tools else None
        super()._stream(deltas, reason, body)

    def _event(self, event):
        if getattr(self, "_pieces_left", None) is not None:
            self._pieces_left -= 1
            if self._pieces_left < 0:
                self._wait_while_held()
        super()._event(event)

    def _wait_while_held(self):
        """Wait until the test or the client ends it; a client that left is noted."""
        self.connection.settimeout(STEP_S)
        while self.owner.is_held():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1, socket.MSG_PEEK):
                    raise BrokenPipeError
        self.connection.settimeout(None)
