"""Events of a run."""

from dataclasses import dataclass
from typing import Any, Literal

EventKind = Literal["thinking", "text", "tool_started", "tool_ended", "question", "status", "usage"]
DELTA_KINDS = frozenset({"thinking", "text"})


@dataclass(frozen=True)
class RunEvent:
    """An event of a run; `at` is in seconds since the epoch.

    The fields of `data` by kind:

    - thinking and text: `text` and `step`.
    - tool_started: `call_id`, `tool`, `title`, `arguments`, `step`.
    - tool_ended: `call_id`, `tool`, `outcome`, `seconds`, `text`, `sources`.
    - question: `id`, `call_id`, `tool`, `message`, `kind`.
    - usage: `run` and `tree`, each as `RunUsage.to_dict`, and `step`.
    - status: `status` and `attempt`, at the end also `stop_reason`; or `restarted` with the number of a step whose
      request is repeated, so that its text so far is invalid.
    """

    run_id: str
    seq: int
    at: float
    kind: EventKind
    data: dict[str, Any]
