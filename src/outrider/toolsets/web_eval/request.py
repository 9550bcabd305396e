"""What is to be evaluated, as it was asked for and as the agent is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from outrider.agents.evaluations import Evaluation
from outrider.agents.evaluations.evaluation import EvaluationMode
from outrider.toolsets.web_eval.script import ScriptStep


@dataclass(frozen=True)
class EvaluationRequest:
    """What is to be evaluated, and how."""

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


def build_query(evaluation: Evaluation, session_id: str) -> str:
    """The question to the agent, which finds its browser open."""
    parts = [
        evaluation.task,
        f"The browser session {session_id} is open at {evaluation.url}; begin with snapshotPage.",
    ]
    if evaluation.output_schema is not None:
        import json

        schema = json.dumps(evaluation.output_schema, ensure_ascii=False)
        parts.append(f"done must carry `data` that fits this JSON Schema: {schema}")
    return "\n\n".join(parts)


def parse_address(url: str) -> tuple[str, bool]:
    """The address to open and whether it is of this machine, where a bare host speaks http and not https."""
    text = url.strip()
    bare = "://" not in text
    try:
        host = (urlsplit(f"//{text}" if bare else text).hostname or "").lower()
    except ValueError:
        return text, False
    here = _is_loopback(host)
    return (f"http://{text}" if bare and here else text), here


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
