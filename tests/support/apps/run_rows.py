"""Insert many rows of runs, for pages that must stay fast after months of use."""

import time
from collections.abc import Sequence
from typing import Any

from outrider.agents.tables import questions, run_events, run_steps, runs
from outrider.core.database.database import Database

SAMPLE_USAGE = {
    "requests": 3,
    "input_tokens": 1_200,
    "output_tokens": 340,
    "cached_tokens": 0,
    "tools": 2,
    "unpriced": 0,
}
RUN_ROW_DEFAULTS: dict[str, Any] = {
    "conversation_id": "cnv_1",
    "message_id": "msg_1",
    "parent_run_id": None,
    "parent_call_id": None,
    "agent": "researcher",
    "definition": {
        "name": "researcher",
        "description": "Finds things out",
        "instructions": "You find out.",
        "toolsets": ["web"],
    },
    "query": "Which countries tax sugar?",
    "status": "completed",
    "stop_reason": "done",
    "attempt": 1,
    "depth": 0,
    "ancestors": [],
    "budgets": {"steps": 50, "seconds": 600},
    "model": "openai:gpt-6.1-terra",
    "usage": SAMPLE_USAGE | {"tokens": 1_540, "cost": 0.0123},
    "cost": 0.0123,
    "answer": "Ten of them.",
    "thoughts": "",
    "error": None,
    "history": None,
    "state": {"seconds": 12.5},
    "workspace": "",
    "session": "s",
    "assistant": None,
    "thread": None,
    "identity": "ann@a.example",
    "started_at": None,
    "ended_at": None,
    "deadline": None,
    "executor": None,
}


def build_run_row(name: str, *, root: str = "", age: float = 60.0, **values: Any) -> dict[str, Any]:
    """Build a run that started `age` seconds ago."""
    at = time.time() - age
    times = {"created_at": at, "started_at": at + 0.1, "updated_at": at + 12, "ended_at": at + 12}
    return RUN_ROW_DEFAULTS | times | {"id": name, "root_run_id": root or name} | values


def build_model_step(run: str, number: int, text: str, calls: Sequence[str] = (), **values: Any) -> dict[str, Any]:
    """Build a step of the model."""
    parts = [{"part_kind": "text", "content": text}, *({"part_kind": "tool-call", "tool_name": name} for name in calls)]
    result = {"response": {"kind": "response", "parts": parts}, "usage": SAMPLE_USAGE, "model": "openai:gpt-6.1-terra"}
    return _build_step_row(run, f"model:{number}", number) | {
        "kind": "model", "tool": "openai:gpt-6.1-terra", "arguments": None, "usage": SAMPLE_USAGE, "result": result
    } | values  # fmt: skip


def build_tool_step(
    run: str, number: int, tool: str, arguments: Any, text: str, *, mark: int = 0, **values: Any
) -> dict[str, Any]:
    """Build a tool call of a step."""
    result = {"text": text, "sources": {}, "files": []}
    return _build_step_row(run, f"call_{number}_{mark}", number) | {
        "kind": "tool", "tool": tool, "arguments": arguments, "usage": None, "result": result
    } | values  # fmt: skip


def _build_step_row(run: str, key: str, number: int) -> dict[str, Any]:
    at = time.time() - 1_000 + number
    times = {"started_at": at, "ended_at": at + 0.8, "seconds": 0.8}
    return {"run_id": run, "key": key, "number": number, "outcome": "ok", "state": None} | times


def build_question_row(name: str, run: str, *, root: str = "", age: float = 30.0, **values: Any) -> dict[str, Any]:
    """Build an open question for approval."""
    return {
        "id": name,
        "run_id": run,
        "root_run_id": root or run,
        "call_id": f"call_{name}",
        "agent": "researcher",
        "kind": "approval",
        "toolset": "workspace",
        "tool": "run_python",
        "title": "Run Python",
        "arguments": {"code": "print(1)"},
        "stake": "high",
        "message": "Allow Run Python (run_python) with {'code': 'print(1)'}?",
        "details": {},
        "created_at": time.time() - age,
        "expires_at": None,
        "decision": None,
        "reason": "",
        "answer": None,
        "decided_by": None,
        "decided_at": None,
    } | values


def build_event_rows(run: str, count: int) -> list[dict[str, Any]]:
    """Build this many events with text."""
    data = {"text": "word ", "step": 1}
    return [{"run_id": run, "seq": seq, "at": 1.0, "kind": "text", "data": data} for seq in range(1, count + 1)]


async def insert_rows(
    database: Database,
    *,
    run: Sequence[dict[str, Any]] = (),
    step: Sequence[dict[str, Any]] = (),
    question: Sequence[dict[str, Any]] = (),
    event: Sequence[dict[str, Any]] = (),
) -> None:
    """Insert the rows."""
    async with database.write() as connection:
        for table, rows in ((runs, run), (run_steps, step), (questions, question), (run_events, event)):
            if rows:
                await connection.execute(table.insert(), list(rows))


async def insert_busy_month(database: Database) -> None:
    """Insert the data of a busy month: a hundred runs in forty trees, 10,000 events, steps and questions."""
    task = "which countries tax sugar? " * 6
    roots = [build_run_row(f"run_{n:03}", age=60.0 * n, query=f"Task {n}: {task}") for n in range(40)]
    roots[0] |= {"status": "blocked", "ended_at": None}
    below = [_build_child_run(f"run_{n:03}", mark) for n in range(30) for mark in range(2)]
    steps = [step for number in range(1, 101) for step in _build_long_steps("run_000", number)]
    asked = [build_question_row(f"qst_{n}", "run_000", arguments={"code": "<&>" * 4_000}) for n in range(60)]
    events = [each for n in range(40) for each in build_event_rows(f"run_{n:03}", 250)]
    await insert_rows(database, run=[*roots, *below], step=steps, question=asked, event=events)


def _build_child_run(root: str, mark: int) -> dict[str, Any]:
    above = {"parent_run_id": root, "parent_call_id": f"call_1_{mark}"}
    return build_run_row(f"{root}_{mark}", root=root, agent="clerk") | above


def _build_long_steps(run: str, number: int) -> list[dict[str, Any]]:
    """Build steps with texts longer than a page shows, of characters that take five bytes in HTML."""
    given = {"url": f"https://e.example/{number}", "query": "'tea' & <more> " * 200}
    calls = [build_tool_step(run, number, "web_fetch", given, "<b>&'" * 2_000, mark=mark) for mark in range(2)]
    return [build_model_step(run, number, 'I\'d look at "this". ' * 200, ["web_fetch"]), *calls]
