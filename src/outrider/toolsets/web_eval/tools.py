"""Tools that evaluate websites, and show an evaluation's screenshots and events."""

import json
import time
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from outrider.agents.evaluations import EvaluationRecord, Evaluations
from outrider.agents.evaluations.evaluation import EVENT_KINDS, RecordKind
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.result import ImageBlock, Result, ResultBlock, TextBlock
from outrider.core.tool import Services, Toolset
from outrider.toolsets.browser.results import format_time
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.browser.states import setup_browser_state
from outrider.toolsets.parameters import IdempotencyKey, UpTo20, UpTo200
from outrider.toolsets.run_agent.delegation import Delegation
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.toolsets.web_eval.evaluator import MAX_EVALUATION_S, Evaluator
from outrider.toolsets.web_eval.request import EvaluationRequest
from outrider.toolsets.web_eval.script import MAX_STEPS, ScriptStep
from outrider.toolsets.web_eval.settings import WebEvalSettings

web_eval = Toolset(
    "web_eval",
    "web_eval_agent does or checks something on a website on its own; without a model, give `steps`. get_screenshots "
    "and get_run_events show the details.",
    aliases=("gsd",),
    usual_names=USUAL_TOOL_NAMES["web_eval"],
)
web_eval.share_tool(browser, setup_browser_state.__name__)

EvaluationId = Annotated[str | None, Field(max_length=64, description="From web_eval_agent; default: your last one")]
SinceTimestamp = Annotated[float | None, Field(ge=0, description="Seconds since the epoch")]
HasError = Annotated[bool | None, Field(description="Only with errors, or only without")]


@web_eval.register_default_check
def is_configured(services: Services) -> bool:
    """Return whether agents are configured: only then the toolset is worth its tokens by default."""
    delegation: Delegation = services[Delegation]
    return delegation.options.configured


@web_eval.tool(
    effect="act",
    stake="low",
    title="Evaluate a website",
    open_world=True,
    untrusted=True,
    timeout=MAX_EVALUATION_S + 300,
)
async def web_eval_agent(
    evaluator: Evaluator,
    settings: WebEvalSettings,
    call: Call,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000)],
    task: Annotated[str, Field(min_length=1, max_length=20_000, description="What to do or find out there")],
    headless_browser: Annotated[bool | None, Field(description="false shows a window")] = None,
    mode: Annotated[Literal["compact", "dev"] | None, Field(description="dev adds error excerpts")] = None,
    budget_s: Annotated[float | None, Field(gt=0, le=MAX_EVALUATION_S, description="Seconds in total")] = None,
    max_steps: Annotated[int | None, Field(gt=0, le=1_000)] = None,
    step_timeout_s: Annotated[float | None, Field(gt=0, le=600, description="Seconds for one action")] = None,
    output_schema: Annotated[
        dict[str, Any] | None, Field(description="JSON Schema of an object or array to return besides the text")
    ] = None,
    state_id: Annotated[str | None, Field(max_length=64, description="Saved sign-in")] = None,
    steps: Annotated[
        list[ScriptStep] | None,
        Field(min_length=1, max_length=MAX_STEPS, description="Do exactly these, without a model"),
    ] = None,
    idempotency_key: IdempotencyKey = None,
) -> Result:
    """Have an agent do or check something on a website in a browser and report."""
    request = EvaluationRequest(
        url=url,
        task=task,
        headless=headless_browser,
        mode=mode or settings.mode,
        budget_s=budget_s or settings.budget_s,
        max_steps=max_steps or settings.max_steps,
        step_timeout_s=step_timeout_s or settings.step_timeout_s,
        output_schema=output_schema,
        state_id=state_id,
        steps=steps or (),
        idempotency_key=idempotency_key or "",
    )
    return await evaluator.evaluate(request, call)


@web_eval.tool(title="Screenshots of an evaluation", untrusted=True)
async def get_screenshots(
    evaluator: Evaluator,
    evaluations: Evaluations,
    artifacts: ArtifactStore,
    call: Call,
    /,
    last_n: UpTo20 = 5,
    screenshot_type: Literal["agent_step", "stream_sample", "all"] = "agent_step",
    session_id: EvaluationId = None,
    from_timestamp: SinceTimestamp = None,
    has_error: HasError = None,
    include_images: bool = True,
) -> Result:
    """Show an evaluation's last screenshots, oldest first, each with its step and address."""
    evaluation = await evaluator.find_evaluation(session_id, call)
    kind = None if screenshot_type == "all" else screenshot_type
    matching = await evaluations.list_records(
        evaluation.id, ("screenshot",), since=from_timestamp, has_error=has_error, type=kind
    )
    newest = matching[:last_n]
    counts = await evaluations.count_records(evaluation.id)
    total = counts["agent_step"] + counts["stream_sample"]
    head = f"{len(newest)} of {total} screenshots of evaluation {evaluation.id}; one after each step (sampling rate 1)"
    items: list[ResultBlock] = [TextBlock(head)]
    rows: list[dict[str, Any]] = []
    for record in reversed(newest):
        picture = await _load_picture(artifacts, record) if include_images else None
        rows.append(_serialize_screenshot(record, missing=include_images and picture is None))
        items += [TextBlock(_format_caption(rows[-1])), *([picture] if picture else [])]
    data = {
        "version": "gsd.get_screenshots.v1",
        "session_id": evaluation.id,
        "screenshots": rows,
        "stats": {"total_screenshots": total, "matching": len(matching), "sampling_rate": 1},
    }
    url = artifacts.build_session_url(evaluation.id)
    return Result(tuple(items), data=data, meta={"outrider/open": url} if url else {})


@web_eval.tool(title="Events of an evaluation", untrusted=True)
async def get_run_events(
    evaluator: Evaluator,
    evaluations: Evaluations,
    call: Call,
    /,
    session_id: EvaluationId = None,
    last_n: UpTo200 = 50,
    event_types: Annotated[
        list[Literal["agent", "console", "network"]] | None, Field(description="Default: all")
    ] = None,
    from_timestamp: Annotated[float | str | None, Field(description="Seconds since the epoch, or ISO 8601")] = None,
    has_error: HasError = None,
    include_details: bool = False,
) -> Result:
    """List an evaluation's actions, console messages and requests, newest first, and its status."""
    evaluation = await evaluator.find_evaluation(session_id, call)
    kinds: tuple[RecordKind, ...] = tuple(dict.fromkeys(event_types)) if event_types else EVENT_KINDS
    records = await evaluations.list_records(
        evaluation.id, kinds, since=_parse_timestamp(from_timestamp), has_error=has_error, limit=max(last_n, 1)
    )
    events, truncated = _serialize_events(records[:last_n], details=include_details)
    counts = await evaluations.count_records(evaluation.id)
    oldest, newest = await evaluations.find_time_span(evaluation.id)
    data: dict[str, Any] = {
        "version": "gsd.get_run_events.v1",
        "session_id": evaluation.id,
        "run": {
            "status": evaluation.status,
            "stop_reason": evaluation.stop_reason,
            "task": evaluation.task[:500],
            "result": (evaluation.answer or {}).get("result"),
        },
        "events": events,
        "stats": {
            "counts": {name: counts[name] for name in (*EVENT_KINDS, "total")},
            "oldest_timestamp": oldest,
            "newest_timestamp": newest,
        },
        "error": None,
    }
    data |= {"truncated": True} if truncated else {}
    return Result((TextBlock(json.dumps(data, ensure_ascii=False)),), data=data)


async def _load_picture(artifacts: ArtifactStore, record: EvaluationRecord) -> ImageBlock | None:
    """Load the picture; None if none was taken, or it has expired."""
    if record.artifact_id is None:
        return None
    try:
        artifact, data = await artifacts.read(record.artifact_id)
    except OutriderError:
        return None
    return ImageBlock(data, artifact.mime_type)


def _serialize_screenshot(record: EvaluationRecord, *, missing: bool) -> dict[str, Any]:
    row = {
        "id": record.id,
        "type": record.type,
        "step": record.step,
        "url": record.url,
        "timestamp": record.at,
        "captured_at": format_time(record.at),
        "has_error": record.has_error,
        "session_id": record.evaluation_id,
        "mime_type": record.details.get("mime_type"),
        "uri": f"outrider://artifacts/{record.artifact_id}" if record.artifact_id else None,
        "metadata": {name: value for name, value in record.details.items() if name != "mime_type"},
    }
    return row | ({"missing": record.details.get("error") or "the picture has expired"} if missing else {})


def _format_caption(row: dict[str, Any]) -> str:
    reason = row["metadata"].get("capture_reason", "")
    error = " ERROR" if row["has_error"] else ""
    missing = f" ({row['missing']})" if "missing" in row else ""
    capture = f"{row['type']} step {row['step']} ({reason}){error}"
    return f"{capture}: {row['url']} {row['captured_at']} id={row['id']}{missing}"


def _serialize_events(records: list[EvaluationRecord], *, details: bool) -> tuple[list[dict[str, Any]], bool]:
    """Return the first events, and whether any are left out.

    They fit 30,000 characters of JSON.
    """
    max_total_chars = 30_000
    used_chars = 0
    events: list[dict[str, Any]] = []
    for record in records:
        event: dict[str, Any] = {
            "event_type": record.kind,
            "timestamp": record.at,
            "summary": record.summary,
            "has_error": record.has_error,
        }
        event |= {"details": record.details, "session_id": record.evaluation_id} if details else {}
        used_chars += len(json.dumps(event, ensure_ascii=False))
        if used_chars > max_total_chars and events:
            return events, True
        events.append(event)
    return events, False


def _parse_timestamp(value: float | str | None) -> float | None:
    """Parse seconds since the epoch or ISO 8601 (local time without an offset). Raises InvalidInput."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        hint = f"e.g. {format_time(time.time())} or {time.time():.0f}"
        raise InvalidInput(f"from_timestamp: {value[:40]!r} is not a time", hint=hint) from None
    return (moment if moment.tzinfo else moment.astimezone()).timestamp()
