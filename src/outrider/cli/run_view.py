"""Show a run in the terminal: thoughts, tools, sources, questions and the answer."""

import re
import sys
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from outrider.agents.events.stream import RunEvent
from outrider.agents.limits import RunUsage
from outrider.agents.run import Run
from outrider.app import App
from outrider.core.questions import Decision
from outrider.core.untrusted import clean_untrusted

TAIL_CHARS = 240  # characters of thinking and of text that are shown while they come
CITATION_PATTERN = re.compile(r" ?:cite\[([^\[\]]*)\]")


class TerminalRunView:
    """Show runs until they end.

    Args:
        app: The open app.
        quiet: Only the answer is shown.
        allow: Whatever is asked is allowed.
        answer: The answer is printed.
    """

    def __init__(self, app: "App", *, quiet: bool = False, allow: bool = False, answer: bool = True) -> None:
        self._app = app
        self._quiet = quiet
        self._allow = allow
        self._answer = answer
        self._console = Console(highlight=False, stderr=True)
        self._thinking = self._text = self._used = ""
        self._last_seq = 0

    async def follow_run(self, run: "Run") -> "Run":
        """Follow the run, ask the person its questions, print the answer, and return the ended run."""
        while True:
            with Live(
                console=self._console, transient=True, refresh_per_second=8, auto_refresh=not self._quiet
            ) as live:
                async for event in self._app.runs.follow(run.id, self._last_seq):
                    self._last_seq = event.seq
                    if not self._quiet:
                        self._show_event(event)
                        tail = clean_untrusted(self._text or self._thinking)[-TAIL_CHARS:]
                        used = Text(f"\n{self._used}" if tail else self._used, style="dim")
                        live.update(Text(tail, style="" if self._text else "dim italic") + used)
            run = await self._app.runs.get(run.id)
            if run.status != "blocked" or not await self._decide_questions(run):
                break
            run = await self._app.runs.resume(run.id)
        if not self._quiet:
            self._console.print(Text((await self._app.runs.sum_usage(run.id)).describe(), style="dim"))
        if run.answer and self._answer:
            self._print_answer(run)
        return run

    def _show_event(self, event: "RunEvent") -> None:
        match event.kind:
            case "thinking":
                self._thinking += event.data["text"]
            case "text":
                self._text += event.data["text"]
            case "tool_started":
                self._print_thinking()
                said = f"{event.data['title']} {event.data['arguments']}"
                self._console.print(Text(f"→ {_shorten_line(said, 160)}", style="cyan"))
            case "tool_ended":
                self._print_tool(event.data)
            case "question":
                self._print_thinking()
            case "status" if "restarted" in event.data:
                self._thinking = self._text = ""
            case "usage":
                self._print_thinking()
                self._used = RunUsage.from_dict(event.data["tree"]).describe()

    def _print_tool(self, data: dict[str, Any]) -> None:
        good = data["outcome"] == "ok"
        mark, style = ("✓", "green") if good else ("✗", "red")
        self._console.print(Text(f"{mark} {data['tool']} {data['seconds']:.1f} s", style=style))
        if not good:
            self._console.print(Text(f"  {_shorten_line(data['text'], 200)}", style="dim"))
        for source in data.get("sources", []):
            self._console.print(
                Text(
                    f"  {_shorten_line(source.get('title', ''), 80)}  {_shorten_line(source.get('href', ''), 120)}",
                    style="blue",
                )
            )

    def _print_thinking(self) -> None:
        """Print the thoughts, shortened."""
        if self._thinking.strip():
            self._console.print(Text(_shorten_line(self._thinking, TAIL_CHARS), style="dim italic"))
        self._thinking = self._text = ""

    async def _decide_questions(self, run: "Run") -> bool:
        """Ask the person; return False if there is none to ask."""
        for question in await self._app.runs.questions.list_pending(run.root_run_id):
            decision: Decision = "approved"
            if not self._allow:
                if not sys.stdin.isatty():
                    return False
                self._console.print(Text(clean_untrusted(question.message), style="bold yellow"))
                choices: dict[str, Decision] = {"y": "approved", "n": "rejected", "a": "always_approved"}
                if question.kind != "approval":
                    choices.pop("a")
                prompt = f"Allow it? [{'/'.join(choices)}]"
                decision = choices[click.prompt(prompt, type=click.Choice(list(choices)), show_choices=False, err=True)]
            await self._app.runs.questions.decide(question.id, decision, by="terminal")
        return True

    def _print_answer(self, run: "Run") -> None:
        """Print the answer with `[1][2]` instead of references, and the sources in that order."""
        order: dict[str, int] = {}

        def format_numbers(block: re.Match[str]) -> str:
            known = [name.strip() for name in block[1].split(",") if name.strip() in run.citations]
            shown = "".join(f"[{order.setdefault(name, len(order) + 1)}]" for name in known)
            return f" {shown}" if shown else ""

        answer = clean_untrusted(CITATION_PATTERN.sub(format_numbers, run.answer))
        out = Console(highlight=False)
        out.print(Markdown(answer) if sys.stdout.isatty() else Text(answer), soft_wrap=True)
        for name, number in order.items():
            source = run.citations[name]
            title, address = clean_untrusted(source.get("title", "")), clean_untrusted(source.get("href", ""))
            out.print(Text(f"[{number}] {title}  {address}", style="blue"), soft_wrap=True)


def _shorten_line(text: str, limit: int) -> str:
    flat = " ".join(clean_untrusted(text).split())
    return flat if len(flat) <= limit else f"{flat[:limit]}…"
