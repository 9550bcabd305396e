"""Questions: everything that waits for a person, the answers to it, and what was answered before."""

import json
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from outrider.agents.oversight.answering import Answered
from outrider.agents.oversight.inbox import Inbox
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.questions import Answer, Decision
from outrider.dashboard import feed, render
from outrider.dashboard.house import House
from outrider.dashboard.page import Change, Page, house_of, path_for, viewer_of
from outrider.dashboard.questions.asking import SAID, SHOWN, groups_of, in_words, shown_question
from outrider.dashboard.runs.showing import answering

TOLD = 20  # answers whose outcome the next page repeats
WHOLE = 60_000  # bytes of a page that the arguments of one question may take when it stands alone


async def show(request: Request) -> Response:
    """What waits, and what was answered; with `part=open` only what waits."""
    house, query = house_of(request), request.query_params
    inbox = Inbox(house.database)
    waiting = await inbox.open()
    values: dict[str, Any] = {
        "groups": groups_of(waiting, house.toolbox.tools),
        "open": await inbox.count(),
        "hidden": max(0, len(waiting) - SHOWN),
    }
    if query.get("part") == "open":
        return render.fragment(request, "questions/open.html", **values)
    text, after = query.get("q", "").strip()[:200], query.get("after", "")
    return await render.page(
        request,
        "questions/questions.html",
        feed=await feed.start(request, "questions"),
        decided=await inbox.decided(text=text, after=after),
        allowances=await inbox.allowances(),
        text=text,
        after=after,
        told=await _told(house, query.get("told", ""), query.get("late", "")),
        held=query.get("held", "")[:300],
        SAID=SAID,
        **values,
    )


async def _told(house: House, won: str, lost: str) -> list[dict[str, Any]]:
    """What became of the answers that were just given."""
    names = [(each, True) for each in won.split(",") if each] + [(each, False) for each in lost.split(",") if each]
    found = [(await house.questions.get(name), first) for name, first in names[:TOLD]]
    return [{"won": first, "words": in_words(question)} for question, first in found if question.decision]


async def show_question(request: Request) -> Response:
    """One question with all its arguments."""
    house = house_of(request)
    question = await house.questions.get(request.path_params["question"])
    try:
        over = (await house.runs.get(question.run_id)).ended
    except NotFound:
        over = True
    shown = shown_question(question, house.toolbox.tools, WHOLE)
    return await render.page(request, "questions/question.html", question=question, shown=shown, over=over, SAID=SAID)


async def answer(request: Request) -> Response:
    """Takes the answer to one question, or the same answer to several.

    The first answer to a question stands, through whichever door it came; who comes later is told. A script gets that
    as JSON, a form the page that says it.
    """
    house = house_of(request)
    is_script = "application/json" in request.headers.get("content-type", "")
    form = FormData() if is_script else await request.form()
    given = _of_script(await request.body()) if is_script else _of_form(form)
    by = f"dashboard (browser {viewer_of(request)[:4]})"
    answered = await answering(house).answer(given, by=by)
    if is_script:
        return JSONResponse(_facts(answered))
    if form.get("back") and not answered.held and all(each.won for each in answered.told):
        return RedirectResponse(path_for(request, "run", run=str(form["back"])), 303)
    names = {"told": True, "late": False}
    said = {
        name: ",".join(each.question.id for each in answered.told if each.won is won) for name, won in names.items()
    }
    query = {name: value for name, value in (said | {"held": answered.held[:300]}).items() if value}
    return RedirectResponse(f"{path_for(request, 'questions')}?{urlencode(query)}", 303)


def _facts(answered: Answered) -> dict[str, Any]:
    told = [
        {"id": each.question.id, "won": each.won, "decision": each.question.decision, "words": in_words(each.question)}
        for each in answered.told
    ]
    return {"answered": told, "resumed": list(answered.resumed), "held": answered.held}


def _of_form(form: FormData) -> dict[str, Answer]:
    ids = [str(each) for each in form.getlist("question")]
    return _read(ids, str(form.get("decision", "")), str(form.get("reason", "")), form.get("value"))


def _of_script(sent: bytes) -> dict[str, Answer]:
    try:
        body = json.loads(sent)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise InvalidInput("the answer must be a JSON object", hint="give questions, decision and reason")
    ids = body.get("questions")
    if not isinstance(ids, list):
        raise InvalidInput("questions: must be a list of ids", hint="name what is answered")
    return _read(
        [str(each) for each in ids], str(body.get("decision", "")), str(body.get("reason", "")), body.get("value")
    )


def _read(ids: list[str], decision: str, reason: str, value: Any) -> dict[str, Answer]:
    if decision not in SAID or not ids:
        raise InvalidInput("decision: say what is decided, and of which question", hint=f"one of {', '.join(SAID)}")
    known: Decision = next(each for each in SAID if each == decision)
    words = str(value)[:20_000] if value is not None and known == "answered" else None
    return {each: Answer(known, reason.strip(), words) for each in ids}


async def withdraw(request: Request) -> Response:
    """Takes back that an agent may use a tool unasked."""
    form = await request.form()
    await Inbox(house_of(request).database).withdraw(str(form.get("allowance", "")))
    return RedirectResponse(path_for(request, "questions"), 303)


async def _changes(house: House, cursor: str) -> tuple[list[Change], str]:
    return await Inbox(house.database).changed(cursor)


async def _count(house: House) -> int:
    return await Inbox(house.database).count()


questions = Page(
    "questions",
    "Questions",
    30,
    (
        Route("/questions", show, name="questions"),
        Route("/questions/answer", answer, name="questions_answer", methods=["POST"]),
        Route("/questions/withdraw", withdraw, name="questions_withdraw", methods=["POST"]),
        Route("/questions/{question}", show_question, name="question"),
    ),
    feeds={"questions": _changes},
    badge=_count,
    key="q",
)
