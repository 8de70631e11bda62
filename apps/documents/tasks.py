"""What the worker runs. A task is a wake-up call: what is to be done stands in the job rows.

Huey loses the running task of a killed worker and may hold a task twice, so neither matters: one
task indexes everything that is queued, and does nothing while another one does.
"""

from __future__ import annotations

import logging

from huey import crontab
from huey.contrib.djhuey import HUEY, db_periodic_task, db_task

from apps.documents.indexing import recovery, run_jobs
from apps.documents.models import IndexJob

logger = logging.getLogger(__name__)


@db_task()  # type: ignore[untyped-decorator]
def index_documents() -> None:
    """Index every queued document, one after the other."""
    run_jobs.run_queued_jobs()


@db_periodic_task(crontab(minute="*"))  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Settle what crashes left behind, and see that queued jobs are run; also at start."""
    recovery.recover()
    recovery.recover_vectors()
    if IndexJob.objects.waiting().exists() and not HUEY.pending_count():
        index_documents()
