"""Searches, reads, prints cited evidence and packs a report; on the internet if it is there, else on this machine."""

import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from rich.markup import escape

from demo import hosts, library, repetition, researcher, workbench
from demo.agent import Agent, Answer, command_line, connected, stop
from demo.evidence import Quote, best, holds
from demo.stage import Stage, Step

QUESTION = "How do I limit the number of threads in a pool?"
SOME_NAME = "docs.python.org"
PATIENCE = 30.0  # seconds that a search on the internet may take
IMPATIENCE = 6.0  # the same, where not even names resolve
PAGES = 3
QUOTES = 4


async def main(question: str) -> int:
    """Exit code 0: evidence was found and holds; 1: it was not found."""
    stage = Stage()
    stage.say(f"[bold]Outrider[/], asked: [bold cyan]{escape(question)}[/]")
    with tempfile.TemporaryDirectory(prefix="outrider-demo-") as folder:
        try:
            found = await online(stage, Path(folder), question) or await offline(stage, Path(folder), question)
        finally:
            with anyio.CancelScope(shield=True):
                await stop(Path(folder))
    if not found:
        stage.say("\n[red]No evidence was found for this question.[/]")
        return 1
    stage.say(f"\n[green]Done:[/] {stage.total()}.")
    show_hosts(stage)
    return 0


async def online(stage: Stage, home: Path, question: str) -> bool:
    """Searches the web and reads what it finds; False where there is no web, or nothing in it."""
    async with started(stage, home) as agent:
        hits = await search_web(stage, agent, question)
        found = bool(hits) and await answer(stage, agent, question, hits)
    if found and await researcher.shown(stage, home, question, ()):
        await workbench.shown(stage, home, question, hits[:PAGES], ())
        await repetition.show_repetition(stage, home)
        stage.say("\nThis was done on the [bold]internet[/].")
        return True
    stage.say("\n[yellow]Going on without the internet, with documents of this machine.[/]")
    return False


async def offline(stage: Stage, home: Path, question: str) -> bool:
    """Reads documents of this machine, then searches what it has read."""
    async with library.documents() as index:
        settings = (f"egress.allow={library.address(index)}", "search.order=local")
        async with started(stage, home, settings) as agent:
            with stage.step(f"Read this machine's Python documentation from {index}") as step:
                read, characters, failed = await library.read_all(agent, index)
                step.say(f"{len(read)} pages, {characters:,} characters, now searchable; {failed} could not be read")
            with stage.step("Search what was read") as step:
                hits = show_hits(step, await agent.call("web_search", query=question, num_results=5))
            found = await answer(stage, agent, question, hits)
        done = found and await researcher.shown(stage, home, question, settings)
        if done:
            await workbench.shown(stage, home, question, hits[:PAGES], settings)
            await repetition.show_repetition(stage, home)
    if done:
        stage.say("\nThis was done [bold]without the internet[/], on real documents of this machine.")
    return done


@asynccontextmanager
async def started(stage: Stage, home: Path, settings: tuple[str, ...] = ()) -> AsyncGenerator[Agent]:
    """A connected agent; says what was started and what a model gets to see of it."""
    async with AsyncExitStack() as stack:
        with stage.step("Start the server and ask for its tools") as step:
            agent = await stack.enter_async_context(connected(home, settings))
            step.say(f"[dim]$[/] {escape(command_line(settings))}    [dim](its data in {home})[/]")
            tools = (await agent.client.list_tools()).tools
            step.cost("".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools))
            step.say(f"it offers {', '.join(tool.name for tool in tools)}")
        yield agent


async def search_web(stage: Stage, agent: Agent, question: str) -> list[str]:
    """The addresses that the web's providers name; none when they cannot be reached."""
    with stage.step("Search the web, without a key") as step:
        started = anyio.current_time()
        found: Answer | None = None
        with anyio.CancelScope(deadline=started + PATIENCE) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(_give_up_early, scope, started))
                found = await agent.call("web_search", query=question, num_results=5)
                tasks.cancel_scope.cancel()
        if found is not None and found.data.get("provider") not in (None, "local"):
            return show_hits(step, found)
        step.say("[yellow]The internet cannot be reached from here.[/]")
        return []


async def _give_up_early(scope: anyio.CancelScope, started: float) -> None:
    """Shortens the wait where not even a name resolves."""
    with anyio.move_on_after(IMPATIENCE):
        try:
            await anyio.getaddrinfo(SOME_NAME, 443, type=socket.SOCK_STREAM)
        except OSError:
            pass
        else:
            return
    scope.deadline = started + IMPATIENCE


def show_hits(step: Step, found: Answer) -> list[str]:
    """Prints what a search found; returns the addresses."""
    step.cost(found.text)
    hits = found.data.get("results", [])
    for number, hit in enumerate(hits, 1):
        step.say(f"{number}. {escape(hit['title'])}  [blue]{escape(hit['url'])}[/]")
    if hits:
        step.say(f"[dim]from {found.data['provider']}[/]")
    return [hit["url"] for hit in hits]


async def answer(stage: Stage, agent: Agent, question: str, hits: list[str]) -> bool:
    """Reads the best pages for what they say to the question, and prints it with its source."""
    pages: dict[str, Answer] = {}
    for url in hits[:PAGES]:
        with stage.step(f"Read {url}, for the question") as step:
            page = await agent.call("web_fetch", url=url, query=question)
            step.cost(page.text)
            if page.failed:
                step.say(f"[yellow]{escape(page.text.splitlines()[0])}[/]")
                continue
            pages[url] = page
            count, whole = len(page.meta.get("outrider/excerpts", [])), page.meta.get("outrider/total_chars", 0)
            step.say(f"passages that matter: {count}, out of {whole:,} characters")
    return await cite(stage, agent, best(question, pages, QUOTES))


async def cite(stage: Stage, agent: Agent, found: list[Quote]) -> bool:
    """Prints the quotes that hold: each is read again at its place, so that none is made up."""
    with stage.step("Evidence, read again at its place") as step:
        held = [quote for quote in found if await holds(agent, quote)]
        for number, quote in enumerate(held, 1):
            step.say(f"\\[{number}] [bold]{escape(' '.join(quote.text.split()))}[/]")
            step.say(f"    [blue]{escape(quote.url)}[/]  characters {quote.start}-{quote.end}")
        if not held:
            step.say("[yellow]These pages say nothing about it.[/]")
    return bool(held)


def show_hosts(stage: Stage) -> None:
    """Prints the lines that bring all this into a host."""
    for title, command in (("Paste into your host", hosts.checkout()), ("Or, once published", hosts.RELEASED)):
        stage.say(f"\n[bold]{title}[/]")
        for host, line in hosts.lines(command):
            stage.say(f"   [dim]{host:<12}[/] {escape(line)}")


if __name__ == "__main__":
    sys.exit(anyio.run(main, " ".join(sys.argv[1:]) or QUESTION))
