"""Search, read and cite, then delegate, write a report and repeat browser actions.

Without internet access it reads the Python documentation of this machine.
"""

import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from rich.markup import escape

from demo import flow, hosts, python_docs, report, researcher
from demo.agent import Agent, ToolAnswer, connect_agent, format_command, stop_daemon
from demo.evidence import Quote, find_best_quotes, verify_quote
from demo.terminal import DemoStep, Terminal

QUESTION = "How do I limit the number of threads in a pool?"
PROBE_HOST = "docs.python.org"
SEARCH_TIMEOUT_S = 30.0
OFFLINE_TIMEOUT_S = 6.0  # of a search if not even names resolve
MAX_PAGES = 3
MAX_QUOTES = 4


async def run_demo(question: str) -> int:
    """Return the exit code: 0 if evidence was found and verified, else 1."""
    terminal = Terminal()
    terminal.print(f"[bold]Outrider[/] answers: [bold cyan]{escape(question)}[/]")
    with tempfile.TemporaryDirectory(prefix="outrider-demo-") as folder:
        try:
            found = await run_online(terminal, Path(folder), question) or await run_offline(
                terminal, Path(folder), question
            )
        finally:
            with anyio.CancelScope(shield=True):
                await stop_daemon(Path(folder))
    if not found:
        terminal.print("\n[red]No evidence was found for this question.[/]")
        return 1
    terminal.print(f"\n[green]Done:[/] {terminal.describe_total()}.")
    print_hosts(terminal)
    return 0


async def run_online(terminal: Terminal, home: Path, question: str) -> bool:
    """Search the web and read what it finds; return False without internet access or results."""
    async with start_server(terminal, home) as agent:
        hits = await search_web(terminal, agent, question)
        found = bool(hits) and await answer_question(terminal, agent, question, hits)
    if found and await researcher.run_researcher_demo(terminal, home, question, ()):
        await report.run_report_demo(terminal, home, question, hits[:MAX_PAGES], ())
        await flow.run_flow_demo(terminal, home)
        terminal.print("\nAll of this used the [bold]internet[/].")
        return True
    terminal.print("\n[yellow]Continuing offline, with the Python documentation of this machine.[/]")
    return False


async def run_offline(terminal: Terminal, home: Path, question: str) -> bool:
    """Read the documentation of this machine, then search it."""
    async with python_docs.serve_python_docs() as index:
        settings = (f"egress.allow={python_docs.get_host_and_port(index)}", "search.order=local")
        async with start_server(terminal, home, settings) as agent:
            with terminal.step(f"Read the Python documentation of this machine: web_fetch {index} …") as step:
                read, characters, failed = await python_docs.read_python_docs(agent, index)
                step.print(
                    f"read {len(read)} pages with {characters:,} characters, which can be searched now; {failed} failed"
                )
            with terminal.step("Search the pages that were read: web_search") as step:
                hits = print_hits(step, await agent.call("web_search", query=question, num_results=5))
            found = await answer_question(terminal, agent, question, hits)
        done = found and await researcher.run_researcher_demo(terminal, home, question, settings)
        if done:
            await report.run_report_demo(terminal, home, question, hits[:MAX_PAGES], settings)
            await flow.run_flow_demo(terminal, home)
    if done:
        terminal.print("\nAll of this ran [bold]offline[/], on real documents of this machine.")
    return done


@asynccontextmanager
async def start_server(terminal: Terminal, home: Path, settings: tuple[str, ...] = ()) -> AsyncGenerator[Agent]:
    """Start a server and print what a model sees of it; yield a connected agent."""
    async with AsyncExitStack() as stack:
        with terminal.step("Start the server and list its tools") as step:
            agent = await stack.enter_async_context(connect_agent(home, settings))
            step.print(f"[dim]$[/] {escape(format_command(settings))}    [dim](data in {home})[/]")
            tools = (await agent.client.list_tools()).tools
            step.count_tokens("".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools))
            names = [tool.name for tool in tools]
            step.print(f"{len(names)} tools: {', '.join([*names[-3:], *names[:5]])}, …")
        yield agent


async def search_web(terminal: Terminal, agent: Agent, question: str) -> list[str]:
    """Return the URLs that search providers found; empty without internet access."""
    with terminal.step("Search the web without an API key: web_search") as step:
        started = anyio.current_time()
        found: ToolAnswer | None = None
        with anyio.CancelScope(deadline=started + SEARCH_TIMEOUT_S) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(_give_up_early, scope, started))
                found = await agent.call("web_search", query=question, num_results=5)
                tasks.cancel_scope.cancel()
        if found is not None and found.data.get("provider") not in (None, "local"):
            return print_hits(step, found)
        step.print("[yellow]No internet access.[/]")
        return []


async def _give_up_early(scope: anyio.CancelScope, started: float) -> None:
    """Shorten the timeout if not even a name resolves."""
    with anyio.move_on_after(OFFLINE_TIMEOUT_S):
        try:
            await anyio.getaddrinfo(PROBE_HOST, 443, type=socket.SOCK_STREAM)
        except OSError:
            pass
        else:
            return
    scope.deadline = started + OFFLINE_TIMEOUT_S


def print_hits(step: DemoStep, found: ToolAnswer) -> list[str]:
    """Print the results of a search; return their URLs."""
    step.count_tokens(found.text)
    hits = found.data.get("results", [])
    for number, hit in enumerate(hits, 1):
        step.print(f"{number}. {escape(hit['title'])}  [blue]{escape(hit['url'])}[/]")
    if hits:
        step.print(f"[dim]from {found.data['provider']}[/]")
    return [hit["url"] for hit in hits]


async def answer_question(terminal: Terminal, agent: Agent, question: str, hits: list[str]) -> bool:
    """Read the passages of the best pages that answer the question, and print quotes with their sources."""
    pages: dict[str, ToolAnswer] = {}
    for url in hits[:MAX_PAGES]:
        with terminal.step(f"Read only the passages that answer: web_fetch {url} query=…") as step:
            page = await agent.call("web_fetch", url=url, query=question)
            step.count_tokens(page.text)
            if page.failed:
                step.print(f"[yellow]{escape(page.text.splitlines()[0])}[/]")
                continue
            pages[url] = page
            count, total = len(page.meta.get("outrider/excerpts", [])), page.meta.get("outrider/total_chars", 0)
            step.print(f"{count} passage{'s' if count != 1 else ''} of a page with {total:,} characters")
    return await cite(terminal, agent, find_best_quotes(question, pages, MAX_QUOTES))


async def cite(terminal: Terminal, agent: Agent, found: list[Quote]) -> bool:
    """Print the quotes that are found again at their position in the page."""
    with terminal.step("Verify each quote: read it again at its position") as step:
        verified = [quote for quote in found if await verify_quote(agent, quote)]
        for number, quote in enumerate(verified, 1):
            step.print(f"\\[{number}] [bold]{escape(' '.join(quote.text.split()))}[/]")
            step.print(f"    [blue]{escape(quote.url)}[/]  characters {quote.start}-{quote.end}")
        if not verified:
            step.print("[yellow]These pages do not answer the question.[/]")
    return bool(verified)


def print_hosts(terminal: Terminal) -> None:
    """Print the commands that add Outrider to a host."""
    for title, command in (
        ("Add this checkout to your host", hosts.get_checkout_command()),
        ("Or the released package", hosts.RELEASE_COMMAND),
    ):
        terminal.print(f"\n[bold]{title}[/]")
        for host, line in hosts.list_host_lines(command):
            terminal.print(f"   [dim]{host:<12}[/] {escape(line)}")


if __name__ == "__main__":
    sys.exit(anyio.run(run_demo, " ".join(sys.argv[1:]) or QUESTION))
