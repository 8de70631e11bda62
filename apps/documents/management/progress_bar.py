"""The progress bar of the commands that index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from apps.documents.indexing.completion import complete

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID


def show_completion(document_ids: Collection[UUID]) -> None:
    """Show a bar until the documents are indexed or failed; raises like `complete`."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=len(document_ids))
        for standing in complete(document_ids):
            progress.update(bar, completed=standing.done, description=escape(standing.current))
