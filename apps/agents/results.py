"""The result contracts of the three stages (002, section "输出契约")."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator


class IntentResult(BaseModel):
    """Where a message goes, and either the reply or the standalone question."""

    route: Literal["DIRECT_EXECUTION", "NEEDS_EXECUTION"]
    intent_summary: str
    assistant_text: str | None = None
    execution_brief: str | None = None
    safety_flags: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_payload(self) -> Self:
        if self.route == "DIRECT_EXECUTION" and not (self.assistant_text or "").strip():
            raise ValueError("assistant_text is required for DIRECT_EXECUTION")
        if self.route == "NEEDS_EXECUTION" and not (self.execution_brief or "").strip():
            raise ValueError("execution_brief is required for NEEDS_EXECUTION")
        return self


class ExecutionResult(BaseModel):
    """What the research did; `execution_data` has its queries and hits as plain JSON."""

    status: Literal["SUCCESS", "PARTIAL", "FAILED"]
    execution_summary: str
    execution_data: dict[str, Any] = Field(default_factory=dict)
    report_brief: str
    error_message: str | None = None


class OrganizationResult(BaseModel):
    """The final text, and what is known about it."""

    assistant_text: str
    response_metadata: dict[str, Any] = Field(default_factory=dict)
