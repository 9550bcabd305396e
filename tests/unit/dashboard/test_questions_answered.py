"""Answers from dashboard and clients are the same rows; the first counts, and later ones learn that."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.agents.approvals import Questions
from outrider.agents.views.answers import AnswerReport, AnswerService
from outrider.agents.views.inbox import Inbox
from outrider.agents.views.overview import RunOverview
from outrider.agents.views.run_list import RunFilter
from outrider.agents.views.run_summary import RunSummary
from outrider.agents.views.step_list import StepList
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, Refused
from outrider.core.questions import Question, QuestionAnswer
from support.apps import mcp_clients
from support.apps.agents_app import AgentsApp, ChatTurn, open_agents_app
from support.apps.run_rows import build_question_row, build_run_row, insert_rows
from support.databases import postgres, sqlite
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
ASKS = {"create_goal": "high", "add_todo": "high"}
CLERK = {"toolsets": ["planning"], "stakes": ASKS}
BOSS: dict[str, Any] = {"tools": ["run_clerk"]}
TWO = (
    ChatTurn("Both.", calls=[("create_goal", {"goal": "tea"}), ("add_todo", {"name": "boil"})]),
    ChatTurn("Clerk is done."),
)
QUESTION_TURNS = {
    "clerk": TWO,
    "boss": (ChatTurn("Go.", calls=[("run_clerk", {"query": "both"})]), ChatTurn("Boss is done.")),
}
BY = "dashboard (browser test)"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=postgres.needs_postgres)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of each kind."""
    if request.param == "postgres":
        return request.getfixturevalue("server").create_migrated_database()
    return f"sqlite+aiosqlite:///{sqlite.create_migrated_file(tmp_path / 'one.db')}"


@asynccontextmanager
async def open_databases(address: str, many: int) -> AsyncGenerator[list[Database]]:
    """The same database, opened like by several processes."""
    each = [Database(address) for _ in range(many)]
    try:
        yield each
    finally:
        for one in each:
            await one.close()


@pytest.mark.nightly
async def test_one_of_many_simultaneous_answers_wins_and_all_learn_whose(address: str):
    async with open_databases(address, 6) as processes:
        await insert_rows(processes[0], run=[build_run_row("run_1", status="blocked", ended_at=None)])
        await insert_rows(processes[0], question=[build_question_row("qst_1", "run_1")])
        heard: list[tuple[Question, bool]] = []
        ready = anyio.Event()

        async def answer(number: int) -> None:
            decision = "approved" if number % 2 else "rejected"
            questions = Questions(processes[number])
            await questions.get("qst_1")
            await ready.wait()
            heard.append(await questions.decide_if_open("qst_1", QuestionAnswer(decision), by=f"person {number}"))

        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                for number in range(6):
                    tasks.start_soon(answer, number)
                await anyio.wait_all_tasks_blocked()
                ready.set()
    assert sum(won for _, won in heard) == 1
    assert len({(question.decision, question.decided_by) for question, _ in heard}) == 1


async def test_pending_questions_are_counted_listed_and_archived_on_every_database(address: str):
    async with open_databases(address, 1) as (database,):
        inbox = Inbox(database)
        await insert_rows(
            database, run=[build_run_row("run_1", status="blocked", ended_at=None), build_run_row("run_2")]
        )
        asked = [
            build_question_row("qst_1", "run_1"),
            build_question_row("qst_2", "run_1"),
            build_question_row("qst_3", "run_2"),
        ]
        await insert_rows(database, question=asked)
        nothing, cursor = await inbox.list_changes("")
        assert (await inbox.count_open(), nothing) == (2, [])  # questions of an ended run are no longer open
        assert [each.question.id for each in await inbox.list_open()] == ["qst_1", "qst_2"]
        assert await inbox.list_changes(cursor) == ([], cursor)
        await Questions(database).decide("qst_2", "always_approved", reason="go on", by="ann")
        (change,), later = await inbox.list_changes(cursor)
        assert (change["open"], [each["id"] for each in change["questions"]], later != cursor) == (1, ["qst_1"], True)
        (done,) = (await inbox.list_decided(text="ANN")).items
        assert (done.question.id, done.question.reason, done.root_query) == (
            "qst_2",
            "go on",
            build_run_row("x")["query"],
        )
        assert (await inbox.list_decided(text="nobody")).items == []
        (allowance,) = await inbox.list_allowances()
        assert (allowance.tool, allowance.identity) == ("run_python", "ann@a.example")
        assert await inbox.revoke_allowance(allowance.id)
        assert not await inbox.revoke_allowance(allowance.id)


async def test_the_overview_shows_the_same_on_every_database(address: str):
    async with open_databases(address, 1) as (database,):
        overview = RunOverview(database)
        rows = [
            build_run_row("run_1", status="blocked", ended_at=None),
            build_run_row(
                "run_2", root="run_1", parent_run_id="run_1", parent_call_id="c1", agent="clerk", status="failed"
            ),
            build_run_row("run_3", age=10),
        ]
        nothing, cursor = await overview.list_changes("")
        await insert_rows(
            database,
            run=[row | {"updated_at": time.time()} for row in rows],
            question=[build_question_row("qst_1", "run_2", root="run_1")],
        )
        assert nothing == []
        tree = await overview.load_tree("run_1")
        assert tree
        assert (tree.count, tree.used.tokens, tree.children[0].run.seconds) == (2, 3_080, 12.5)
        before = await overview.compute_fingerprint("run_1")
        await Questions(database).decide("qst_1", "rejected")
        assert await overview.compute_fingerprint("run_1") != before
        changed, behind = await overview.list_changes(cursor)
        assert {each["id"] for each in changed} >= {"run_1", "run_2", "run_3"}
        assert (await overview.list_changes(behind))[0] == []


# The tests below have a real run and a client, and answer as the dashboard does.


@asynccontextmanager
async def open_scripted_app(home: Path, agents: dict[str, Any] | None = None) -> AsyncGenerator[AgentsApp]:
    async with open_agents_app(home, QUESTION_TURNS, agents or {"clerk": CLERK, "boss": BOSS}) as made:
        yield made


def build_service(made: AgentsApp) -> AnswerService:
    return AnswerService(made.app.database, made.app.runs, made.app.runs.questions)


async def start_run(made: AgentsApp, agent: str = "boss") -> str:
    """A run that is blocked by its questions."""
    async with mcp_clients.connect_client(made.app.build_server()) as client:
        answer = await client.call_tool(f"run_{agent}", {"query": "Do both."})
    assert answer.is_error
    (tree,) = (await RunOverview(made.app.database).list_trees(RunFilter())).items
    return tree.id


async def child_of(made: AgentsApp, root: str) -> RunSummary:
    tree = await RunOverview(made.app.database).load_tree(root)
    assert tree
    return tree.children[0].run


async def wait_for_end(made: AgentsApp, run_id: str) -> Any:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async for _ in made.app.runs.follow(run_id):
            pass
    return await made.app.runs.get(run_id)


@pytest.mark.nightly
async def test_answering_all_questions_of_a_child_resumes_the_whole_tree(home: Path):
    async with open_scripted_app(home) as made:
        root = await start_run(made)
        waiting = [each.question for each in await Inbox(made.app.database).list_open()]
        assert [each.root_run_id for each in waiting] == [root, root]
        decisions = {"create_goal": QuestionAnswer("approved"), "add_todo": QuestionAnswer("rejected", "no water")}
        answers = {each.id: decisions[each.tool] for each in waiting}
        answered = await build_service(made).answer(answers, by=BY)
        assert (answered.resumed, [each.won for each in answered.decisions]) == ([root], [True, True])
        run = await wait_for_end(made, root)
        child = await child_of(made, root)
        read = {
            row.tool: row.text for row in (await StepList(made.app.database).load_batch(child.id)).items if row.is_tool
        }
    assert (run.status, run.answer) == ("completed", "Boss is done.")
    assert "no water" in read["add_todo"]
    assert "tea" in read["create_goal"]


@pytest.mark.nightly
async def test_a_tree_resumes_only_when_all_its_questions_are_answered(home: Path):
    async with open_scripted_app(home) as made:
        root = await start_run(made)
        first, second = [each.question.id for each in await Inbox(made.app.database).list_open()]
        answered = await build_service(made).answer({first: QuestionAnswer("approved")}, by=BY)
        assert (answered.resumed, (await made.app.runs.get(root)).status) == ([], "blocked")
        answered = await build_service(made).answer({second: QuestionAnswer("approved")}, by=BY)
        assert answered.resumed == [root]
        assert (await wait_for_end(made, root)).status == "completed"


@pytest.mark.nightly
async def test_a_background_child_resumes_automatically(home: Path):
    script = QUESTION_TURNS | {
        "boss": (ChatTurn("Go.", calls=[("run_clerk", {"query": "both", "mode": "background"})]), ChatTurn("Later."))
    }
    async with open_agents_app(home, script, {"clerk": CLERK, "boss": BOSS}) as made:
        async with mcp_clients.connect_client(made.app.build_server()) as client:
            await client.call_tool("run_boss", {"query": "Do both."})
        (tree,) = (await RunOverview(made.app.database).list_trees(RunFilter())).items
        child = await child_of(made, tree.id)
        await wait_for_end(made, child.id)
        answers = {each.question.id: QuestionAnswer("approved") for each in await Inbox(made.app.database).list_open()}
        answered = await build_service(made).answer(answers, by=BY)
        assert answered.resumed == [child.id]
        assert (await wait_for_end(made, child.id)).status == "completed"


@pytest.mark.nightly
async def test_a_run_whose_questions_are_answered_before_it_pauses_still_resumes(home: Path):
    gate = anyio.Event()
    calls = [("create_goal", {"goal": "tea"}), ("run_other", {"query": "take your time"})]
    script = {
        "clerk": (ChatTurn("Both.", calls=calls), ChatTurn("Clerk is done.")),
        "other": (ChatTurn("Slept.", wait_before=gate),),
    }
    agents = {"clerk": CLERK | {"tools": ["run_other"]}, "other": {}}
    async with (
        open_agents_app(home, script, agents) as made,
        mcp_clients.connect_client(made.app.build_server()) as client,
    ):
        answer = await client.call_tool("run_clerk", {"query": "Do both.", "mode": "background"})
        run_id = (answer.meta or {})["outrider/run"]["runId"]
        inbox = Inbox(made.app.database)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async for event in made.app.runs.follow(run_id):
                if event.kind == "question":
                    answers = {each.question.id: QuestionAnswer("approved") for each in await inbox.list_open()}
                    assert (await build_service(made).answer(answers, by=BY)).resumed == []
                    gate.set()
            while not (run := await made.app.runs.get(run_id)).has_ended:
                await wait_for_end(made, run_id)
    assert (run.status, run.answer, run.attempt) == ("completed", "Clerk is done.", 2)


async def test_a_client_that_answers_after_the_dashboard_learns_whose_answer_counts(home: Path):
    made: AgentsApp
    late: list[AnswerReport] = []

    def slowly(properties: dict[str, Any]) -> dict[str, str]:
        return {name: "rejected" for name, field in properties.items() if "enum" in field}

    class Late(mcp_clients.FormAnswerer):
        """A person at a client who fills in the form after another person has answered."""

        async def __call__(self, context: Any, params: Any) -> Any:
            answers = {
                each.question.id: QuestionAnswer("approved") for each in await Inbox(made.app.database).list_open()
            }
            late.append(await build_service(made).answer(answers, by=BY))
            return await super().__call__(context, params)

    async with (
        open_scripted_app(home) as made,
        mcp_clients.connect_client(made.app.build_server(), capabilities="person", answerer=Late(slowly)) as client,
    ):
        answer = await client.call_tool("run_boss", {"query": "Do both."})
        history = (await Inbox(made.app.database).list_decided()).items
    assert [each.won for each in late[0].decisions] == [True, True]
    assert not answer.is_error
    assert next(item.text for item in answer.content if item.type == "text").count(f"approved by {BY}") == 2
    assert {(each.question.decision, each.question.decided_by) for each in history} == {("approved", BY)}


@pytest.mark.nightly
async def test_a_dashboard_that_answers_after_a_client_learns_whose_answer_counts(home: Path):
    person = mcp_clients.FormAnswerer(mcp_clients.choose_decision("approved"))
    async with open_scripted_app(home) as made:
        async with mcp_clients.connect_client(
            made.app.build_server(), capabilities="person", answerer=person
        ) as client:
            answer = await client.call_tool("run_boss", {"query": "Do both."})
        done = (await Inbox(made.app.database).list_decided()).items
        answers = {each.question.id: QuestionAnswer("rejected", "too late") for each in done}
        answered = await build_service(made).answer(answers, by=BY)
    assert not answer.is_error
    assert [item.type for item in answer.content] == ["resource"]  # no answer was overruled
    assert [(each.won, each.question.decision) for each in answered.decisions] == [(False, "approved")] * 2
    assert all(each.question.decided_by != BY for each in answered.decisions)
    assert answered.resumed == []


async def test_an_answer_must_fit_its_question(home: Path):
    async with open_scripted_app(home) as made:
        await start_run(made, "clerk")
        (first, _) = [each.question.id for each in await Inbox(made.app.database).list_open()]
        with pytest.raises(InvalidInput, match="answered"):
            await build_service(made).answer({first: QuestionAnswer("answered", value="x")}, by=BY)
        assert await Inbox(made.app.database).count_open() == 2


async def test_a_cancelled_run_has_no_open_questions(home: Path):
    async with open_scripted_app(home) as made:
        root = await start_run(made)
        await made.app.runs.cancel(root)
        assert await Inbox(made.app.database).count_open() == 0
        tree = await RunOverview(made.app.database).load_tree(root)
    assert tree
    assert (tree.run.status, tree.children[0].run.status) == ("cancelled", "cancelled")


# Failed runs


@pytest.fixture
def build_failing_turns() -> Callable[[int], dict[str, Any]]:
    return lambda status: {
        "clerk": (ChatTurn("I note.", calls=[("create_goal", {"goal": "tea"})]), ChatTurn("Done.", status=status))
    }


@pytest.mark.nightly
async def test_a_failed_run_continues_where_it_failed_and_repeats_nothing(home: Path, build_failing_turns: Any):
    async with open_agents_app(home, build_failing_turns(404), {"clerk": {"toolsets": ["planning"]}}) as made:
        async with mcp_clients.connect_client(made.app.build_server()) as client:
            answer = await client.call_tool("run_clerk", {"query": "Do it."})
        assert answer.is_error
        (tree,) = (await RunOverview(made.app.database).list_trees(RunFilter())).items
        asked = len(made.model.requests)
        made.model.script = build_failing_turns(200)
        await made.app.runs.retry(tree.id)
        run = await wait_for_end(made, tree.id)
        rows = (await StepList(made.app.database).load_batch(run.id)).items
        with pytest.raises(Refused):
            await made.app.runs.retry(tree.id)
    assert (run.status, run.answer, run.attempt, run.error) == ("completed", "Done.", 2, None)
    assert [row.key.partition(":")[0] if not row.is_tool else row.tool for row in rows] == [
        "model",
        "create_goal",
        "model",
    ]
    assert len(made.model.requests) == asked + 1
    assert run.usage["requests"] == 2
    assert run.usage["tokens"] == 220
