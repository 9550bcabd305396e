"""Print numbered steps with their seconds and tokens."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape

from outrider.core.text import count_tokens


@dataclass
class DemoStep:
    """A step while it runs."""

    tokens: int = 0
    lines: list[str] = field(default_factory=list)

    def print(self, line: str) -> None:
        """Add a line below the step's title, in rich markup."""
        self.lines.append(line)

    def count_tokens(self, text: str) -> int:
        """Add the tokens that a model would read; return those of this text."""
        tokens = count_tokens(text)
        self.tokens += tokens
        return tokens


class Terminal:
    """Prints the steps and sums up their tokens."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._number = 0
        self._started = time.monotonic()
        self._tokens = 0

    def print(self, line: str = "") -> None:
        self.console.print(line)

    @contextmanager
    def step(self, title: str) -> Generator[DemoStep]:
        """Run a numbered step and print it when it ends, even by an error."""
        self._number += 1
        step = DemoStep()
        started = time.monotonic()
        try:
            with self.console.status(title):
                yield step
        finally:
            self._tokens += step.tokens
            cost = f", {step.tokens:,} tokens" if step.tokens else ""
            seconds = time.monotonic() - started
            self.print(f"\n[bold]{self._number}. {escape(title)}[/]  [dim]{seconds:.1f} s{cost}[/]")
            for line in step.lines:
                self.print(f"   {line}")

    def describe_total(self) -> str:
        """Return the time and tokens of all steps."""
        return f"{time.monotonic() - self._started:.1f} seconds, {self._tokens:,} tokens of results for the model"
