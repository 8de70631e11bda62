"""Fills a stage's system prompt for one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.prompts import blueprints

if TYPE_CHECKING:
    from apps.agents.events import Stage
    from apps.agents.run_context import RunContext


def stage_prompt(stage: Stage, run: RunContext) -> str:
    """Return the system prompt of `stage` in the asker's language, with the profile as data."""
    loaded = blueprints()
    texts = loaded.texts
    partial = texts.partial_rule_open if run.is_research_open else texts.partial_rule
    places: dict[Stage, dict[str, object]] = {
        "intent": {"product": loaded.direct_replies.product.render(run.user.language)},
        "execution": {"max_searches": run.limits.max_searches},
        "organization": {
            "marker": loaded.workflow.insufficient_marker,
            "partial_rule": partial.render(run.user.language),
        },
    }
    return loaded.system_prompt(
        stage, run.user.language, profile=run.user.profile_json, **places[stage]
    )
