"""`manage.py ask "question"`: the answer as it is written, then its sources.

Ends with the session's id on stderr, for `--session`; the log's warnings show with `-v 2` only.
Works beside a running server and without one: then the owner of the vectors runs for as long as
the command does. The question and the answer are stored in a session like any other.

Exit codes: 0 answered, 1 failed or refused input, 3 the documents do not hold the answer.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import unicodedata
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _

from apps.accounts.local_user import is_local_mode, local_user
from apps.accounts.models import User
from apps.agents.events import RunFinished, StageStarted, TokenProduced
from apps.chat.errors import RunStoppedError
from apps.chat.models import AgentChatSession
from apps.chat.runs import answering, running
from apps.chat.sessions import create_session
from apps.chat.turns.questions import clean_question
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved
from apps.core.errors import AppError
from apps.core.processes.configuration import refuse_wrong_configuration
from apps.core.text.graphemes import shortened
from apps.documents.vectors.access import ready_store
from apps.documents.vectors.owner import running_owner

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Iterator

    from apps.chat.runs.running import Run
    from apps.chat.turns.notes import Note
    from apps.core.passages import Source

EXIT_FAILED = 1
EXIT_NO_EVIDENCE = 3
STORE_WAIT_S = 10.0
FIRST_WORDS_CHARS = 40
VERBOSE = 2  # of --verbosity
SILENT_S = 3600.0  # a terminal needs no heartbeat


class Command(BaseCommand):
    """Ask one question and print the answer with its sources."""

    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the question and where it belongs."""
        parser.add_argument("question")
        parser.add_argument("--session", type=UUID, help="id of the session to continue")
        parser.add_argument("--owner", help="user name (needed with KBQA_AUTH=login)")

    def handle(
        self,
        *_args: Any,
        question: str,
        session: UUID | None,
        owner: str | None,
        **options: Any,
    ) -> None:
        """Answer; the exit code tells how it went."""
        refuse_wrong_configuration()
        _migrate_if_needed()
        person = _person(owner)
        try:
            clean_question(question, max_chars=settings.ENV.max_question_chars)
            chosen = _session_of(person, session)
            with _quiet_log(options["verbosity"]), running_owner():
                ready_store(unavailable_s=STORE_WAIT_S)
                code = asyncio.run(self._answer(chosen, question))
        except AppError as error:
            raise CommandError(error.text) from error
        self.stderr.write(_("继续提问：--session {id}").format(id=chosen.id))
        if code:
            sys.exit(code)

    async def _answer(self, session: AgentChatSession, question: str) -> int:
        turn = await answering.ask(session, question)
        run = running.find(turn.run_id)
        if run is None:
            raise CommandError(_("回答没有开始。"))
        try:
            return await self._print_events(run)
        except asyncio.CancelledError:
            run.cancel(RunStoppedError())
            await _read_to_end(run)
            raise

    async def _print_events(self, run: Run) -> int:
        finished: RunFinished | None = None
        async with aclosing(run.events(0, grace_s=SILENT_S, heartbeat_s=SILENT_S)) as events:
            async for numbered in events:
                match numbered and numbered.event:
                    case TokenProduced(text=text):
                        self.stdout.write(_printable(text), ending="")
                        self.stdout.flush()
                    case StageStarted(stage="execution") if self.stderr.isatty():
                        self.stderr.write(_("检索资料…"))
                    case RunFinished() as finished:
                        pass
                    case AnswerSaved(notes=notes):
                        return self._print_end(finished, notes)
                    case AnswerFailed(message=message, code=code):
                        self.stderr.write(f"\n{message} ({code})")
        return EXIT_FAILED

    def _print_end(self, finished: RunFinished | None, notes: Iterable[Note]) -> int:
        self.stdout.write("")
        for note in notes:
            self.stderr.write(note.message)
        if finished is None:
            return EXIT_FAILED
        cited = [source for source in finished.sources if source.label in finished.cited_labels]
        if cited:
            self.stdout.write("")
        for source in cited:
            self.stdout.write(_line_of(source))
        return EXIT_NO_EVIDENCE if finished.outcome == "insufficient_evidence" else 0


@contextmanager
def _quiet_log(verbosity: int) -> Iterator[None]:
    """Keep the log's warnings from the terminal: a failure is told once, in words for a person.

    What is logged as an error nobody foresaw, so it stays.
    """
    logging.disable(logging.NOTSET if verbosity >= VERBOSE else logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


async def _read_to_end(run: Run) -> None:
    async with aclosing(run.events(0, grace_s=SILENT_S, heartbeat_s=SILENT_S)) as events:
        async for _numbered in events:
            pass


def _line_of(source: Source) -> str:
    passage = source.passage
    place = (
        "" if passage.page_number is None else _("，第 {page} 页").format(page=passage.page_number)
    )
    told = passage.heading_path or _first_words(passage.content)
    return f"[{source.label}] {_printable(passage.filename)}{place} · {_printable(told)}"


def _first_words(text: str) -> str:
    return shortened(" ".join(text.split()), FIRST_WORDS_CHARS)


def _printable(text: str) -> str:
    """Return `text` without characters that steer a terminal."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"})


def _migrate_if_needed() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)


def _person(username: str | None) -> User:
    if username is None:
        if is_local_mode():
            return local_user()
        raise CommandError(_("登录模式下必须用 --owner 指定提问的用户。"))
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist as error:
        raise CommandError(_("没有用户 {name}。").format(name=username)) from error


def _session_of(user: User, session_id: UUID | None) -> AgentChatSession:
    if session_id is None:
        return create_session(user)
    try:
        return AgentChatSession.objects.of(user).get(id=session_id)
    except AgentChatSession.DoesNotExist as error:
        raise CommandError(_("没有会话 {id}。").format(id=session_id)) from error
