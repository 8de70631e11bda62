"""What all tests share: live tests are left out unless they are asked for."""

import hypothesis
import pytest
from django.conf import settings

# The same examples each time, and no limits of time: a busy machine is no defect.
hypothesis.settings.register_profile(
    "kbqa",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("kbqa")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked `live` unless KBQA_RUN_LIVE_TESTS=1."""
    if settings.ENV.run_live_tests:
        return
    live = [item for item in items if item.get_closest_marker("live")]
    config.hook.pytest_deselected(items=live)
    items[:] = [item for item in items if item not in live]
