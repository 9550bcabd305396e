"""Page Runs: agent runs as trees, with cancel, resume and compare."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from outrider.agents.views.overview import RunOverview
from outrider.agents.views.step_list import StepList, align_steps
from outrider.core.errors import InvalidInput, NotFound
from outrider.dashboard import feed, render
from outrider.dashboard.page import DashboardPage, build_route_path, get_services
from outrider.dashboard.questions.question_view import build_question_view
from outrider.dashboard.runs import run_query, run_view, sanitize, updates
from outrider.dashboard.runs.steps import STEPS_PER_PART
from outrider.dashboard.services import DashboardServices

TASK_BYTES, ANSWER_BYTES = 2_000, 4_000  # bytes of HTML


async def show_runs(request: Request) -> Response:
    """Show the list, or with `part=list` only its rows."""
    services, query = get_services(request), request.query_params
    after = query.get("after", "")
    values: dict[str, Any] = {
        "trees": await RunOverview(services.database).list_trees(run_query.parse_run_filter(query), after=after),
        "given": run_query.read_form_fields(query),
        "after": after,
    }
    if query.get("part") == "list":
        return render.render_fragment(request, "runs/list.html", **values)
    return await render.render_page(
        request,
        "runs/runs.html",
        feed=await feed.get_feed_position(request, "runs", "questions"),
        agents=await RunOverview(services.database).list_agent_names(),
        statuses=run_query.RUN_STATUSES,
        periods=run_query.RUN_PERIODS,
        **values,
    )


async def show_run(request: Request) -> Response:
    """Show a run from a given step on.

    With `part`, show a part of its page.
    """
    services, run_id, after = get_services(request), request.path_params["run"], request.query_params.get("after", "")
    if part := request.query_params.get("part"):  # to be replaced by a script
        view = await run_view.load_run_view(services, run_id)
        if part == "about":
            return render.render_fragment(request, "runs/about.html", **_build_head_values(services, view))
        steps, part_of = await run_view.load_step_views(services, view, after, 2 * STEPS_PER_PART)
        return render.render_fragment(request, "runs/steps.html", about=view, steps=steps, part=part_of, after=after)
    # Take the feed's cursor first, so that a change in the meantime is shown twice rather than missed.
    places = json.loads(await feed.get_feed_position(request, "questions"))
    places["run"] = await updates.build_start_cursor(services, await services.runs.get(run_id))
    view = await run_view.load_run_view(services, run_id)
    if not after and view.branch.run.working:
        after = await StepList(services.database).find_last_batch(view.run.id, STEPS_PER_PART)
    steps, part_of = await run_view.load_step_views(services, view, after)
    values: dict[str, Any] = {"steps": steps, "part": part_of, "after": after}
    return await render.render_page(
        request, "runs/run.html", feed=json.dumps(places), **values, **_build_head_values(services, view)
    )


def _build_head_values(services: DashboardServices, view: run_view.RunView) -> dict[str, Any]:
    max_questions = 8  # questions shown
    run = view.run
    return {
        "about": view,
        "task": sanitize.cut_excerpt(run.query, TASK_BYTES),
        "answer": sanitize.cut_excerpt(run.answer, ANSWER_BYTES),
        "error": run.error or {},
        "waiting": [
            build_question_view(each.question, services.toolbox.tools, ANSWER_BYTES)
            for each in view.open[:max_questions]
        ],
        "web_address": sanitize.sanitize_url,
    }


async def redirect_to_step(request: Request) -> Response:
    """Redirect to a step by its number."""
    run, number = request.path_params["run"], request.path_params["number"]
    path = build_route_path(request, "run", run=run)
    return RedirectResponse(f"{path}?after={number}#step-{number}", 303)


async def show_full_text(request: Request) -> Response:
    """Show in full a text that the page has cut: of a step (`key`), or of the run."""
    services, query = get_services(request), request.query_params
    run_id, part, key = request.path_params["run"], query.get("what", ""), query.get("key", "")
    if key:
        titles = {"text": "Result", "thoughts": "Thoughts", "arguments": "Arguments"}
        if part not in titles:
            raise InvalidInput("what: not a part of a step", hint=f"one of {', '.join(titles)}")
        row = await StepList(services.database).load_step(run_id, key)
        texts = {"text": row.text, "thoughts": row.thoughts, "arguments": sanitize.format_arguments(row.arguments)}
        title, text = f"{titles[part]} of step {row.number}{f', {row.tool}' if row.is_tool else ''}", texts[part]
    else:
        titles = {"task": "Task", "answer": "Answer", "instructions": "Instructions", "thoughts": "Thoughts"}
        run = await services.runs.get(run_id)
        texts = {"task": run.query, "answer": run.answer, "thoughts": run.thoughts}
        texts["instructions"] = str(run.definition.get("instructions", ""))
        if part not in texts:
            raise InvalidInput("what: not a part of a run", hint=f"one of {', '.join(titles)}")
        title, text = titles[part], texts[part]
    if query.get("part") == "text":
        return render.render_fragment(request, "runs/whole_text.html", text=text)
    return await render.render_page(request, "runs/whole.html", title=title, text=text, run_id=run_id)


async def cancel_run(request: Request) -> Response:
    """Cancel a run and its children."""
    run = await get_services(request).runs.get(request.path_params["run"])
    await get_services(request).runs.cancel(run.id)
    return _redirect_to_run(request, run.id)


async def resume_run(request: Request) -> Response:
    """Resume a run that was unblocked or has failed."""
    services = get_services(request)
    run = await services.runs.get(request.path_params["run"])
    if run.status == "blocked":
        await run_view.build_answer_service(services).resume_unblocked(run.root_run_id)
    else:
        await services.runs.retry(run.id)
    return _redirect_to_run(request, run.id)


def _redirect_to_run(request: Request, run_id: str) -> Response:
    return RedirectResponse(build_route_path(request, "run", run=run_id), 303)


async def compare_runs(request: Request) -> Response:
    """Compare two runs; ask for the second one if only one is given."""
    services = get_services(request)
    picked = list(dict.fromkeys(request.query_params.getlist("run")))[:2]
    if len(picked) < 2:
        raise InvalidInput("two runs can be compared, and fewer were chosen", hint="choose two in the list of runs")
    left, right = [await run_view.load_run_view(services, each) for each in picked]
    steps = StepList(services.database)
    pairs = align_steps(await steps.load_outline(left.run.id), await steps.load_outline(right.run.id))
    return await render.render_page(
        request,
        "runs/compare.html",
        left=left,
        right=right,
        pairs=pairs[:300],
        total=len(pairs),
        differing=sum(each.differs for each in pairs),
        answers=[sanitize.cut_excerpt(each.run.answer, ANSWER_BYTES) for each in (left, right)],
        spelled_out=sanitize.build_argument_views,
    )


async def show_evaluation(request: Request) -> Response:
    """Show the evidence and result of a website evaluation."""
    max_records = 100  # of an evaluation to show
    services = get_services(request)
    found = await services.evaluations.find(request.path_params["evaluation"])
    if found is None:
        raise NotFound("no such evaluation", hint="it may have been deleted; choose another")
    records = await services.evaluations.list_records(
        found.id, ("agent", "console", "network", "screenshot"), limit=max_records
    )
    return await render.render_page(
        request,
        "runs/evaluation.html",
        evaluation=found,
        records=records,
        counts=await services.evaluations.count_records(found.id),
        answer=found.answer or {},
        web_address=sanitize.sanitize_url,
        excerpt=sanitize.cut_excerpt,
    )


RUNS_PAGE = DashboardPage(
    "runs",
    "Runs",
    20,
    (
        Route("/runs", show_runs, name="runs"),
        Route("/runs/compare", compare_runs, name="runs_compare"),
        Route("/runs/evaluations/{evaluation}", show_evaluation, name="evaluation"),
        Route("/runs/{run}", show_run, name="run"),
        Route("/runs/{run}/steps/{number:int}", redirect_to_step, name="run_step"),
        Route("/runs/{run}/whole", show_full_text, name="run_whole"),
        Route("/runs/{run}/cancel", cancel_run, name="run_cancel", methods=["POST"]),
        Route("/runs/{run}/resume", resume_run, name="run_resume", methods=["POST"]),
    ),
    feeds={"runs": updates.read_run_changes, "run": updates.read_run_events},
    key="r",
)
