"""Evaluations without a model: a list of actions, each done in the browser and each with its outcome."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urljoin

from pydantic import BaseModel, Field, model_validator

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, OutriderError, Refused
from outrider.core.toolbox import Toolbox

MAX_STEPS = 100  # steps
EXPECT_TIMEOUT_S = 5.0  # seconds until an expected text must be there
StepAction = Literal["goto", "click", "type", "select", "press", "wait_for", "expect_text", "screenshot"]
REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "goto": ("target",),
    "click": ("target",),
    "type": ("target", "value"),
    "select": ("target", "value"),
    "press": ("value",),
    "expect_text": ("value",),
}
# Each verb's tool, the names of `target` and `value` there, and what else the tool is given.
ACTION_TOOLS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "goto": ("navigateToUrl", {"target": "url"}, {}),
    "click": ("clickElement", {"target": "selector"}, {}),
    "type": ("inputText", {"target": "selector", "value": "text"}, {}),
    "select": ("selectOption", {"target": "selector"}, {}),
    "press": ("pressKey", {"value": "key"}, {}),
    "wait_for": ("waitFor", {"target": "selector", "value": "text"}, {}),
    "expect_text": ("waitFor", {"target": "selector", "value": "text"}, {"seconds": EXPECT_TIMEOUT_S}),
    "screenshot": ("getCurrentUrl", {}, {}),
}


class ScriptStep(BaseModel, extra="forbid", defer_build=True):
    """One step: an `action` with `target` and `value`, or a browser `tool` with its `arguments`."""

    action: StepAction | None = None
    target: str | None = Field(None, max_length=4_000, description="Address (goto), else CSS selector")
    value: str | None = Field(None, max_length=20_000, description="Text, option or key")
    tool: str | None = Field(None, max_length=64, description="Instead of action: a browser tool")
    arguments: dict[str, Any] = Field({}, description="For tool; sessionId is added")

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
        shown = self.value if self.action not in ("type", None) else None
        return " ".join(each for each in (self.action or self.tool, self.target, shown) if each)[:200]

    def build_call(self, base: str) -> tuple[str, dict[str, Any]]:
        """The tool and its arguments; addresses may be relative to `base`."""
        if self.action is None:
            return self.tool or "", dict(self.arguments)
        tool, names, more = ACTION_TOOLS[self.action]
        given = {name: getattr(self, field) for field, name in names.items() if getattr(self, field) is not None} | more
        given |= {"url": urljoin(base, given["url"])} if self.action == "goto" else {}
        given |= {"options": [self.value]} if self.action == "select" else {}
        return tool, given


@dataclass(frozen=True)
class StepOutcome:
    """How one step ended: `ok` or an error's code, and what it said."""

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
    """Steps and where they are done.

    Attributes:
        allowed: The tools that a step may use.
        on_step: Hears after each step how many are done.
    """

    toolbox: Toolbox
    allowed: frozenset[str]
    session_id: str
    base: str
    call: Call
    on_step: Callable[[int, str], Awaitable[None]]

    async def run_steps(self, steps: Sequence[ScriptStep], outcomes: list[StepOutcome]) -> None:
        """Does the steps in order, each into `outcomes`; one that fails is the last."""
        for number, step in enumerate(steps, 1):
            await self.on_step(number - 1, str(step))
            outcomes.append(await self._run_step(number, step))
            if outcomes[-1].has_failed:
                return

    async def _run_step(self, number: int, step: ScriptStep) -> StepOutcome:
        max_text_chars = 500  # characters of a step's result that its outcome repeats
        started = time.monotonic()
        try:
            outcome, text = "ok", await self._call_tool(*step.build_call(self.base))
        except AnswerNeeded:
            outcome = "refused"
            text = "it needs a person's consent, which scripts cannot wait for: call the browser's tool yourself"
        except OutriderError as error:
            outcome, text = error.code, f"{error.message}{f' ({error.hint})' if error.hint else ''}"
        return StepOutcome(number, str(step), outcome, text[:max_text_chars], round(time.monotonic() - started, 3))

    async def _call_tool(self, tool: str, arguments: Mapping[str, Any]) -> str:
        if tool not in self.allowed:
            raise Refused(f"tool: {tool!r} is not for steps", hint=f"one of {', '.join(sorted(self.allowed))}")
        given = {"sessionId": self.session_id, **arguments}
        return (await self.toolbox.call(tool, given, self.call)).text
