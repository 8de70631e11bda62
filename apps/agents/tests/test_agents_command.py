"""`manage.py agents show` tells what is in force, on 80 columns and as JSON."""

from __future__ import annotations

import json
import unicodedata
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.agents.prompts import FLOW_ORDER, LANGUAGES, prompt_config
from kbqa_project import env


def shown(*options: str) -> str:
    out = StringIO()
    call_command("agents", "show", *options, stdout=out)
    return out.getvalue()


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_fits_a_terminal_and_holds_every_text(language: Any) -> None:
    text = shown("--language", language, "--prompts")
    assert max(columns(line) for line in text.splitlines()) <= 80
    flowing = "".join(text.split())
    loaded = prompt_config()
    for stage in FLOW_ORDER:
        agent, task = loaded.agent(stage), getattr(loaded.tasks, stage)
        texts = [agent.role, agent.goal, task.description]
        texts += [getattr(loaded.tools, name).description for name in agent.tools]
        for expected in [agent.name, *(part.render(language) for part in texts)]:
            assert "".join(expected.split()) in flowing


@pytest.mark.parametrize("language", LANGUAGES)
def test_prompts_are_those_of_a_run_with_their_places(language: Any) -> None:
    stages = json.loads(shown("--json", "--language", language))["stages"]
    assert [stage["stage"] for stage in stages] == list(FLOW_ORDER)
    for stage in stages:
        assert stage["prompt_files"] == [
            f"prompts/system.{language}.md",
            f"prompts/{stage['stage']}.{language}.md",
        ]
        assert "$profile" in stage["system_prompt"]
        assert "$task" not in stage["system_prompt"]
    assert "$max_searches" in stages[1]["system_prompt"]


def test_json_tells_agents_models_and_tools() -> None:
    stages = json.loads(shown("--json", "--language", "en"))["stages"]
    assert [(s["stage"], s["agent"], s["served_by"]["model"]) for s in stages] == [
        ("intent", "intent_agent", "extractive"),
        ("execution", "research_agent", "extractive"),
        ("organization", "main_agent", "extractive"),
    ]
    (tool,) = stages[1]["tools"]
    description = prompt_config().tools.search_knowledge_base.parameters["query"].description.en
    assert (tool["name"], tool["parameters"]["required"]) == ("search_knowledge_base", ["query"])
    assert tool["parameters"]["properties"]["query"] == {
        "description": description,
        "title": "Query",
        "type": "string",
    }


def test_json_tells_limits_and_policies() -> None:
    told = json.loads(shown("--json"))
    assert told["limits"] == {
        "searches": 3,
        "top_k": 5,
        "sources": 8,
        "evidence_threshold": 0.72,
        "history_messages": 20,
        "question_chars": 4000,
    }
    assert told["timeouts_s"] == {
        "connect": 5,
        "first_token": 30,
        "idle": 20,
        "run": 180,
        "embedding": 30,
    }
    rules = prompt_config().workflow.model_dump(mode="json", exclude={"stages"})
    assert (told["rules"], told["is_traced"]) == (rules, False)


def test_each_stage_names_its_provider_and_no_secret(settings: Any) -> None:
    settings.ENV = env.load(
        data_dir=settings.ENV.data_dir,
        chat_api_key="sk-never-shown",
        chat_base_url="https://user:never-shown@models.example:8443/path/v1",
        organization_model="deepseek-chat",
        deepseek_api_key="sk-never-shown",
        embedding_api_key="sk-never-shown",
        embedding_base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        evidence_threshold=0.4,
    )
    told = json.loads(shown("--json"))
    assert [stage["served_by"] for stage in told["stages"]] == [
        {"model": "qwen3.5-flash", "provider": "models.example"},
        {"model": "qwen3.5-flash", "provider": "models.example"},
        {"model": "deepseek-chat", "provider": "deepseek"},
    ]
    assert told["embedding"] == {"model": "text-embedding-v4", "provider": "qwen"}
    assert told["limits"]["evidence_threshold"] == 0.4
    for text in (shown(), json.dumps(told)):
        assert "never-shown" not in text
        assert "8443" not in text
