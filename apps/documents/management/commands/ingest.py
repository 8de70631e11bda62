"""Adds files and folders to the knowledge base, beside a running server or without one."""

from __future__ import annotations

import mimetypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from apps.accounts.local_user import is_local_mode, local_user
from apps.accounts.models import User
from apps.core.errors import AppError
from apps.documents.indexing.recovery import recover
from apps.documents.kinds.registry import kind_of_name
from apps.documents.management.progress_bar import show_completion
from apps.documents.models import Document, DocumentStatus
from apps.documents.uploads.accept import accept_upload
from apps.documents.uploads.validation import unsupported_type

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterator
    from uuid import UUID


class Command(BaseCommand):
    """Index files; in folders, those of a supported type, at any depth."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the paths and options."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--owner", help="user name of the owner (needed with KBQA_AUTH=login)")
        parser.add_argument("--no-wait", action="store_true", help="only queue the documents")

    def handle(
        self, *_args: Any, paths: list[Path], owner: str | None, no_wait: bool, **_options: Any
    ) -> None:
        """Upload, wait, and sum up; exit code 1 when a file was refused or failed."""
        # Path.exists raises for a name that is too long and in a folder that is locked.
        missing = [str(path) for path in paths if not os.path.exists(path)]  # noqa: PTH110
        if missing:
            raise CommandError(_("找不到：{paths}").format(paths=", ".join(missing)))
        recover()
        failures: list[tuple[str, str]] = []
        accepted = self._upload(paths, _owner(owner), failures)
        if accepted and not no_wait:
            try:
                show_completion(accepted)
            except AppError as error:
                raise CommandError(error.text) from error
            failures += _failed(accepted)
        self._sum_up(len(accepted), failures)

    def _upload(
        self, paths: list[Path], owner: User, failures: list[tuple[str, str]]
    ) -> list[UUID]:
        accepted: list[UUID] = []
        for path in _files(paths, failures):
            try:
                accepted.append(_accept(path, owner).pk)
            except AppError as error:
                failures.append((str(path), error.text))
            except OSError as error:
                failures.append((str(path), error.strerror or type(error).__name__))
        return accepted

    def _sum_up(self, accepted: int, failures: list[tuple[str, str]]) -> None:
        for name, reason in failures:
            self.stderr.write(f"{_printable(name)}: {reason}")
        summary = _("已接收 {accepted} 个文件，{failed} 个失败。")
        self.stdout.write(summary.format(accepted=accepted, failed=len(failures)))
        if failures:
            sys.exit(1)


def _owner(username: str | None) -> User:
    if username is None:
        if is_local_mode():
            return local_user()
        raise CommandError(_("登录模式下必须用 --owner 指定文档的所有者。"))
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist as error:
        raise CommandError(_("没有用户 {name}。").format(name=username)) from error


def _files(paths: list[Path], failures: list[tuple[str, str]]) -> Iterator[Path]:
    """Yield the files to add; a folder that cannot be read is a failure."""

    def fail(error: OSError) -> None:
        failures.append((str(error.filename), error.strerror or type(error).__name__))

    for path in paths:
        if path.is_dir():
            found = (
                Path(top, name)
                for top, _dirs, names in os.walk(path, onerror=fail)
                for name in names
            )
            yield from sorted(item for item in found if kind_of_name(item.suffix))
        else:
            yield path


def _accept(path: Path, owner: User) -> Document:
    content_type, _encoding = mimetypes.guess_type(path.name)
    if not path.is_file():  # opening a pipe would wait for its writer
        raise unsupported_type()
    with path.open("rb") as file:
        upload = UploadedFile(
            file=file, name=path.name, content_type=content_type, size=path.stat().st_size
        )
        return accept_upload(owner, upload)


def _failed(document_ids: list[UUID]) -> list[tuple[str, str]]:
    failed = Document.objects.filter(pk__in=document_ids, status=DocumentStatus.FAILED)
    return [(document.filename, document.error_message or "") for document in failed]


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
