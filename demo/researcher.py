"""The shipped researcher at work as a tool of its own, with a browser that it must ask for, where there is one."""

from pathlib import Path
from typing import Any

from mcp.client.session import IncomingMessage
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ProgressNotification
from rich.markup import escape

from demo import model
from demo.agent import Answer, command_line, connected
from demo.stage import Stage, Step
from outrider.agents.catalogue import BUILTIN_AGENTS_DIR
from outrider.agents.definition import read_agent, render_agent
from outrider.browser.process.find import find_browser
from outrider.core.errors import OutriderError
from outrider.settings import load

EYES = ("createSession", "snapshotPage", "closeSession")
SCRIPTED = (
    "[yellow]The model is scripted: the demo's own few lines, so that it needs no key.[/] "
    "Everything else is real: server, agent, tools, question and answer."
)
REAL = "[dim]A real model:[/] export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY; Ollama is found by itself)"


async def shown(stage: Stage, home: Path, question: str, settings: tuple[str, ...]) -> bool:
    """Gives the question to the agent `researcher` and shows how it works; whether it has answered with a source."""
    asks = _written(home)
    async with model.served() as url:
        chosen = ("models.default=demo", "models.profiles.demo.model=scripted", f"models.profiles.demo.base_url={url}")
        with stage.step("Give the question to an agent: run_researcher") as step:
            step.say(SCRIPTED)
            step.say(f"[dim]$[/] {escape(command_line((*settings, *chosen)))}")
            step.say(f"[dim]its file says[/] {escape(asks)}: high [dim](it must ask before each call)[/]")
            found = await _asked(step, home, question, (*settings, *chosen))
            _show(step, found)
            step.say(f'{REAL}, then: outrider ask "{escape(question)}"')
    return not found.failed and bool(found.meta.get("outrider/refs"))


def _written(home: Path) -> str:
    """Writes the agent's file: the shipped one, which has to ask for one of its tools; which tool that is."""
    agent = read_agent(BUILTIN_AGENTS_DIR / "researcher.md", "kind")
    if _browser():
        agent, asks = agent.model_copy(update={"tools": list(EYES), "stakes": {EYES[0]: "high"}}), EYES[0]
    else:
        agent, asks = agent.model_copy(update={"stakes": {"webbrowser": "high"}}), "webbrowser"
    folder = home / ".outrider" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "researcher.md").write_text(render_agent(agent), encoding="utf-8")
    return asks


def _browser() -> bool:
    try:
        return bool(find_browser(load().settings.browser.executable))
    except OutriderError:
        return False


async def _asked(step: Step, home: Path, question: str, settings: tuple[str, ...]) -> Answer:
    told: list[str] = []

    async def heard(message: IncomingMessage) -> None:
        """Shows what the agent thinks, as it thinks it: each notice holds all of it so far."""
        output = _output(message)
        if output.get("type") == "run_agent_chain_of_thought":
            for line in output["chainOfThought"].splitlines()[len(told) :]:
                told.append(line)
                step.say(f"[cyan]→[/] {escape(line)}")

    async def allow(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - the protocol's
        assert isinstance(params, ElicitRequestFormParams)
        step.say(f"[bold yellow]? {escape(params.message)}[/]")
        step.say("  [green]allowed[/] [dim](by the demo; your host shows you this question)[/]")
        choices = [name for name, field in params.requested_schema["properties"].items() if "enum" in field]
        return ElicitResult(action="accept", content=dict.fromkeys(choices, "approved"))

    async with connected(home, settings, person=allow, heard=heard) as agent:
        return await agent.call("run_researcher", query=question)


def _output(message: IncomingMessage) -> dict[str, Any]:
    """What a progress notice holds beside its message."""
    if not isinstance(message, ProgressNotification):
        return {}
    meta: dict[str, Any] = dict(message.params.meta or {})
    return meta.get("data", {}).get("output", {})


def _show(step: Step, found: Answer) -> None:
    """The answer with its sources, and what it cost."""
    step.cost(found.text)
    step.say(f"[bold]{escape(' '.join(found.text.split()))}[/]")
    for name, source in found.meta.get("outrider/refs", {}).items():
        step.say(f"    {escape(f'[{name}]')} {escape(source['title'])}  [blue]{escape(source['href'])}[/]")
    used = found.meta.get("outrider/run", {}).get("usage", {})
    if used:
        step.say(
            f"[dim]{used['requests']} requests to the model and {used['tools']} tools; a real one would have read "
            f"{used['input_tokens']:,} tokens[/]"
        )
