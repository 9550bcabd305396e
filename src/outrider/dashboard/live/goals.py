"""Find an agent's last words before a call.

They often announce its goal.
"""

from collections import OrderedDict
from dataclasses import dataclass

from outrider.agents.runs import RunService
from outrider.core.errors import OutriderError


@dataclass
class _RunText:
    seq: int = 0
    step: int = -1
    text: str = ""
    thinking: str = ""

    def append_text(self, kind: str, step: int, text: str) -> None:
        if step != self.step:
            self.step, self.text, self.thinking = step, "", ""
        if kind == "text":
            self.text += text
        else:
            self.thinking += text

    @property
    def goal(self) -> str:
        """The end of the answer text, else of the thoughts."""
        max_goal_chars = 400  # characters
        goal_text = " ".join((self.text or self.thinking[-max_goal_chars:]).split())
        return goal_text if len(goal_text) <= max_goal_chars else f"{goal_text[:max_goal_chars]}…"


class RunGoals:
    """The newest words of runs.

    Args:
        runs: All runs.
    """

    def __init__(self, runs: RunService) -> None:
        self._runs = runs
        self._texts: OrderedDict[str, _RunText] = OrderedDict()

    def get_goal(self, run_id: str) -> str:
        """Return the last known goal without a query."""
        return self._texts[run_id].goal if run_id in self._texts else ""

    async def refresh_goal(self, run_id: str) -> None:
        """Read the text of a run since the last refresh."""
        max_runs = 100  # runs to remember
        run_text = self._texts.setdefault(run_id, _RunText())
        self._texts.move_to_end(run_id)
        while len(self._texts) > max_runs:
            self._texts.popitem(last=False)
        try:
            while events := await self._runs.streams.read(run_id, run_text.seq):
                for event in events:
                    run_text.seq = event.seq
                    if event.kind in ("text", "thinking"):
                        run_text.append_text(event.kind, event.data.get("step", 0), event.data["text"])
        except OutriderError:  # the database is briefly unavailable
            return
