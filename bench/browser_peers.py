"""The browser's contenders: each the MCP server that its makers ship, on the same Chromium, spoken to in its words."""

import os
import re
import tempfile
import time
from abc import ABC, abstractmethod
from typing import Any, Self

from bench.peers import FOLDER, node_command, outrider
from bench.server import Server
from outrider.browser.process.find import find_browser

CHROMIUM = str(find_browser().path)
BARE = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium's sandbox refuses root


class Contender(ABC):
    """A started server and what the page was last said to hold."""

    name = ""

    def __init__(self, url: str) -> None:
        self.url = url
        self.folder = tempfile.TemporaryDirectory()
        self.server = Server(self.command(), **self.environ())
        self.seen = ""

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.server.__exit__()
        self.folder.cleanup()

    @abstractmethod
    def command(self) -> list[str]: ...

    def environ(self) -> dict[str, str]:
        return {}

    def start(self) -> None:  # noqa: B027 - some have nothing to do
        ...

    def close(self) -> None:  # noqa: B027
        ...

    def call(self, tool: str, **arguments: Any) -> str:
        """What a tool answers, as text; what it took is in `took`, in milliseconds."""
        begun = time.perf_counter()
        self.answer = self.server.request("tools/call", {"name": tool, "arguments": arguments})
        self.took = (time.perf_counter() - begun) * 1_000
        text = "\n".join(each["text"] for each in self.answer["content"] if each["type"] == "text")
        assert not self.answer.get("isError"), (self.name, tool, text[:500])
        return text

    def ref(self, name: str) -> str:
        """The reference of what is called so in the last snapshot."""
        found = re.search(self.pattern.replace("NAME", re.escape(name)), self.seen)
        assert found, (self.name, name, self.seen[:2_000])
        return next(group for group in found.groups() if group)

    pattern = ""

    @abstractmethod
    def go(self, path: str) -> str: ...

    @abstractmethod
    def look(self) -> str:
        """All of the page."""

    @abstractmethod
    def click(self, name: str) -> str: ...

    @abstractmethod
    def fill(self, name: str, text: str) -> str: ...

    @abstractmethod
    def shot(self) -> str: ...

    def submit(self, name: str, text: str) -> str:
        """Types and sends the form off; what was said on the way."""
        return self.fill(name, text) + self.click("Search")

    shows = False  # whether an answer shows what has come of an action, so that nobody needs to look


class Outrider(Contender):
    name = "outrider mcp"
    pattern = r'"NAME"(?: #\S+)? ((?:e[a-z]*|f[a-z]+)\d+)|[\[<]NAME ((?:e[a-z]*|f[a-z]+)\d+)'
    shows = True
    settings: tuple[str, ...] = ()

    def command(self) -> list[str]:
        allow = f"egress.allow={self.url.removeprefix('http://')}"
        given = ("--toolsets", "browser", "--set", allow, "--set", f"data_dir={self.folder.name}/data", *self.settings)
        return outrider(*given)

    def start(self) -> None:
        self.session = self.open()

    def open(self) -> str:
        self.call("createSession", url=f"{self.url}/empty")
        return self.answer["structuredContent"]["sessionId"]

    def tool(self, tool: str, **arguments: Any) -> str:
        return self.call(tool, sessionId=self.session, **arguments)

    def go(self, path: str) -> str:
        return self.tool("navigateToUrl", url=f"{self.url}{path}")

    def look(self) -> str:
        self.seen = self.tool("snapshotPage", mode="full")
        return self.seen

    def view(self) -> str:
        """What can be seen now."""
        self.seen = self.tool("snapshotPage")
        return self.seen

    def look_on(self) -> str:
        """All parts of a page that is cut, put together."""
        parts, took = [self.look()], self.took
        while (found := re.search(r"read on with offset=(\d+)", parts[-1])) is not None:
            parts.append(self.tool("snapshotPage", mode="full", offset=int(found.group(1))))
            took += self.took
        self.took = took
        return "\n".join(parts)

    def click(self, name: str, *, settle: bool = True) -> str:
        said = self.tool("clickElement", selector=self.ref(name), settle=settle)
        self.seen += said
        return said

    def fill(self, name: str, text: str) -> str:
        return self.tool("inputText", selector=self.ref(name), text=text)

    def submit(self, name: str, text: str) -> str:
        self.seen = self.tool("inputText", selector=self.ref(name), text=text, submit=True)
        return self.seen

    def shot(self) -> str:
        return self.tool("takeScreenshot")


class Playwright(Contender):
    name = "@playwright/mcp"
    pattern = r'"NAME".*?\[ref=(\w+)\]'

    def command(self) -> list[str]:
        command = node_command("@playwright/mcp", "cli.js")
        assert command, "npm is missing"
        flags = ["--headless", "--isolated", "--executable-path", CHROMIUM, "--output-dir", self.folder.name]
        return [*command, *flags, "--viewport-size", "1200x800", *BARE]

    def close(self) -> None:
        self.call("browser_close")

    def go(self, path: str) -> str:
        return self.call("browser_navigate", url=f"{self.url}{path}")

    def look(self) -> str:
        self.seen = self.call("browser_snapshot")
        return self.seen

    def click(self, name: str) -> str:
        return self.call("browser_click", element=name, target=self.ref(name))

    def fill(self, name: str, text: str) -> str:
        return self.call("browser_type", element=name, target=self.ref(name), text=text)

    def submit(self, name: str, text: str) -> str:
        return self.call("browser_type", element=name, target=self.ref(name), text=text, submit=True)

    def shot(self) -> str:
        return self.call("browser_take_screenshot", type="png", scale="css")

    def text(self) -> str:
        """The text that can be seen, from the browser itself; the options of closed lists cannot."""
        without = "document.querySelectorAll('option').forEach(each => each.remove())"
        return self.call("browser_evaluate", function=f"() => {{ {without}; return document.body.innerText }}")


class DevTools(Contender):
    name = "chrome-devtools-mcp"
    pattern = r'uid=(\S+) \w+ "NAME"'

    def command(self) -> list[str]:
        command = node_command("chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js")
        assert command, "npm is missing"
        flags = ["--headless", "--isolated", "--executablePath", CHROMIUM, "--viewport", "1200x800"]
        quiet = ["--no-usage-statistics", "--no-performance-crux"]
        return [*command, *flags, *quiet, *(f"--chromeArg={flag}" for flag in BARE)]

    def start(self) -> None:
        self.call("list_pages")

    def page(self, tool: str, **arguments: Any) -> str:
        return self.call(tool, pageId=1, **arguments)

    def go(self, path: str) -> str:
        return self.page("navigate_page", type="url", url=f"{self.url}{path}")

    def look(self) -> str:
        self.seen = self.page("take_snapshot")
        return self.seen

    def click(self, name: str) -> str:
        return self.page("click", uid=self.ref(name))

    def fill(self, name: str, text: str) -> str:
        return self.page("fill", uid=self.ref(name), value=text)

    def shot(self) -> str:
        return self.page("take_screenshot")


class AgentBrowser(Contender):
    name = "agent-browser"
    pattern = r'"NAME" \[.*?ref=(e\d+)'

    def __init__(self, url: str) -> None:
        self.session = f"bench{time.monotonic_ns()}"
        super().__init__(url)

    def command(self) -> list[str]:
        return [*agent_browser(), "mcp"]

    def environ(self) -> dict[str, str]:
        return agent_environ(self.session)

    def close(self) -> None:
        self.call("agent_browser_close")

    def go(self, path: str) -> str:
        return self.call("agent_browser_open", url=f"{self.url}{path}")

    def look(self) -> str:
        self.seen = self.call("agent_browser_snapshot", interactive=False)
        return self.seen

    def click(self, name: str) -> str:
        return self.call("agent_browser_click", selector=f"@{self.ref(name)}")

    def fill(self, name: str, text: str) -> str:
        return self.call("agent_browser_fill", selector=f"@{self.ref(name)}", text=text)

    def shot(self) -> str:
        return self.call("agent_browser_screenshot")


def agent_browser() -> list[str]:
    """The program that the package's own script would start, made executable as its installation does."""
    command = node_command("agent-browser", "bin/agent-browser.js")
    assert command, "npm is missing"
    native = FOLDER / "node_modules" / "agent-browser" / "bin" / f"agent-browser-{_platform()}"
    if not native.exists():
        return command
    native.chmod(0o755)
    return [str(native)]


def agent_environ(session: str) -> dict[str, str]:
    given = {"EXECUTABLE_PATH": CHROMIUM, "SESSION": session, "NAMESPACE": "bench", "ARGS": ",".join(BARE)}
    return {f"AGENT_BROWSER_{name}": value for name, value in given.items() if value}


def _platform() -> str:
    machine = os.uname()
    return f"{machine.sysname.lower()}-{'arm64' if machine.machine in ('arm64', 'aarch64') else 'x64'}"


CONTENDERS: tuple[type[Contender], ...] = (Outrider, Playwright, AgentBrowser, DevTools)
