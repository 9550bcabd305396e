"""Test that questions are decided exactly once and that allowances are remembered."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from outrider.agents.approvals import Questions, build_agent_key
from outrider.agents.tables import runs
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.questions import Question, QuestionAnswer
from outrider.core.tool import Tool
from support.processes import python_source
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio


async def send_mail(to: str, password: str = "") -> str:
    return to + password


SEND = Tool("send_mail", "Send mail", "Send a mail.", "act", send_mail, toolset="mail", private=frozenset({"password"}))
ROW: dict[str, Any] = {
    "conversation_id": "cnv_1",
    "message_id": "msg_1",
    "agent": "clerk",
    "definition": {},
    "query": "q",
    "status": "running",
    "attempt": 1,
    "depth": 0,
    "ancestors": [],
    "budgets": {},
    "usage": {},
    "answer": "",
    "thoughts": "",
    "state": {},
    "workspace": "w",
    "session": "s",
    "identity": "ann@a.example",
    "created_at": 0.0,
    "updated_at": 0.0,
}
ANN = Call(workspace="w", session="s", identity="ann@a.example")


@pytest.fixture
async def questions(database: Database) -> Questions:
    """The questions of three runs: a root and two below it."""
    async with database.write() as connection:
        await connection.execute(
            runs.insert(), [ROW | {"id": name, "root_run_id": "root"} for name in ("root", "left", "right")]
        )
    return Questions(database)


async def ask_question(questions: Questions, run: str = "left", call: str = "c1", **overrides: Any) -> Question:
    asking = SimpleNamespace(id=run, root_run_id="root", agent="clerk")
    values: dict[str, Any] = {
        "kind": "approval",
        "tool": SEND,
        "arguments": {"to": "bob"},
        "stake": "high",
        "message": "Send it?",
    }
    return await questions.ask(asking, call, **(values | overrides))


async def test_asking_the_same_question_twice_stores_it_once(questions: Questions):
    first = await ask_question(questions)
    assert await ask_question(questions, message="again") == first
    assert (first.conversation_id, first.message_id, first.tool, first.arguments) == (
        "cnv_1",
        "msg_1",
        "send_mail",
        {"to": "bob"},
    )


async def test_private_arguments_are_not_stored(questions: Questions):
    assert (await ask_question(questions, arguments={"password": "hunter2"})).arguments == {"password": "(not kept)"}


async def test_partial_decisions_are_stored_and_the_others_stay_open(questions: Questions):
    left, right = await ask_question(questions), await ask_question(questions, "right")
    assert [each.id for each in await questions.list_pending("root")] == [left.id, right.id]
    still_open = await questions.apply_answers(
        "root", {left.id: QuestionAnswer("rejected", "not today"), "stranger": QuestionAnswer("approved")}
    )
    assert [each.id for each in still_open] == [right.id]
    decided = await questions.find_decision("left", "c1")
    assert decided is not None
    assert decided.recorded_answer == QuestionAnswer("rejected", "not today")
    assert await questions.find_decision("right", "c1") is None


async def test_the_first_decision_stays_and_a_later_one_returns_it(questions: Questions):
    made = await ask_question(questions)
    await questions.decide(made.id, "approved", by="ann")
    late = await questions.decide(made.id, "rejected", reason="too late", by="bob")
    assert (late.decision, late.reason, late.decided_by) == ("approved", "", "ann")


async def test_one_of_many_simultaneous_decisions_wins(questions: Questions):
    made = await ask_question(questions)
    heard: set[tuple[Any, ...]] = set()

    async def decide(name: str) -> None:
        done = await questions.decide(made.id, "approved" if name < "e" else "rejected", by=name)
        heard.add((done.decision, done.decided_by))

    async with anyio.create_task_group() as tasks:
        for name in "abcdefgh":
            tasks.start_soon(decide, name)
    assert len(heard) == 1


DECIDE = """
import sys, anyio
from pathlib import Path
from outrider.agents.approvals import Questions, build_agent_key
from outrider.core.database.database import Database

async def main(path, question, name):
    database = Database.from_file(Path(path))
    questions = Questions(database)
    await questions.get(question)
    print("ready", flush=True)
    sys.stdin.readline()
    print((await questions.decide(question, "approved", by=name)).decided_by)
    await database.close()

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.nightly
async def test_one_of_several_processes_that_decide_at_once_wins(questions: Questions, database: Database):
    made = await ask_question(questions)
    path = Path(database.url.split("///", 1)[1])
    processes = [
        subprocess.Popen(
            python_source.build_command(DECIDE, path, made.id, name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        for name in "abc"
    ]
    assert all(each.stdout is not None and each.stdout.readline() == "ready\n" for each in processes)
    for each in processes:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    winners = {each.communicate(timeout=PROCESS_TIMEOUT_S)[0].strip() for each in processes}
    assert len(winners) == 1
    assert {(await questions.get(made.id)).decided_by} == winners


@pytest.mark.parametrize(
    ("kind", "decision"), [("approval", "answered"), ("authentication", "always_approved"), ("question", "approved")]
)
async def test_a_decision_must_fit_the_question(questions: Questions, kind: str, decision: Any):
    made = await ask_question(questions, kind=kind)
    with pytest.raises(InvalidInput, match="decision"):
        await questions.decide(made.id, decision)


async def test_an_open_question_is_answered_with_text(questions: Questions):
    made = await ask_question(questions, kind="question", message="Which Bob?")
    await questions.apply_answers("root", {made.id: QuestionAnswer("answered", value="Bob Miller")})
    decided = await questions.find_decision("left", "c1")
    assert decided is not None
    assert decided.recorded_answer == QuestionAnswer("answered", value="Bob Miller")


async def test_an_unknown_question_is_reported_as_missing(questions: Questions):
    with pytest.raises(NotFound, match="this question no longer exists"):
        await questions.decide("qst_nobody", "approved")


async def test_always_is_remembered_for_person_workspace_agent_and_tool(questions: Questions):
    clerk = build_agent_key("clerk", {})
    made = await ask_question(questions)
    assert not await questions.is_always_allowed(ANN, clerk, "send_mail")
    await questions.decide(made.id, "always_approved")
    assert await questions.is_always_allowed(ANN, clerk, "send_mail")
    for other in (Call(workspace="w", identity="bob"), Call(workspace="x", identity="ann@a.example"), Call()):
        assert not await questions.is_always_allowed(other, clerk, "send_mail")
    for change in ({"instructions": "Send all."}, {"place": "/b/.outrider/agents"}, {"origin": "workspace"}):
        assert not await questions.is_always_allowed(ANN, build_agent_key("clerk", change), "send_mail")
    assert not await questions.is_always_allowed(ANN, build_agent_key("boss", {}), "send_mail")
    assert not await questions.is_always_allowed(ANN, clerk, "send_money")
    assert await questions.revoke_allowance(ANN, clerk, "send_mail")
    assert not await questions.is_always_allowed(ANN, clerk, "send_mail")


async def test_a_late_always_decision_does_not_override_a_rejection(questions: Questions):
    made = await ask_question(questions)
    await questions.decide(made.id, "rejected")
    await questions.decide(made.id, "always_approved")
    assert not await questions.is_always_allowed(ANN, build_agent_key("clerk", {}), "send_mail")
