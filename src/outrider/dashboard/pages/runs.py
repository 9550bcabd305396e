"""Runs: every agent's work as a tree, step by step; cancelled, begun again, and compared."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from outrider.agents.oversight.comparison import aligned
from outrider.agents.oversight.overview import Overview
from outrider.agents.oversight.step_list import StepList
from outrider.core.errors import InvalidInput, NotFound
from outrider.dashboard import feed, render
from outrider.dashboard.house import House
from outrider.dashboard.page import Page, house_of, path_for
from outrider.dashboard.questions.asking import shown_question
from outrider.dashboard.runs import filters, following, showing, words
from outrider.dashboard.runs.steps import ROWS

TASK, ANSWER = 2_000, 4_000  # bytes of a page that each of these may take
WAITING = 8  # questions that a run's page shows
RECORDS = 100  # of an evaluation that its page shows
WHOLE = {"text": "Result", "thoughts": "Thoughts", "arguments": "Arguments"}
OF_RUN = {"task": "Task", "answer": "Answer", "instructions": "Instructions", "thoughts": "Thoughts"}


async def show(request: Request) -> Response:
    """The list, or with `part=list` only its rows."""
    house, query = house_of(request), request.query_params
    after = query.get("after", "")
    values: dict[str, Any] = {
        "trees": await Overview(house.database).listed(filters.wanted_of(query), after=after),
        "given": filters.chosen(query),
        "after": after,
    }
    if query.get("part") == "list":
        return render.fragment(request, "runs/list.html", **values)
    return await render.page(
        request,
        "runs/runs.html",
        feed=await feed.start(request, "runs", "questions"),
        agents=await Overview(house.database).agents(),
        statuses=filters.STATUSES,
        periods=filters.PERIODS,
        **values,
    )


async def show_run(request: Request) -> Response:
    """One run from a place among its steps on, or with `part` a piece of its page."""
    house, run_id, after = house_of(request), request.path_params["run"], request.query_params.get("after", "")
    if part := request.query_params.get("part"):
        return await _piece(request, await showing.whole(house, run_id), part, after)
    # The place from which updates come is taken first: what changes while we look is then shown twice at worst.
    places = json.loads(await feed.start(request, "questions"))
    places["run"] = await following.beginning(house, await house.runs.get(run_id))
    about = await showing.whole(house, run_id)
    if not after and about.branch.run.working:
        after = await StepList(house.database).last_part(about.run.id, ROWS)
    steps, part_of = await showing.steps_of(house, about, after)
    values: dict[str, Any] = {"steps": steps, "part": part_of, "after": after}
    return await render.page(request, "runs/run.html", feed=json.dumps(places), **values, **_about(house, about))


async def _piece(request: Request, about: showing.Whole, part: str, after: str) -> Response:
    """What a script puts into its place: the head of the page, or steps."""
    house = house_of(request)
    if part == "about":
        return render.fragment(request, "runs/about.html", **_about(house, about))
    steps, part_of = await showing.steps_of(house, about, after, 2 * ROWS)
    return render.fragment(request, "runs/steps.html", about=about, steps=steps, part=part_of, after=after)


def _about(house: House, about: showing.Whole) -> dict[str, Any]:
    run = about.run
    return {
        "about": about,
        "task": words.excerpt(run.query, TASK),
        "answer": words.excerpt(run.answer, ANSWER),
        "error": run.error or {},
        "waiting": [shown_question(each.question, house.toolbox.tools, ANSWER) for each in about.open[:WAITING]],
        "web_address": words.web_address,
    }


async def find_step(request: Request) -> Response:
    """A step by its number, wherever in a long run it stands."""
    run, number = request.path_params["run"], request.path_params["number"]
    path = path_for(request, "run", run=run)
    return RedirectResponse(f"{path}?after={number}#step-{number}", 303)


async def show_whole(request: Request) -> Response:
    """A text that a page has cut, as long as it is: of a step (`key`), or of the run itself."""
    house, query = house_of(request), request.query_params
    run_id, what, key = request.path_params["run"], query.get("what", ""), query.get("key", "")
    if key:
        title, text = await _of_step(house, run_id, key, what)
    else:
        title, text = await _of_run(house, run_id, what)
    if query.get("part") == "text":
        return render.fragment(request, "runs/whole_text.html", text=text)
    return await render.page(request, "runs/whole.html", title=title, text=text, run_id=run_id)


async def _of_step(house: House, run_id: str, key: str, what: str) -> tuple[str, str]:
    if what not in WHOLE:
        raise InvalidInput("what: is no part of a step", hint=f"one of {', '.join(WHOLE)}")
    row = await StepList(house.database).one(run_id, key)
    text = words.as_text(row.arguments) if what == "arguments" else row.thoughts if what == "thoughts" else row.text
    return f"{WHOLE[what]} of step {row.number}{f', {row.tool}' if row.is_tool else ''}", text


async def _of_run(house: House, run_id: str, what: str) -> tuple[str, str]:
    run = await house.runs.get(run_id)
    texts = {"task": run.query, "answer": run.answer, "thoughts": run.thoughts}
    texts["instructions"] = str(run.definition.get("instructions", ""))
    if what not in texts:
        raise InvalidInput("what: is no part of a run", hint=f"one of {', '.join(OF_RUN)}")
    return OF_RUN[what], texts[what]


async def cancel(request: Request) -> Response:
    """Ends a run and all below it."""
    run = await house_of(request).runs.get(request.path_params["run"])
    await house_of(request).runs.cancel(run.id)
    return _back(request, run.id)


async def resume(request: Request) -> Response:
    """Lets a run go on: one that is blocked by nothing any more, or one that has failed."""
    house = house_of(request)
    run = await house.runs.get(request.path_params["run"])
    if run.status == "blocked":
        await showing.answering(house).go_on(run.root_run_id)
    else:
        await house.runs.retry(run.id)
    return _back(request, run.id)


def _back(request: Request, run_id: str) -> Response:
    return RedirectResponse(path_for(request, "run", run=run_id), 303)


async def compare(request: Request) -> Response:
    """Two runs side by side; fewer are asked for."""
    house = house_of(request)
    picked = list(dict.fromkeys(request.query_params.getlist("run")))[:2]
    if len(picked) < 2:
        raise InvalidInput("two runs can be compared, and fewer were chosen", hint="choose two in the list of runs")
    left, right = [await showing.whole(house, each) for each in picked]
    steps = StepList(house.database)
    pairs = aligned(await steps.in_brief(left.run.id), await steps.in_brief(right.run.id))
    return await render.page(
        request,
        "runs/compare.html",
        left=left,
        right=right,
        pairs=pairs[:300],
        total=len(pairs),
        differing=sum(each.differs for each in pairs),
        answers=[words.excerpt(each.run.answer, ANSWER) for each in (left, right)],
        spelled_out=words.spelled_out,
    )


async def show_evaluation(request: Request) -> Response:
    """What was seen during an evaluation of a website, and what came of it."""
    house = house_of(request)
    found = await house.evaluations.find(request.path_params["evaluation"])
    if found is None:
        raise NotFound("there is no such evaluation", hint="it may have been forgotten; choose another")
    records = await house.evaluations.records(found.id, ("agent", "console", "network", "screenshot"), limit=RECORDS)
    return await render.page(
        request,
        "runs/evaluation.html",
        evaluation=found,
        records=records,
        counts=await house.evaluations.counts(found.id),
        answer=found.answer or {},
        web_address=words.web_address,
        excerpt=words.excerpt,
    )


runs = Page(
    "runs",
    "Runs",
    20,
    (
        Route("/runs", show, name="runs"),
        Route("/runs/compare", compare, name="runs_compare"),
        Route("/runs/evaluations/{evaluation}", show_evaluation, name="evaluation"),
        Route("/runs/{run}", show_run, name="run"),
        Route("/runs/{run}/steps/{number:int}", find_step, name="run_step"),
        Route("/runs/{run}/whole", show_whole, name="run_whole"),
        Route("/runs/{run}/cancel", cancel, name="run_cancel", methods=["POST"]),
        Route("/runs/{run}/resume", resume, name="run_resume", methods=["POST"]),
    ),
    feeds={"runs": following.changes, "run": following.happened},
    key="r",
)
