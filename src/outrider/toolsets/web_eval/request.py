"""The request for an evaluation, and the task for its agent."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from outrider.agents.evaluations import Evaluation
from outrider.agents.evaluations.evaluation import EvaluationMode
from outrider.agents.start_keys import StartKey, build_start_key
from outrider.core.context import Call
from outrider.toolsets.web_eval.script import ScriptStep


@dataclass(frozen=True)
class EvaluationRequest:
    """A website to evaluate, the task there, and the limits."""

    url: str
    task: str
    headless: bool | None = None
    mode: EvaluationMode | None = None
    budget_s: float | None = None
    max_steps: int | None = None
    step_timeout_s: float | None = None
    output_schema: dict[str, Any] | None = None
    state_id: str | None = None
    steps: Sequence[ScriptStep] = ()
    idempotency_key: str = ""

    def build_start_key(self, call: Call) -> StartKey | None:
        """Return the key of the request, as its argument or the call has it; None without one."""
        key = self.idempotency_key or call.idempotency_key
        return build_start_key(key, call, vars(replace(self, idempotency_key=""))) if key else None


def build_query(evaluation: Evaluation, session_id: str) -> str:
    """Build the agent's task, which names the open browser session."""
    parts = [
        evaluation.task,
        f"The browser session {session_id} is open at {evaluation.url}; begin with snapshotPage.",
    ]
    if evaluation.output_schema is not None:
        schema = json.dumps(evaluation.output_schema, ensure_ascii=False)
        parts.append(f"done must carry `data` that fits this JSON Schema: {schema}")
    return "\n\n".join(parts)


def parse_address(url: str) -> tuple[str, bool]:
    """Return the address to open, and whether it is on this machine.

    A local address without a scheme gets http, because development servers rarely use https.
    """
    text = url.strip()
    bare = "://" not in text
    try:
        host = (urlsplit(f"//{text}" if bare else text).hostname or "").lower()
    except ValueError:
        return text, False
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return (f"http://{text}" if bare and local else text), local
