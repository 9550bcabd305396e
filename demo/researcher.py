"""Delegate the question to the built-in researcher, which has to ask before it opens a browser."""

from pathlib import Path
from typing import Any

from mcp.client.session import IncomingMessage
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ProgressNotification
from rich.markup import escape

from demo import model
from demo.agent import ToolAnswer, connect_agent, format_command
from demo.terminal import DemoStep, Terminal
from outrider.agents.catalogue import BUILTIN_AGENTS_DIR
from outrider.agents.definition import read_agent, render_agent
from outrider.browser.process.find import find_browser
from outrider.core.errors import OutriderError
from outrider.settings import load

BROWSER_TOOLS = ("createSession", "snapshotPage", "closeSession")
MODEL_NOTE = (
    "[yellow]The model is a script, so that the demo needs no key.[/] "
    "Everything else is real: the server, the agent, its tools, the approval and the pages."
)
REAL_MODEL_HINT = (
    "[dim]With a real model:[/] export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY; Ollama needs no key)"
)


async def run_researcher_demo(terminal: Terminal, home: Path, question: str, settings: tuple[str, ...]) -> bool:
    """Ask the agent `researcher` and print its progress; return whether it answered with a source."""
    guarded_tool = _write_agent(home)
    async with model.serve_model() as url:
        chosen = ("models.default=demo", "models.profiles.demo.model=scripted", f"models.profiles.demo.base_url={url}")
        with terminal.step("Delegate the question to an agent: run_researcher") as step:
            step.print(MODEL_NOTE)
            step.print(f"[dim]$[/] {escape(format_command((*settings, *chosen)))}")
            step.print(
                f"[dim]in its file:[/] {escape(guarded_tool)}: high [dim](a person is asked before each call)[/]"
            )
            answer = await _ask_researcher(step, home, question, (*settings, *chosen))
            _print_answer(step, answer)
            step.print(f'{REAL_MODEL_HINT}, then: outrider ask "{escape(question)}"')
    return not answer.failed and bool(answer.meta.get("outrider/refs"))


def _write_agent(home: Path) -> str:
    """Write the agent's file with one guarded tool, and return the tool's name."""
    agent = read_agent(BUILTIN_AGENTS_DIR / "researcher.md", "kind")
    if _has_browser():
        guarded_tool = BROWSER_TOOLS[0]
        agent = agent.model_copy(update={"tools": list(BROWSER_TOOLS), "stakes": {guarded_tool: "high"}})
    else:
        guarded_tool = "webbrowser"
        agent = agent.model_copy(update={"stakes": {guarded_tool: "high"}})
    folder = home / ".outrider" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "researcher.md").write_text(render_agent(agent), encoding="utf-8")
    return guarded_tool


def _has_browser() -> bool:
    try:
        return bool(find_browser(load().settings.browser.executable))
    except OutriderError:
        return False


async def _ask_researcher(step: DemoStep, home: Path, question: str, settings: tuple[str, ...]) -> ToolAnswer:
    printed: list[str] = []

    async def print_progress(message: IncomingMessage) -> None:
        """Print the new lines of the agent's reasoning; each notification holds all lines so far."""
        output = _read_output(message)
        if output.get("type") == "run_agent_chain_of_thought":
            for line in output["chainOfThought"].splitlines()[len(printed) :]:
                printed.append(line)
                step.print(f"[cyan]→[/] {escape(line)}")

    async def approve(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - the protocol's
        assert isinstance(params, ElicitRequestFormParams)
        step.print(f"[bold yellow]? {escape(params.message)}[/]")
        step.print("  [green]approved[/] [dim](by the demo; your host asks you)[/]")
        choices = [name for name, field in params.requested_schema["properties"].items() if "enum" in field]
        return ElicitResult(action="accept", content=dict.fromkeys(choices, "approved"))

    async with connect_agent(home, settings, answer_question=approve, handle_message=print_progress) as agent:
        return await agent.call("run_researcher", query=question)


def _read_output(message: IncomingMessage) -> dict[str, Any]:
    """Return the output in a progress notification."""
    if not isinstance(message, ProgressNotification):
        return {}
    meta: dict[str, Any] = dict(message.params.meta or {})
    return meta.get("data", {}).get("output", {})


def _print_answer(step: DemoStep, answer: ToolAnswer) -> None:
    """Print the answer with its sources and tokens."""
    step.count_tokens(answer.text)
    step.print(f"[bold]{escape(' '.join(answer.text.split()))}[/]")
    for name, source in answer.meta.get("outrider/refs", {}).items():
        step.print(f"    {escape(f'[{name}]')} {escape(source['title'])}  [blue]{escape(source['href'])}[/]")
    used = answer.meta.get("outrider/run", {}).get("usage", {})
    if used:
        step.print(
            f"[dim]{used['requests']} requests to the model and {used['tools']} tool calls; a real model would have "
            f"read {used['input_tokens']:,} tokens[/]"
        )
