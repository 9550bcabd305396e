"""What the terminal shows: numbered steps, each with the seconds that it took and the tokens that it cost."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape

from outrider.core.text import count_tokens


@dataclass
class Step:
    """One step while it runs."""

    tokens: int = 0
    lines: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """A line below the step's title; rich markup."""
        self.lines.append(line)

    def cost(self, text: str) -> int:
        """Counts what a model would have to read; returns the tokens of this text alone."""
        tokens = count_tokens(text)
        self.tokens += tokens
        return tokens


class Stage:
    """Prints the steps and adds up what they cost."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True)
        self._number = 0
        self._started = time.monotonic()
        self._tokens = 0

    def say(self, line: str = "") -> None:
        self.console.print(line)

    @contextmanager
    def step(self, title: str) -> Generator[Step]:
        """A numbered step; it is printed when it ends, however it ends."""
        self._number += 1
        step = Step()
        started = time.monotonic()
        try:
            with self.console.status(title):
                yield step
        finally:
            self._tokens += step.tokens
            cost = f", {step.tokens:,} tokens" if step.tokens else ""
            seconds = time.monotonic() - started
            self.say(f"\n[bold]{self._number}. {escape(title)}[/]  [dim]{seconds:.1f} s{cost}[/]")
            for line in step.lines:
                self.say(f"   {line}")

    def total(self) -> str:
        """The whole in words."""
        return f"{time.monotonic() - self._started:.1f} seconds, {self._tokens:,} tokens of results for the model"
