"""What a model has to read for a task in the browser: our browser's agent, and a loop over Playwright MCP's tools."""

import json
import re
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.agents_model import USAGE, chunk, delta
from bench.browser_peers import Outrider, Playwright
from bench.figures import Measured, Part
from bench.peers import outrider
from bench.server import Server
from bench.sites import served_by
from outrider.core.text import count_tokens

OURS, PEER = "outrider's browser agent", "bare loop over @playwright/mcp"
SESSION = re.compile(r"The browser session ([0-9a-f-]{36}) is open")
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
    read: dict[str, dict[str, list[int]]] = {OURS: {}, PEER: {}}
    with served_by("bench.browser_site") as url, Playwright(url) as peer:
        for name, (path, task, steps) in TASKS.items():
            read[OURS][name] = _ours(url, path, task, steps)
            read[PEER][name] = _theirs(peer, path, task, steps)
    return Part("Tokens of the browser agent", METHOD, _tables(read), _remark(read))


METHOD = (
    "The same scripted model does the same tasks on the same local pages: search a shop of 48 products and buy "
    "something, fill in a registration form, add a card to a board. Ours is `web_eval_agent` as it is served, with "
    "its instructions and rules; if the next control is outside the window, the model looks at the whole page. The "
    "peer is a bare loop with one sentence of instructions over the tools of Playwright MCP. It takes a snapshot "
    "after each action that may have changed the page, since the answers do not show it. Tokens are those of all "
    "requests to the model, messages and tools as compact JSON, in the o200k vocabulary."
)


def _tables(read: dict[str, dict[str, list[int]]]) -> list[Measured]:
    def figures(of: Callable[[list[int]], float], task: str) -> dict[str, list[float]]:
        return {name: [of(tasks[task])] for name, tasks in read.items()}

    whole = [Measured(f"tokens of all requests, {task}", OURS, figures(sum, task), digits=0) for task in TASKS]
    every = {name: [each for requests in tasks.values() for each in requests] for name, tasks in read.items()}
    one = {name: [sum(requests) / len(requests)] for name, requests in every.items()}
    return [Measured("tokens a request", OURS, one, digits=0), *whole]


def _remark(read: dict[str, dict[str, list[int]]]) -> str:
    counts = (f"{name} {', '.join(f'{task} {len(of)}' for task, of in tasks.items())}" for name, tasks in read.items())
    return f"Requests: {'; '.join(counts)}."


# Ours: the served tool, with a model that is a server


def _ours(url: str, path: str, task: str, steps: Sequence[Step]) -> list[int]:
    bodies: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home, _model(bodies, steps) as model:
        settings = (
            "models.default=bench",
            "models.profiles.bench.model=bench",
            f"models.profiles.bench.base_url={model}",
            f"egress.allow={url.removeprefix('http://')}",
            f"data_dir={home}/data",
        )
        flags = [part for each in settings for part in ("--set", each)]
        with Server(outrider("--toolsets", "browser,web_eval", *flags), HOME=home) as server:
            given = {"url": f"{url}{path}", "task": task}
            answer = server.request("tools/call", {"name": "web_eval_agent", "arguments": given})
    assert answer["structuredContent"]["stop_reason"] == "done", answer
    results = [str(each["content"]) for each in bodies[-1]["messages"] if each["role"] == "tool"]
    assert not [each for each in results if each.startswith("error (")], results
    return [_tokens(body["messages"], body["tools"]) for body in bodies]


class Scripted:
    """What the model does: it looks, does each step, looks at the whole page where it does not see the next."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._looked = False

    def next(self, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        text = json.dumps(body["messages"], ensure_ascii=False)
        found = SESSION.search(text)
        assert found, text[:2_000]
        session = {"sessionId": found[1]}
        if not self._looked:
            self._looked = True
            return "snapshotPage", session
        if not self._steps:
            return "done", {"success": True, "result": "It is done."}
        kind, name, *typed = self._steps[0]
        ref = _ref(
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


def _ref(pattern: str, name: str, seen: Sequence[str]) -> str | None:
    """The reference of what is called so, where it was last seen."""
    for text in reversed(seen):
        if found := re.search(pattern.replace("NAME", re.escape(name)), text):
            return next(group for group in found.groups() if group)
    return None


@contextmanager
def _model(bodies: list[dict[str, Any]], steps: Sequence[Step]) -> Generator[str]:
    """The scripted model's server; yields its base address."""

    scripted = Scripted(steps)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            bodies.append(body)
            tool, arguments = scripted.next(body)
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"call_{len(bodies)}", "type": "function", "function": function}
            events = [delta(tool_calls=[call]), delta("tool_calls"), chunk(choices=[], usage=USAGE), "data: [DONE]\n\n"]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write("".join(events).encode())

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name there

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


# The peer: its tools in a loop that keeps everything it was told


def _theirs(peer: Playwright, path: str, task: str, steps: Sequence[Step]) -> list[int]:
    tools = [_function(each) for each in peer.server.tools()]
    question = f"{task}\n\nThe address is {peer.url}{path}."
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Do the task with the browser."},
        {"role": "user", "content": question},
    ]
    read: list[int] = []
    for act in _acts(peer, path, steps):
        read.append(_tokens(messages, tools))
        tool, arguments, said = act()
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{len(read)}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": said},
        ]
    return [*read, _tokens(messages, tools)]


Act = Callable[[], tuple[str, dict[str, Any], str]]


def _acts(peer: Playwright, path: str, steps: Sequence[Step]) -> Generator[Act]:
    yield lambda: _called(peer, "browser_navigate", url=f"{peer.url}{path}")
    yield lambda: _looked(peer)
    for kind, name, *typed in steps:
        aim = {"element": name, "target": peer.ref(name)}
        if kind == "click":
            yield lambda aim=aim: _called(peer, "browser_click", **aim)
        else:
            more = {"text": typed[0]} | ({"submit": True} if kind == "submit" else {})
            yield lambda aim=aim | more: _called(peer, "browser_type", **aim)
        if kind != "fill":
            yield lambda: _looked(peer)


def _called(peer: Playwright, tool: str, **arguments: Any) -> tuple[str, dict[str, Any], str]:
    return tool, arguments, peer.call(tool, **arguments)


def _looked(peer: Playwright) -> tuple[str, dict[str, Any], str]:
    return "browser_snapshot", {}, peer.look()


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    about = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": about}


def _tokens(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> int:
    return count_tokens(json.dumps([messages, tools], ensure_ascii=False, separators=(",", ":")))
