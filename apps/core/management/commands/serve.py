"""manage.py serve: the whole server in one command.

Refuses, each with one line and exit code 1, what cannot work: a mistake in a configuration file, a
host that other machines reach while there is no login, a data folder that is served already, a
port in use. Then it becomes the
supervisor (`apps.core.processes.supervisor`), which is small because it does without Django.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.core.processes.configuration import refuse_wrong_configuration
from apps.core.processes.instance_lock import take_lock

if TYPE_CHECKING:
    from argparse import ArgumentParser

BACKLOG = 256
EARLIER_CHILDREN_S = 10.0  # children of a killed server end within their grace, see parent_watch


class Command(BaseCommand):
    """Serve pages and API, run the indexing queue and own the vectors until Ctrl-C."""

    help = "Run the server: web, worker and vector store, until Ctrl-C."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare host and port."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="0 takes any free port")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Check, then turn into the supervisor; does not return."""
        for name in settings.ENV.unknown_variables:
            self.stderr.write(f"Configuration: {name} is not known and has no effect")
        refuse_wrong_configuration()
        address = loopback_or_any(options["host"])
        lock_fd, children_lock_fd = lock_data_folder()
        listener = listen(address, options["port"])
        arguments = supervisor_arguments(listener)
        arguments += ["--lock-fd", str(lock_fd), "--children-lock-fd", str(children_lock_fd)]
        inherited = [lock_fd, children_lock_fd]
        if listener.family == socket.AF_INET:
            inherited.append(listener.fileno())
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        os.chdir(settings.BASE_DIR)
        command = [sys.executable, "-m", "apps.core.processes.supervisor", *arguments]
        os.execve(sys.executable, command, settings.ENV.child_environment())  # noqa: S606


def loopback_or_any(host: str) -> str:
    """Return the address to listen on.

    Raises:
        CommandError: for a name that is no address, and without login for all but loopback.
    """
    text = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise CommandError(f"--host {host}: write an IP address or localhost") from None
    if settings.LOCAL_MODE and not address.is_loopback:
        raise CommandError(
            f"--host {host}: without login only this machine may be served; "
            "set KBQA_AUTH=login to serve others"
        )
    return text


def lock_data_folder() -> tuple[int, int]:
    """Return the descriptors that make this the only server of the data folder.

    The second one is inherited by all children: it is free once those of an earlier server that
    was killed are gone, and with them the vector folder and the queue.

    Raises:
        CommandError: when another server holds the folder.
    """
    lock = take_lock(settings.DATA_DIR / "serve.lock")
    if lock is None:
        raise CommandError(f"{settings.DATA_DIR} is served already by another process")
    children = take_lock(settings.DATA_DIR / "children.lock", wait_s=EARLIER_CHILDREN_S)
    if children is None:
        raise CommandError(f"processes of an earlier server still use {settings.DATA_DIR}")
    return lock, children


def listen(address: str, port: int) -> socket.socket:
    """Return the listening socket, so that the port is ours before anything starts.

    Raises:
        CommandError: when the port is in use or the address is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else error
        raise CommandError(f"cannot listen on {address} port {port}: {reason}") from None


def supervisor_arguments(listener: socket.socket) -> list[str]:
    """Return the arguments that describe where the web process serves.

    The web process inherits the socket, so connections made during its restart wait for it.
    Twisted adopts IPv4 sockets only: for IPv6 it opens its own, after ours has closed by itself.
    """
    host, port = listener.getsockname()[:2]
    arguments = ["--remote-vectors"] if settings.ENV.milvus_is_remote else []
    if listener.family == socket.AF_INET:
        reachable = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - compared only
        number = str(listener.fileno())
        arguments += ["--listen-fd", number, "--endpoint", f"fd:fileno={number}"]
        return [*arguments, "--url", f"http://{reachable}:{port}"]
    interface = host.replace(":", r"\:")
    reachable = "::1" if host == "::" else host
    arguments += ["--endpoint", f"tcp:port={port}:interface={interface}"]
    return [*arguments, "--url", f"http://[{reachable}]:{port}"]
