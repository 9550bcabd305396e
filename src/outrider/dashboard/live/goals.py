"""What agents say that they are about to do: the last words of a run before its calls."""

from collections import OrderedDict
from dataclasses import dataclass

from outrider.agents.runs import Runs
from outrider.core.errors import OutriderError

KNOWN = 100  # runs that are remembered
SHOWN = 400  # characters


@dataclass
class _Said:
    seq: int = 0
    step: int = -1
    text: str = ""
    thinking: str = ""

    def take(self, kind: str, step: int, text: str) -> None:
        if step != self.step:
            self.step, self.text, self.thinking = step, "", ""
        if kind == "text":
            self.text += text
        else:
            self.thinking += text

    @property
    def goal(self) -> str:
        """What was said aloud, else the end of what was thought."""
        said = " ".join((self.text or self.thinking[-SHOWN:]).split())
        return said if len(said) <= SHOWN else f"{said[:SHOWN]}…"


class Goals:
    """The newest words of runs.

    Args:
        runs: All runs.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._said: OrderedDict[str, _Said] = OrderedDict()

    def known(self, run_id: str) -> str:
        """What is known without asking."""
        return self._said[run_id].goal if run_id in self._said else ""

    async def look(self, run_id: str) -> None:
        """Reads what a run has said since the last look."""
        said = self._said.setdefault(run_id, _Said())
        self._said.move_to_end(run_id)
        while len(self._said) > KNOWN:
            self._said.popitem(last=False)
        try:
            while events := await self._runs.streams.read(run_id, said.seq):
                for event in events:
                    said.seq = event.seq
                    if event.kind in ("text", "thinking"):
                        said.take(event.kind, event.data.get("step", 0), event.data["text"])
        except OutriderError:  # a database that is away for a moment
            return
