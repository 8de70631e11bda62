"""What all tests share: live tests are left out unless they are asked for."""

import pytest
from django.conf import settings


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked `live` unless KBQA_RUN_LIVE_TESTS=1."""
    if settings.ENV.run_live_tests:
        return
    live = [item for item in items if item.get_closest_marker("live")]
    config.hook.pytest_deselected(items=live)
    items[:] = [item for item in items if item not in live]
