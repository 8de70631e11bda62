"""Makes all vectors anew from the stored originals, after a change of the embedding settings."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from apps.core.errors import AppError
from apps.documents.indexing.recovery import recover
from apps.documents.indexing.reindexing import queue_reindexing
from apps.documents.management.progress_bar import show_completion
from apps.documents.models import Document


class Command(BaseCommand):
    """Rebuild the index; unchanged chunks keep their ids, so that old citations stay valid."""

    help = __doc__

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Queue documents, wait, and name what failed; may be interrupted and repeated.

        Failed documents are taken in too, unless the file itself is at fault: these stay as they
        are and are named. Exit code 1 when a document of this run failed.
        """
        recover()
        hopeless = [_reason(document) for document in Document.objects.hopeless()]
        document_ids = queue_reindexing()
        try:
            show_completion(document_ids)
        except AppError as error:
            raise CommandError(error.text) from error
        failed = list(Document.objects.failed().filter(pk__in=document_ids))
        for document in failed:
            self.stderr.write(_reason(document))
        if hopeless:
            self.stderr.write(_("没有重试，因为问题在文件本身："))
        for line in hopeless:
            self.stderr.write(line)
        summary = _("已重建 {done} 个文档的索引，{failed} 个失败。")
        self.stdout.write(summary.format(done=len(document_ids) - len(failed), failed=len(failed)))
        if failed:
            sys.exit(1)


def _reason(document: Document) -> str:
    return f"{document.filename}: {document.error_message}"
