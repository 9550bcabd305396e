"""A scripted agent orders tea in a browser once; saved as a flow, that runs again without a model."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rich.markup import escape

from demo.agent import Agent, command_line, connected
from demo.stage import Stage, Step

PAGE = """<!doctype html><html lang=en><title>Order tea</title><h1>Order tea</h1>
<form onsubmit="thanks.textContent = `Thank you, ${FIELD.value}`; return false">
<label>Name <input id=FIELD required></label> <button>Send order</button></form><p id=thanks role=status></p>"""


class Shop(ThreadingHTTPServer):
    """A shop on this machine, whose developers change its page.

    Attributes:
        page: What it shows.
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
        """Say nothing: the terminal is the demo's."""


async def show_repetition(stage: Stage, home: Path) -> None:
    """Show an order that a flow repeats on a page that has changed; without a browser say so."""
    with serve_shop() as shop, stage.step("What worked once runs again without a model") as step:
        address = f"127.0.0.1:{shop.server_address[1]}"
        settings = ("toolsets=browser,flows", f"egress.allow={address}")
        step.say(f"[dim]$[/] {escape(command_line(settings))}")
        async with connected(home, settings) as agent:
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


async def order_tea(step: Step, agent: Agent, url: str) -> bool:
    """Order as a model would, call by call, and save it; return whether this machine has a browser."""
    started, tokens = time.monotonic(), 0
    opened = await agent.call("createSession", url=url)
    if opened.failed:
        step.say(f"[yellow]No browser on this machine: {escape(opened.text.splitlines()[0])}[/]")
        return False
    session = opened.data["sessionId"]
    for tool, given in (
        ("inputText", {"selector": "#who", "text": "Ada"}),
        ("clickElement", {"selector": "button=Send order"}),
    ):
        done = await agent.call(tool, sessionId=session, **given)
        tokens += step.cost(done.text)
    seconds = time.monotonic() - started
    saved = await agent.call("saveFlow", name="order-tea", sessionId=session)
    step.say(f"once by a scripted model: {seconds:.1f} s, and {tokens:,} tokens of answers for it to read")
    step.say(f"saved {saved.data['path'].rpartition('/')[2]}, {saved.data['steps']} steps, to read and to keep in git")
    await agent.call("closeSession", sessionId=session)
    return True


async def repeat_order(step: Step, agent: Agent) -> None:
    """Run the flow with another name, on the page as it is now."""
    ran = await agent.call("runFlow", name="order-tea", parameters={"name": "Grace"})
    for line in ran.text.splitlines()[:2]:
        step.say(escape(line))
    step.say("[dim]Its page had changed: another id, and something new above. Where it is not sure, it stops.[/]")
