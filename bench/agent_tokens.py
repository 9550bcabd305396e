"""Count the tokens that a model reads for a task in the browser."""

import json
import re
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.browser_peers import Outrider, Playwright
from bench.page_servers import run_site
from bench.peers import build_outrider_command
from bench.scripted_model import USAGE, format_chunk, format_delta
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part
from outrider.core.text import count_tokens

BROWSER_AGENT, PLAYWRIGHT_LOOP = "outrider's browser agent", "bare loop over @playwright/mcp"
SESSION_PATTERN = re.compile(r"The browser session ([0-9a-f-]{36}) is open")
Step = tuple[str, ...]
TASKS: dict[str, tuple[str, str, list[Step]]] = {
    "shop": (
        "/shop",
        "Find the winter lamp 12, put it into the cart and go to the checkout.",
        [
            ("submit", "Search the shop", "lamp"),
            ("click", "Winter lamp 12"),
            ("click", "Add to cart"),
            ("click", "Checkout"),
        ],
    ),
    "form": (
        "/form",
        "Register Ann Lee of Graz.",
        [("fill", "First name", "Ann"), ("fill", "Last name", "Lee"), ("fill", "City", "Graz"), ("click", "Register")],
    ),
    "board": ("/spa", "Add a card about tea.", [("fill", "New card", "tea"), ("click", "Add")]),
}


def run(*, quick: bool) -> Part:  # noqa: ARG001 - counting is quick
    method = (
        "The same scripted model does the same tasks on the same local pages: search a shop of 48 products and buy "
        "something, fill in a registration form, add a card to a board. Ours is `web_eval_agent` as it is served, with "
        "its instructions and rules; if the next control is outside the window, the model looks at the whole page. The "
        "peer is a bare loop over the tools of Playwright MCP, with one sentence of instructions. It takes a snapshot "
        "after each action that may have changed the page, because the answers do not show the page. Tokens are those "
        "of all requests to the model (messages and tools as compact JSON), in the o200k vocabulary."
    )
    read: dict[str, dict[str, list[int]]] = {BROWSER_AGENT: {}, PLAYWRIGHT_LOOP: {}}
    with run_site("bench.browser_site") as url, Playwright(url) as peer:
        for name, (path, task, steps) in TASKS.items():
            read[BROWSER_AGENT][name] = _count_outrider_tokens(url, path, task, steps)
            read[PLAYWRIGHT_LOOP][name] = _count_playwright_tokens(peer, path, task, steps)
    return Part("Tokens of the browser agent", method, _build_tables(read), _describe_request_counts(read))


def _build_tables(read: dict[str, dict[str, list[int]]]) -> list[Comparison]:
    def apply_to_tasks(of: Callable[[list[int]], float], task: str) -> dict[str, list[float]]:
        return {name: [of(tasks[task])] for name, tasks in read.items()}

    whole = [
        Comparison(f"tokens of all requests, {task}", BROWSER_AGENT, apply_to_tasks(sum, task), digits=0)
        for task in TASKS
    ]
    every = {name: [each for requests in tasks.values() for each in requests] for name, tasks in read.items()}
    one = {name: [sum(requests) / len(requests)] for name, requests in every.items()}
    return [Comparison("tokens a request", BROWSER_AGENT, one, digits=0), *whole]


def _describe_request_counts(read: dict[str, dict[str, list[int]]]) -> str:
    counts = (f"{name} {', '.join(f'{task} {len(of)}' for task, of in tasks.items())}" for name, tasks in read.items())
    return f"Requests: {'; '.join(counts)}."


# Our side: the served tool, with a model server


def _count_outrider_tokens(url: str, path: str, task: str, steps: Sequence[Step]) -> list[int]:
    bodies: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home, _serve_scripted_model(bodies, steps) as model:
        settings = (
            "models.default=bench",
            "models.profiles.bench.model=bench",
            f"models.profiles.bench.base_url={model}",
            f"egress.allow={url.removeprefix('http://')}",
            f"data_dir={home}/data",
        )
        flags = [part for each in settings for part in ("--set", each)]
        with StdioServer(build_outrider_command("--toolsets", "browser,web_eval", *flags), HOME=home) as server:
            arguments = {"url": f"{url}{path}", "task": task}
            answer = server.send_request("tools/call", {"name": "web_eval_agent", "arguments": arguments})
    assert answer["structuredContent"]["stop_reason"] == "done", answer
    results = [str(each["content"]) for each in bodies[-1]["messages"] if each["role"] == "tool"]
    assert not [each for each in results if each.startswith("error (")], results
    return [_count_request_tokens(body["messages"], body["tools"]) for body in bodies]


class ScriptedModel:
    """Look, do each step, and look at the whole page if the next control is missing."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._looked = False

    def choose_call(self, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        text = json.dumps(body["messages"], ensure_ascii=False)
        found = SESSION_PATTERN.search(text)
        assert found, text[:2_000]
        session = {"sessionId": found[1]}
        if not self._looked:
            self._looked = True
            return "snapshotPage", session
        if not self._steps:
            return "done", {"success": True, "result": "It is done."}
        kind, name, *typed = self._steps[0]
        ref = _find_ref(
            Outrider.pattern, name, [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]
        )
        if ref is None:
            return "snapshotPage", session | {"mode": "full"}
        self._steps.pop(0)
        if kind == "click":
            return "clickElement", session | {"selector": ref}
        return "inputText", session | {"selector": ref, "text": typed[0]} | (
            {"submit": True} if kind == "submit" else {}
        )


def _find_ref(pattern: str, name: str, seen: Sequence[str]) -> str | None:
    """Return the reference of a control in the newest snapshot that shows it."""
    for text in reversed(seen):
        if found := re.search(pattern.replace("NAME", re.escape(name)), text):
            return next(group for group in found.groups() if group)
    return None


@contextmanager
def _serve_scripted_model(bodies: list[dict[str, Any]], steps: Sequence[Step]) -> Generator[str]:
    """Serve the scripted model; yields its base address."""

    scripted = ScriptedModel(steps)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            bodies.append(body)
            tool, arguments = scripted.choose_call(body)
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"call_{len(bodies)}", "type": "function", "function": function}
            events = [
                format_delta(tool_calls=[call]),
                format_delta("tool_calls"),
                format_chunk(choices=[], usage=USAGE),
                "data: [DONE]\n\n",
            ]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write("".join(events).encode())

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name there

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


# The peer's tools, in a loop that keeps every answer


def _count_playwright_tokens(peer: Playwright, path: str, task: str, steps: Sequence[Step]) -> list[int]:
    tools = [_describe_function(each) for each in peer.server.list_tools()]
    question = f"{task}\n\nThe address is {peer.url}{path}."
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Do the task with the browser."},
        {"role": "user", "content": question},
    ]
    read: list[int] = []
    for act in _iter_playwright_calls(peer, path, steps):
        read.append(_count_request_tokens(messages, tools))
        tool, arguments, answer = act()
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{len(read)}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": answer},
        ]
    return [*read, _count_request_tokens(messages, tools)]


PlaywrightCall = Callable[[], tuple[str, dict[str, Any], str]]


def _iter_playwright_calls(peer: Playwright, path: str, steps: Sequence[Step]) -> Generator[PlaywrightCall]:
    yield lambda: _call_playwright(peer, "browser_navigate", url=f"{peer.url}{path}")
    yield lambda: _take_playwright_snapshot(peer)
    for kind, name, *typed in steps:
        aim = {"element": name, "target": peer.find_ref(name)}
        if kind == "click":
            yield lambda aim=aim: _call_playwright(peer, "browser_click", **aim)
        else:
            more = {"text": typed[0]} | ({"submit": True} if kind == "submit" else {})
            yield lambda aim=aim | more: _call_playwright(peer, "browser_type", **aim)
        if kind != "fill":
            yield lambda: _take_playwright_snapshot(peer)


def _call_playwright(peer: Playwright, tool: str, **arguments: Any) -> tuple[str, dict[str, Any], str]:
    return tool, arguments, peer.call_tool(tool, **arguments)


def _take_playwright_snapshot(peer: Playwright) -> tuple[str, dict[str, Any], str]:
    return "browser_snapshot", {}, peer.take_snapshot()


def _describe_function(tool: dict[str, Any]) -> dict[str, Any]:
    about = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": about}


def _count_request_tokens(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> int:
    return count_tokens(json.dumps([messages, tools], ensure_ascii=False, separators=(",", ":")))
