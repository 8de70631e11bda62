"""How often and when a request to an endpoint is sent again (pure).

After 429, 5xx and broken connections only, see `vendor_errors.may_retry`; an answer whose first
token has arrived is never asked for again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`further_tries` after the first one; the delays double from `first_delay_s` on."""

    further_tries: int
    first_delay_s: float
    longest_delay_s: float

    def delay_s(self, attempt: int, asked_s: float | None) -> float:
        """Return the seconds before the try after `attempt` (0: the first).

        `asked_s` is what the endpoint asks for in Retry-After; it is cut to the longest delay.
        """
        spread = random.uniform(0.75, 1.25)  # noqa: S311 - no secret
        backed_off = self.first_delay_s * 2**attempt * spread
        return min(self.longest_delay_s, backed_off if asked_s is None else asked_s)
