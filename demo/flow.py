"""Order tea in a browser once, save it as a flow, and run it again without a model."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rich.markup import escape

from demo.agent import Agent, connect_agent, format_command
from demo.terminal import DemoStep, Terminal

PAGE = """<!doctype html><html lang=en><title>Order tea</title><h1>Order tea</h1>
<form onsubmit="thanks.textContent = `Thank you, ${FIELD.value}`; return false">
<label>Name <input id=FIELD required></label> <button>Send order</button></form><p id=thanks role=status></p>"""


class Shop(ThreadingHTTPServer):
    """A shop on this machine whose page changes.

    Attributes:
        page: Its only page.
    """

    page = PAGE.replace("FIELD", "who")


class ShopHandler(BaseHTTPRequestHandler):
    """Answers with the shop's page."""

    def do_GET(self) -> None:
        """Send the page."""
        assert isinstance(self.server, Shop)
        data = self.server.page.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep requests out of the demo's output."""


async def run_flow_demo(terminal: Terminal, home: Path) -> None:
    """Repeat an order on a changed page with a flow, or say that a browser is missing."""
    with serve_shop() as shop, terminal.step("Repeat browser actions without a model: saveFlow, runFlow") as step:
        address = f"127.0.0.1:{shop.server_address[1]}"
        settings = ("toolsets=browser,flows", f"egress.allow={address}")
        step.print(f"[dim]$[/] {escape(format_command(settings))}")
        async with connect_agent(home, settings) as agent:
            if await order_tea(step, agent, f"http://{address}/"):
                shop.page = PAGE.replace("FIELD", "customer").replace("<form", "<nav>New: Oolong</nav><form")
                await repeat_order(step, agent)


@contextmanager
def serve_shop() -> Generator[Shop]:
    """Serve the shop on loopback while the body runs."""
    with Shop(("127.0.0.1", 0), ShopHandler) as shop:
        thread = threading.Thread(target=shop.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield shop
        finally:
            shop.shutdown()


async def order_tea(step: DemoStep, agent: Agent, url: str) -> bool:
    """Order as a model would, call by call, and save it; return whether this machine has a browser."""
    started, tokens = time.monotonic(), 0
    opened = await agent.call("createSession", url=url)
    if opened.failed:
        step.print(f"[yellow]No browser on this machine: {escape(opened.text.splitlines()[0])}[/]")
        return False
    session = opened.data["sessionId"]
    for tool, given in (
        ("inputText", {"selector": "#who", "text": "Ada"}),
        ("clickElement", {"selector": "button=Send order"}),
    ):
        done = await agent.call(tool, sessionId=session, **given)
        tokens += step.count_tokens(done.text)
    seconds = time.monotonic() - started
    saved = await agent.call("saveFlow", name="order-tea", sessionId=session)
    step.print(f"first run, by a scripted model: {seconds:.1f} s, {tokens:,} tokens of answers for it to read")
    name = saved.data["path"].rpartition("/")[2]
    step.print(f"saved {name}: {saved.data['steps']} steps in a file that people can read and review")
    await agent.call("closeSession", sessionId=session)
    return True


async def repeat_order(step: DemoStep, agent: Agent) -> None:
    """Run the flow with another name, on the current page."""
    ran = await agent.call("runFlow", name="order-tea", parameters={"name": "Grace"})
    for line in ran.text.splitlines()[:2]:
        step.print(escape(line))
    step.print(
        "[dim]The page had changed in between: the field has another id, and there is a new menu. Where a flow is not "
        "sure which element is meant, it stops instead of pressing one.[/]"
    )
