"""Page Questions: open questions, answers to them, and earlier ones."""

import json
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from outrider.agents.views.answers import AnswerReport
from outrider.agents.views.inbox import Inbox
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.questions import Decision, QuestionAnswer
from outrider.dashboard import feed, render
from outrider.dashboard.page import DashboardPage, build_route_path, get_services, get_viewer
from outrider.dashboard.questions.question_view import (
    DECISION_LABELS,
    MAX_SHOWN_QUESTIONS,
    build_question_view,
    describe_decision,
    group_questions,
)
from outrider.dashboard.runs.run_view import build_answer_service
from outrider.dashboard.viewer import record_decision


async def show_questions(request: Request) -> Response:
    """Show open and answered questions; with `part=open` only open ones."""
    services, query = get_services(request), request.query_params
    inbox = Inbox(services.database)
    waiting = await inbox.list_open()
    values: dict[str, Any] = {
        "groups": group_questions(waiting, services.toolbox.tools),
        "open": await inbox.count_open(),
        "hidden": max(0, len(waiting) - MAX_SHOWN_QUESTIONS),
    }
    if query.get("part") == "open":
        return render.render_fragment(request, "questions/open.html", **values)
    text, after = query.get("q", "").strip()[:200], query.get("after", "")
    max_outcomes = 20  # of the given answers, which this page repeats
    names = [(each, True) for each in query.get("told", "").split(",") if each] + [
        (each, False) for each in query.get("late", "").split(",") if each
    ]
    found = [(await services.questions.get(name), first) for name, first in names[:max_outcomes]]
    return await render.render_page(
        request,
        "questions/questions.html",
        feed=await feed.get_feed_position(request, "questions"),
        decided=await inbox.list_decided(text=text, after=after),
        allowances=await inbox.list_allowances(),
        text=text,
        after=after,
        told=[{"won": first, "words": describe_decision(question)} for question, first in found if question.decision],
        held=query.get("held", "")[:300],
        DECISION_LABELS=DECISION_LABELS,
        **values,
    )


async def show_question(request: Request) -> Response:
    """Show one question with all its arguments."""
    max_argument_bytes = 60_000  # bytes of HTML for the arguments of a question shown alone
    services = get_services(request)
    question = await services.questions.get(request.path_params["question"])
    try:
        over = (await services.runs.get(question.run_id)).has_ended
    except NotFound:
        over = True
    question_view = build_question_view(question, services.toolbox.tools, max_argument_bytes)
    return await render.render_page(
        request,
        "questions/question.html",
        question=question,
        shown=question_view,
        over=over,
        DECISION_LABELS=DECISION_LABELS,
    )


async def answer_questions(request: Request) -> Response:
    """Take the answer to one question, or one answer to several.

    The first answer counts, from any place; later ones get a notice. A script receives the outcome as JSON, and
    a form is redirected to the page that shows it.
    """
    services = get_services(request)
    is_script = "application/json" in request.headers.get("content-type", "")
    form = FormData() if is_script else await request.form()
    if is_script:
        answers = _parse_json(await request.body())
    else:
        ids = [str(each) for each in form.getlist("question")]
        answers = _build_answers(ids, str(form.get("decision", "")), str(form.get("reason", "")), form.get("value"))
    by = str(get_viewer(request))
    answered = await build_answer_service(services).answer(answers, by=by)
    for each in answered.decisions:
        if each.won:
            await record_decision(
                request, services.database, "question.answer", f"{each.question.id}: {each.question.decision}"
            )
    if is_script:
        return JSONResponse(_serialize_answers(answered))
    if form.get("back") and not answered.blocked_reason and all(each.won for each in answered.decisions):
        return RedirectResponse(build_route_path(request, "run", run=str(form["back"])), 303)
    names = {"told": True, "late": False}
    outcome_ids = {
        name: ",".join(each.question.id for each in answered.decisions if each.won is won)
        for name, won in names.items()
    }
    query = {name: value for name, value in (outcome_ids | {"held": answered.blocked_reason[:300]}).items() if value}
    return RedirectResponse(f"{build_route_path(request, 'questions')}?{urlencode(query)}", 303)


def _serialize_answers(answered: AnswerReport) -> dict[str, Any]:
    answers = [
        {
            "id": each.question.id,
            "won": each.won,
            "decision": each.question.decision,
            "words": describe_decision(each.question),
        }
        for each in answered.decisions
    ]
    return {"answered": answers, "resumed": list(answered.resumed), "held": answered.blocked_reason}


def _parse_json(sent: bytes) -> dict[str, QuestionAnswer]:
    try:
        body = json.loads(sent)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InvalidInput("the answer must be a JSON object", hint="give questions, decision and reason")
    ids = body.get("questions")
    if not isinstance(ids, list):
        raise InvalidInput("questions: must be a list of ids", hint="list the questions to answer")
    return _build_answers(
        [str(each) for each in ids], str(body.get("decision", "")), str(body.get("reason", "")), body.get("value")
    )


def _build_answers(ids: list[str], decision: str, reason: str, value: Any) -> dict[str, QuestionAnswer]:
    if decision not in DECISION_LABELS or not ids:
        raise InvalidInput(
            "decision: give a decision and at least one question", hint=f"one of {', '.join(DECISION_LABELS)}"
        )
    known: Decision = next(each for each in DECISION_LABELS if each == decision)
    words = str(value)[:20_000] if value is not None and known == "answered" else None
    return {each: QuestionAnswer(known, reason.strip(), words) for each in ids}


async def withdraw_allowance(request: Request) -> Response:
    """Revoke the permission to call a tool without asking."""
    form = await request.form()
    await Inbox(get_services(request).database).revoke_allowance(str(form.get("allowance", "")))
    return RedirectResponse(build_route_path(request, "questions"), 303)


QUESTIONS_PAGE = DashboardPage(
    "questions",
    "Questions",
    30,
    (
        Route("/questions", show_questions, name="questions"),
        Route("/questions/answer", answer_questions, name="questions_answer", methods=["POST"]),
        Route("/questions/withdraw", withdraw_allowance, name="questions_withdraw", methods=["POST"]),
        Route("/questions/{question}", show_question, name="question"),
    ),
    feeds={"questions": lambda services, cursor: Inbox(services.database).list_changes(cursor)},
    badge=lambda services: Inbox(services.database).count_open(),
    key="q",
)
