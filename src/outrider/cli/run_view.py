"""Show a run in the terminal: thoughts, tools, sources, questions and the answer."""

import os
import re
import shutil
import sys
import time
from typing import Any

import click

from outrider.agents.events.stream import RunEvent
from outrider.agents.limits import RunUsage
from outrider.agents.run import Run
from outrider.app import App
from outrider.cli.output import print_line
from outrider.cli.terminal_text import CONTROL_CHAR, format_markdown, get_line_width, measure_cells
from outrider.core.questions import Decision, Question, QuestionAnswer
from outrider.core.untrusted import clean_untrusted

TAIL_CHARS = 240  # shown characters of streaming thinking and text
CITATION_PATTERN = re.compile(r" ?:cite\[([^\[\]]*)\]")


class TerminalRunView:
    """Show runs until they end.

    Args:
        app: The open app.
        quiet: Whether only the answer is shown.
        allow: Whether all questions are answered by allowing.
        answer: Whether the answer is printed.
    """

    def __init__(self, app: "App", *, quiet: bool = False, allow: bool = False, answer: bool = True) -> None:
        self._app = app
        self._quiet = quiet
        self._allow = allow
        self._answer = answer
        self._status = StatusLine()
        self._thinking = self._text = self._used = ""
        self._last_seq = 0

    async def follow_run(self, run: "Run") -> "Run":
        """Follow a run to its end, and return the ended run.

        The person is asked its questions, and its answer is printed.
        """
        while True:
            try:
                async for event in self._app.runs.follow(run.id, self._last_seq):
                    self._last_seq = event.seq
                    if not self._quiet:
                        self._show_event(event)
                        self._status.show(clean_untrusted(self._text or self._thinking)[-TAIL_CHARS:] or self._used)
            finally:
                self._status.clear()
            run = await self._app.runs.get(run.id)
            if run.status != "blocked" or not await self._decide_questions(run):
                break
            run = await self._app.runs.resume(run.id)
        if not self._quiet:
            self._print((await self._app.runs.sum_usage(run.id)).describe(), dim=True)
        if run.answer and self._answer:
            self._print_answer(run)
        return run

    def _print(self, text: str, **style: Any) -> None:
        """Print a line above the status line."""
        self._status.clear()
        print_line(click.style(text, **style), err=True)

    def _show_event(self, event: "RunEvent") -> None:
        match event.kind:
            case "thinking":
                self._thinking += event.data["text"]
            case "text":
                self._text += event.data["text"]
            case "tool_started":
                self._print_thinking()
                line = f"{event.data['title']} {event.data['arguments']}"
                self._print(f"→ {_shorten_line(line, 160)}", fg="cyan")
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
        mark, color = ("✓", "green") if good else ("✗", "red")
        self._print(f"{mark} {data['tool']} {data['seconds']:.1f} s", fg=color)
        if not good:
            self._print(f"  {_shorten_line(data['text'], 200)}", dim=True)
        for source in data.get("sources", []):
            title, address = _shorten_line(source.get("title", ""), 80), _shorten_line(source.get("href", ""), 120)
            self._print(f"  {title}  {address}", fg="blue")

    def _print_thinking(self) -> None:
        """Print the thoughts, shortened."""
        if self._thinking.strip():
            self._print(_shorten_line(self._thinking, TAIL_CHARS), dim=True, italic=True)
        self._thinking = self._text = ""

    async def _decide_questions(self, run: "Run") -> bool:
        """Ask the person; return False without a person to ask."""
        for question in await self._app.runs.questions.list_pending(run.root_run_id):
            answer = self._ask_person(question)
            if answer is None:
                return False
            await self._app.runs.questions.decide(question.id, answer.decision, answer=answer.value, by="terminal")
        return True

    def _ask_person(self, question: Question) -> QuestionAnswer | None:
        """Return the person's answer; None without a terminal."""
        is_open_question = question.kind == "question"
        if self._allow and not is_open_question:
            return QuestionAnswer("approved")
        if not sys.stdin.isatty():
            return None
        self._print(clean_untrusted(question.message), bold=True, fg="yellow")
        if is_open_question:
            text = click.prompt("Answer (empty: refuse)", default="", show_default=False, err=True)
            return QuestionAnswer("answered", value=text) if text else QuestionAnswer("rejected")
        decisions: dict[str, Decision] = {"yes": "approved", "no": "rejected"}
        if question.kind == "approval":
            decisions["always"] = "always_approved"
        prompt = f"Allow it? [{'/'.join(decisions)}]"
        words = decisions | {word[0]: decision for word, decision in decisions.items()}
        choice = click.Choice(list(words), case_sensitive=False)
        return QuestionAnswer(words[click.prompt(prompt, type=choice, show_choices=False, err=True)])

    def _print_answer(self, run: "Run") -> None:
        """Print the answer with `[1][2]` instead of references, and the sources in that order."""
        order: dict[str, int] = {}

        def format_numbers(block: re.Match[str]) -> str:
            known = [name.strip() for name in block[1].split(",") if name.strip() in run.citations]
            marks = "".join(f"[{order.setdefault(name, len(order) + 1)}]" for name in known)
            return f" {marks}" if marks else ""

        answer = clean_untrusted(CITATION_PATTERN.sub(format_numbers, run.answer))
        print_line(format_markdown(answer, get_line_width()) if sys.stdout.isatty() else answer)
        for name, number in order.items():
            source = run.citations[name]
            title, address = clean_untrusted(source.get("title", "")), clean_untrusted(source.get("href", ""))
            print_line(click.style(f"[{number}] {title}  {address}", fg="blue"))


def _shorten_line(text: str, limit: int) -> str:
    flat = " ".join(clean_untrusted(text).split())
    return flat if len(flat) <= limit else f"{flat[:limit]}…"


class StatusLine:
    """Show the current activity in a terminal's last line.

    It is written to standard error if that is a terminal.
    """

    def __init__(self) -> None:
        self._is_shown = False
        self._shown_at = 0.0
        self._can_show = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, text: str) -> None:
        """Show the end of a text, several times a second at most."""
        interval_s = 0.1
        if not self._can_show or time.monotonic() - self._shown_at < interval_s:
            return
        tail = " ".join(CONTROL_CHAR.sub("", text).split())
        while measure_cells(tail) >= shutil.get_terminal_size().columns:
            tail = tail[1:]
        self.clear()
        # A terminal without the codes for dim text ignores them.
        sys.stderr.write(tail if os.environ.get("NO_COLOR") else f"\x1b[2m{tail}\x1b[0m")
        sys.stderr.flush()
        self._is_shown, self._shown_at = bool(tail), time.monotonic()

    def clear(self) -> None:
        """Remove the line, so that others can be printed."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_shown = False
