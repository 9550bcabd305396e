"""Drive each browser server with its own tools, on the same Chromium."""

import os
import re
import tempfile
import time
from abc import ABC, abstractmethod
from typing import Any, Self

from bench.peers import PEERS_FOLDER, build_node_command, build_outrider_command
from bench.stdio_server import StdioServer
from outrider.browser.process.find import find_browser

CHROMIUM = str(find_browser().path)
SANDBOX_FLAGS = (
    ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
)  # Chromium's sandbox refuses root


class Contender(ABC):
    """Drive a started server, and remember the last snapshot."""

    name = ""

    def __init__(self, url: str) -> None:
        self.url = url
        self.folder = tempfile.TemporaryDirectory()
        self.server = StdioServer(self.build_command(), **self.build_environment())
        self.seen = ""

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.open_browser()
        return self

    def __exit__(self, *_: object) -> None:
        self.close_browser()
        self.server.__exit__()
        self.folder.cleanup()

    @abstractmethod
    def build_command(self) -> list[str]: ...

    def build_environment(self) -> dict[str, str]:
        return {}

    def open_browser(self) -> None:  # noqa: B027 - some have nothing to do
        ...

    def close_browser(self) -> None:  # noqa: B027
        ...

    def call_tool(self, tool: str, **arguments: Any) -> str:
        """Return a tool's result as text; `took` is its time in milliseconds."""
        started = time.perf_counter()
        self.answer = self.server.send_request("tools/call", {"name": tool, "arguments": arguments})
        self.took = (time.perf_counter() - started) * 1_000
        text = "\n".join(each["text"] for each in self.answer["content"] if each["type"] == "text")
        assert not self.answer.get("isError"), (self.name, tool, text[:500])
        return text

    def find_ref(self, name: str) -> str:
        """Return the reference of a control in the last snapshot."""
        found = re.search(self.pattern.replace("NAME", re.escape(name)), self.seen)
        assert found, (self.name, name, self.seen[:2_000])
        return next(group for group in found.groups() if group)

    pattern = ""

    @abstractmethod
    def open_page(self, path: str) -> str: ...

    @abstractmethod
    def take_snapshot(self) -> str:
        """Take a snapshot of the whole page."""

    @abstractmethod
    def click_control(self, name: str) -> str: ...

    @abstractmethod
    def fill_field(self, name: str, text: str) -> str: ...

    @abstractmethod
    def take_screenshot(self) -> str: ...

    def submit_form(self, name: str, text: str) -> str:
        """Type, submit the form, and return both answers."""
        return self.fill_field(name, text) + self.click_control("Search")

    shows = False  # whether an answer shows the effect of an action


class Outrider(Contender):
    name = "outrider mcp"
    pattern = r'"NAME"(?: #\S+)? ((?:e[a-z]*|f[a-z]+)\d+)|[\[<]NAME ((?:e[a-z]*|f[a-z]+)\d+)'
    shows = True
    settings: tuple[str, ...] = ()

    def build_command(self) -> list[str]:
        allow = f"egress.allow={self.url.removeprefix('http://')}"
        arguments = (
            "--toolsets",
            "browser",
            "--set",
            allow,
            "--set",
            f"data_dir={self.folder.name}/data",
            *self.settings,
        )
        return build_outrider_command(*arguments)

    def open_browser(self) -> None:
        self.session = self.create_session()

    def create_session(self) -> str:
        self.call_tool("createSession", url=f"{self.url}/empty")
        return self.answer["structuredContent"]["sessionId"]

    def call_session_tool(self, tool: str, **arguments: Any) -> str:
        return self.call_tool(tool, sessionId=self.session, **arguments)

    def open_page(self, path: str) -> str:
        return self.call_session_tool("navigateToUrl", url=f"{self.url}{path}")

    def take_snapshot(self) -> str:
        self.seen = self.call_session_tool("snapshotPage", mode="full")
        return self.seen

    def take_viewport_snapshot(self) -> str:
        """Take a snapshot of the visible part."""
        self.seen = self.call_session_tool("snapshotPage")
        return self.seen

    def take_full_snapshot(self) -> str:
        """Join all parts of a page that is returned in parts."""
        parts, duration = [self.take_snapshot()], self.took
        while (found := re.search(r"read on with offset=(\d+)", parts[-1])) is not None:
            parts.append(self.call_session_tool("snapshotPage", mode="full", offset=int(found.group(1))))
            duration += self.took
        self.took = duration
        return "\n".join(parts)

    def click_control(self, name: str, *, settle: bool = True) -> str:
        answer = self.call_session_tool("clickElement", selector=self.find_ref(name), settle=settle)
        self.seen += answer
        return answer

    def fill_field(self, name: str, text: str) -> str:
        return self.call_session_tool("inputText", selector=self.find_ref(name), text=text)

    def submit_form(self, name: str, text: str) -> str:
        self.seen = self.call_session_tool("inputText", selector=self.find_ref(name), text=text, submit=True)
        return self.seen

    def take_screenshot(self) -> str:
        return self.call_session_tool("takeScreenshot")


class Playwright(Contender):
    name = "@playwright/mcp"
    pattern = r'"NAME".*?\[ref=(\w+)\]'

    def build_command(self) -> list[str]:
        command = build_node_command("@playwright/mcp", "cli.js")
        assert command, "npm is missing"
        flags = ["--headless", "--isolated", "--executable-path", CHROMIUM, "--output-dir", self.folder.name]
        return [*command, *flags, "--viewport-size", "1200x800", *SANDBOX_FLAGS]

    def close_browser(self) -> None:
        self.call_tool("browser_close")

    def open_page(self, path: str) -> str:
        return self.call_tool("browser_navigate", url=f"{self.url}{path}")

    def take_snapshot(self) -> str:
        self.seen = self.call_tool("browser_snapshot")
        return self.seen

    def click_control(self, name: str) -> str:
        return self.call_tool("browser_click", element=name, target=self.find_ref(name))

    def fill_field(self, name: str, text: str) -> str:
        return self.call_tool("browser_type", element=name, target=self.find_ref(name), text=text)

    def submit_form(self, name: str, text: str) -> str:
        return self.call_tool("browser_type", element=name, target=self.find_ref(name), text=text, submit=True)

    def take_screenshot(self) -> str:
        return self.call_tool("browser_take_screenshot", type="png", scale="css")

    def read_visible_text(self) -> str:
        """Return the visible text as the browser renders it, without the options of closed lists."""
        without = "document.querySelectorAll('option').forEach(each => each.remove())"
        return self.call_tool("browser_evaluate", function=f"() => {{ {without}; return document.body.innerText }}")


class DevTools(Contender):
    name = "chrome-devtools-mcp"
    pattern = r'uid=(\S+) \w+ "NAME"'

    def build_command(self) -> list[str]:
        command = build_node_command("chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js")
        assert command, "npm is missing"
        flags = ["--headless", "--isolated", "--executablePath", CHROMIUM, "--viewport", "1200x800"]
        quiet = ["--no-usage-statistics", "--no-performance-crux"]
        return [*command, *flags, *quiet, *(f"--chromeArg={flag}" for flag in SANDBOX_FLAGS)]

    def open_browser(self) -> None:
        self.call_tool("list_pages")

    def call_page_tool(self, tool: str, **arguments: Any) -> str:
        return self.call_tool(tool, pageId=1, **arguments)

    def open_page(self, path: str) -> str:
        return self.call_page_tool("navigate_page", type="url", url=f"{self.url}{path}")

    def take_snapshot(self) -> str:
        self.seen = self.call_page_tool("take_snapshot")
        return self.seen

    def click_control(self, name: str) -> str:
        return self.call_page_tool("click", uid=self.find_ref(name))

    def fill_field(self, name: str, text: str) -> str:
        return self.call_page_tool("fill", uid=self.find_ref(name), value=text)

    def take_screenshot(self) -> str:
        return self.call_page_tool("take_screenshot")


class AgentBrowser(Contender):
    name = "agent-browser"
    pattern = r'"NAME" \[.*?ref=(e\d+)'

    def __init__(self, url: str) -> None:
        self.session = f"bench{time.monotonic_ns()}"
        super().__init__(url)

    def build_command(self) -> list[str]:
        return [*find_agent_browser(), "mcp"]

    def build_environment(self) -> dict[str, str]:
        return build_agent_browser_environment(self.session)

    def close_browser(self) -> None:
        self.call_tool("agent_browser_close")

    def open_page(self, path: str) -> str:
        return self.call_tool("agent_browser_open", url=f"{self.url}{path}")

    def take_snapshot(self) -> str:
        self.seen = self.call_tool("agent_browser_snapshot", interactive=False)
        return self.seen

    def click_control(self, name: str) -> str:
        return self.call_tool("agent_browser_click", selector=f"@{self.find_ref(name)}")

    def fill_field(self, name: str, text: str) -> str:
        return self.call_tool("agent_browser_fill", selector=f"@{self.find_ref(name)}", text=text)

    def take_screenshot(self) -> str:
        return self.call_tool("agent_browser_screenshot")


def find_agent_browser() -> list[str]:
    """Return the command that the package's own script would start, made executable."""
    command = build_node_command("agent-browser", "bin/agent-browser.js")
    assert command, "npm is missing"
    native = PEERS_FOLDER / "node_modules" / "agent-browser" / "bin" / f"agent-browser-{_describe_platform()}"
    if not native.exists():
        return command
    native.chmod(0o755)
    return [str(native)]


def build_agent_browser_environment(session: str) -> dict[str, str]:
    arguments = {"EXECUTABLE_PATH": CHROMIUM, "SESSION": session, "NAMESPACE": "bench", "ARGS": ",".join(SANDBOX_FLAGS)}
    return {f"AGENT_BROWSER_{name}": value for name, value in arguments.items() if value}


def _describe_platform() -> str:
    machine = os.uname()
    return f"{machine.sysname.lower()}-{'arm64' if machine.machine in ('arm64', 'aarch64') else 'x64'}"


CONTENDERS: tuple[type[Contender], ...] = (Outrider, Playwright, AgentBrowser, DevTools)
