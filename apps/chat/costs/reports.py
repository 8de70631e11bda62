"""Reads what model calls cost: one session's calls, or one person's sums by day, model and so on.

Changes nothing. Deleted sessions count too, since their calls were paid. Costs of indexing are not
here: they are on the index jobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import TruncDate

from apps.accounts.profiles import read_person
from apps.chat.costs.cost_schemas import CostSumOut
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
SUMS = {
    "call_count": Count("id"),
    "input_sum": Sum("input_tokens"),
    "cached_sum": Sum("cached_tokens"),
    "output_sum": Sum("output_tokens"),
    "cost_sum": Sum("cost"),
    "unpriced_count": Count("id", filter=Q(cost=None)),
}


def zone_name(user: User) -> str:
    """Return the name of the time zone that cuts a person's days."""
    return read_person(user).preferences.timezone


def cost_sums(
    user: User, group_by: GroupBy, *, first_day: date | None = None, last_day: date | None = None
) -> list[CostSumOut]:
    """Return the sums of a person's calls, in the order of their keys.

    Days are those of the person's time zone, both ends included. A call belongs to the day on
    which it began. Calls that still run do not count.

    Raises:
        ValidationFailedError: the last day is before the first.
    """
    if first_day and last_day and last_day < first_day:
        raise ValidationFailedError(detail="to: before from")
    calls = _calls_of(user, first_day, last_day)
    rows = calls.order_by().values(key=F(GROUP_FIELDS[group_by])).annotate(**SUMS)
    forms = [{**row, "key": str(row["key"])} for row in rows.order_by("key")]
    return [CostSumOut.model_validate(form) for form in forms]


def _calls_of(user: User, first_day: date | None, last_day: date | None) -> QuerySet[ModelCall]:
    zone = ZoneInfo(zone_name(user))
    calls = (
        ModelCall.objects.filter(session__user=user)
        .exclude(status=CallStatus.RUNNING)
        .annotate(day=TruncDate("started_at", tzinfo=zone))
    )
    if first_day is not None:
        calls = calls.filter(day__gte=first_day)
    if last_day is not None:
        calls = calls.filter(day__lte=last_day)
    return calls
