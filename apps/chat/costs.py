"""Reads what model calls cost: one session's calls, or one person's sums by day, model and so on.

Changes nothing. Deleted sessions count too, since their calls were paid. Costs of indexing are not
here: they are on the index jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from apps.chat.models import CallStatus, ModelCall
from apps.core.errors import ValidationFailedError

if TYPE_CHECKING:
    from datetime import date

    from django.db.models import QuerySet

    from apps.accounts.models import User

GroupBy = Literal["day", "model", "stage", "session"]

GROUP_FIELDS: dict[GroupBy, str] = {
    "day": "day",
    "model": "model_code",
    "stage": "stage",
    "session": "session_id",
}


@dataclass(frozen=True, slots=True)
class CostSum:
    """Calls of one group together; `cost` is in micro-yuan and None when none has a price."""

    key: str
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: int | None
    unpriced_calls: int


def cost_sums(
    user: User, group_by: GroupBy, *, first_day: date | None = None, last_day: date | None = None
) -> list[CostSum]:
    """Return the sums of a person's calls, in the order of their keys.

    Days are those of the active time zone, both ends included. A call belongs to the day on which
    it began. Calls that still run do not count.

    Raises:
        ValidationFailedError: the last day is before the first.
    """
    if first_day and last_day and last_day < first_day:
        raise ValidationFailedError(detail="to: before from")
    calls = _calls_of(user).annotate(
        day=TruncDate("started_at", tzinfo=timezone.get_current_timezone())
    )
    if first_day is not None:
        calls = calls.filter(day__gte=first_day)
    if last_day is not None:
        calls = calls.filter(day__lte=last_day)
    rows = (
        calls.order_by()
        .values(key=F(GROUP_FIELDS[group_by]))
        .annotate(
            call_count=Count("id"),
            input_sum=Sum("input_tokens"),
            cached_sum=Sum("cached_tokens"),
            output_sum=Sum("output_tokens"),
            cost_sum=Sum("cost"),
            unpriced=Count("id", filter=Q(cost=None)),
        )
        .order_by("key")
    )
    return [
        CostSum(
            key=str(row["key"]),
            calls=row["call_count"],
            input_tokens=row["input_sum"],
            cached_tokens=row["cached_sum"],
            output_tokens=row["output_sum"],
            cost=row["cost_sum"],
            unpriced_calls=row["unpriced"],
        )
        for row in rows
    ]


def _calls_of(user: User) -> QuerySet[ModelCall]:
    return ModelCall.objects.filter(session__user=user).exclude(status=CallStatus.RUNNING)
