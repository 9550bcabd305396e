"""Evaluations without a model: run a list of browser actions."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urljoin

from pydantic import BaseModel, Field, model_validator

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError, Refused
from outrider.core.toolbox import Toolbox

MAX_STEPS = 100
StepAction = Literal["goto", "click", "type", "select", "press", "wait_for", "expect_text", "screenshot", "flow"]
REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "goto": ("target",),
    "click": ("target",),
    "type": ("target", "value"),
    "select": ("target", "value"),
    "press": ("value",),
    "expect_text": ("value",),
    "flow": ("target",),
}
# For each action, the tool, its parameters for `target` and `value`, and its other arguments.
ACTION_TOOLS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "goto": ("navigateToUrl", {"target": "url"}, {}),
    "click": ("clickElement", {"target": "selector"}, {}),
    "type": ("inputText", {"target": "selector", "value": "text"}, {}),
    "select": ("selectOption", {"target": "selector"}, {}),
    "press": ("pressKey", {"value": "key"}, {}),
    "wait_for": ("waitFor", {"target": "selector", "value": "text"}, {}),
    "expect_text": ("waitFor", {"target": "selector", "value": "text"}, {"seconds": 5.0}),
    "screenshot": ("getCurrentUrl", {}, {}),
    "flow": ("runFlow", {"target": "name"}, {}),
}


class ScriptStep(BaseModel, extra="forbid", defer_build=True):
    """One step: an `action` with `target` and `value`, or a browser `tool` with its `arguments`."""

    action: StepAction | None = None
    target: str | None = Field(None, max_length=4_000, description="Address (goto), flow, else CSS selector")
    value: str | None = Field(None, max_length=20_000, description="Text, option or key")
    tool: str | None = Field(None, max_length=64, description="Instead of action: a browser tool")
    arguments: dict[str, Any] = Field({}, description="For tool; sessionId is added. Or a flow's parameters")

    @model_validator(mode="after")
    def _check_fields(self) -> "ScriptStep":
        if (self.action is None) == (self.tool is None):
            raise ValueError("give either action or tool")
        missing = [name for name in REQUIRED_FIELDS.get(self.action or "", ()) if not getattr(self, name)]
        if missing:
            raise ValueError(f"action {self.action} needs {' and '.join(missing)}")
        if self.action == "wait_for" and not (self.target or self.value):
            raise ValueError("action wait_for needs target (a selector) or value (a text)")
        return self

    def __str__(self) -> str:
        value = self.value if self.action not in ("type", None) else None  # typed text may be a password
        return " ".join(part for part in (self.action or self.tool, self.target, value) if part)[:200]

    def build_call(self, base: str) -> tuple[str, dict[str, Any]]:
        """Return the tool and its arguments; addresses may be relative to `base`."""
        if self.action is None:
            return self.tool or "", dict(self.arguments)
        tool, parameters, fixed = ACTION_TOOLS[self.action]
        arguments = {name: getattr(self, field) for field, name in parameters.items()}
        arguments = {name: value for name, value in arguments.items() if value is not None} | fixed
        arguments |= {"url": urljoin(base, arguments["url"])} if self.action == "goto" else {}
        arguments |= {"options": [self.value]} if self.action == "select" else {}
        arguments |= {"parameters": dict(self.arguments)} if self.action == "flow" else {}
        return tool, arguments


@dataclass(frozen=True)
class StepOutcome:
    """The end of one step: `ok` or an error's code, and its text."""

    step: int
    action: str
    outcome: str
    text: str
    seconds: float

    @property
    def has_failed(self) -> bool:
        return self.outcome != "ok"


@dataclass(frozen=True)
class EvaluationScript:
    """Runs steps in one browser session.

    Attributes:
        allowed: The tools that a step may use.
        require_flow: Refuses a flow that an evaluation may not run.
        base: The address that relative addresses start from.
        on_step: Called before each step with the number of steps done and the next action.
    """

    toolbox: Toolbox
    allowed: frozenset[str]
    session_id: str
    base: str
    call: Call
    require_flow: Callable[[str], Awaitable[None]]
    on_step: Callable[[int, str], Awaitable[None]]

    async def run_steps(self, steps: Sequence[ScriptStep], outcomes: list[StepOutcome]) -> None:
        """Run the steps in order until one fails, and add each outcome to `outcomes`."""
        for number, step in enumerate(steps, 1):
            await self.on_step(number - 1, str(step))
            max_text_chars = 500
            started = time.monotonic()
            tool, arguments = step.build_call(self.base)
            try:
                if step.action == "flow":
                    await self.require_flow(arguments["name"])
                elif tool not in self.allowed:
                    raise Refused(
                        f"tool: {tool!r} is not allowed in steps", hint=f"one of {', '.join(sorted(self.allowed))}"
                    )
                result = await self.toolbox.call(tool, {"sessionId": self.session_id, **arguments}, self.call)
                # A stopped flow reports this in its result.
                error = (result.data or {}).get("error", {}) if result.is_error else {}
                outcome, text = error.get("code", "ok"), error.get("message", result.text)
            except AnswerNeeded:
                outcome = "refused"
                text = "it needs a person's consent, which a script cannot wait for: call the browser tool yourself"
            except OutriderError as error:
                outcome, text = error.code, f"{error.message}{f' ({error.hint})' if error.hint else ''}"
            outcomes.append(
                StepOutcome(number, str(step), outcome, text[:max_text_chars], round(time.monotonic() - started, 3))
            )
            if outcomes[-1].has_failed:
                return
