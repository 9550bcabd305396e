"""How the browser's agent ends its work: it alone says whether the task has succeeded."""

import json
from functools import lru_cache
from typing import Annotated, Any, Literal

import jsonschema
from pydantic import Field
from referencing import Registry
from referencing.exceptions import Unresolvable

from outrider.agents.evaluations import Evaluations
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, Refused
from outrider.core.result import Result, TextBlock
from outrider.core.tool import Tool

DONE_TOOL_NAME = "done"
MAX_RESULT_CHARS = 12_000
Obstacle = Literal["login", "captcha", "refused", "impossible"]


@lru_cache(maxsize=1)
def build_done_tool() -> Tool:
    """The tool `done`; in no toolset, because only evaluations have it."""
    return Tool(
        DONE_TOOL_NAME,
        "Finish",
        "Finish the task and report. Call it exactly once, at the very end, alone.",
        "write",
        finish_evaluation,
        stake="never_ask",
        toolset="web_eval",
    )


async def finish_evaluation(
    evaluations: Evaluations,
    call: Call,
    /,
    success: Annotated[bool, Field(description="true only if you have seen on the page that all of the task is done")],
    result: Annotated[
        str,
        Field(min_length=1, max_length=MAX_RESULT_CHARS, description="The answer, or what you did and what is missing"),
    ],
    obstacle: Annotated[Obstacle | None, Field(description="What stood in the way, if something did")] = None,
    data: Annotated[
        dict[str, Any] | list[Any] | None, Field(description="The structured answer, where a schema was given")
    ] = None,
) -> Result:
    """See `done_tool`."""
    evaluation = await evaluations.find(call.session)
    if evaluation is None:
        raise Refused("done ends evaluations of websites, and this is none", hint="answer with text instead")
    if evaluation.output_schema is not None:
        _check_data(evaluation.output_schema, data, needed=success)
    claim = {"success": success, "result": result, "obstacle": obstacle, "data": data}
    await evaluations.update(evaluation.id, claim=claim)
    return Result((TextBlock(result),), meta={"outrider/early_exit": True})


def check_schema(schema: dict[str, Any]) -> None:
    """Raises InvalidInput for what is no JSON Schema, or one that no structured answer could fit."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        _build_validator(schema).is_valid({})
    except jsonschema.SchemaError as error:
        raise _build_schema_error(f"{error.json_path}: {error.message[:300]}") from None
    except (Unresolvable, RecursionError) as error:
        raise _build_schema_error(f"a reference leads nowhere ({str(error)[:200]})") from None
    if schema.get("type", "object") not in ("object", "array"):
        raise _build_schema_error("its type is neither object nor array")


def _check_data(schema: dict[str, Any], data: Any, *, needed: bool) -> None:
    """Raises InvalidInput that names what does not fit, so that the model can mend it."""
    max_problems = 5  # of a structured answer that are named at once
    max_data_chars = 50_000
    if data is None and not needed:
        return
    problems = [f"{each.json_path}: {each.message[:300]}" for each in _build_validator(schema).iter_errors(data)]
    if data is not None and len(json.dumps(data, default=str)) > max_data_chars:
        problems = [f"longer than {max_data_chars:,} characters"]
    if problems:
        raise InvalidInput(
            "data: does not fit the schema of the task: " + "; ".join(problems[:max_problems]),
            hint="call done again with data that fits",
        )


def _build_validator(schema: dict[str, Any]) -> Any:
    return jsonschema.Draft202012Validator(schema, registry=Registry())  # one that fetches nothing


def _build_schema_error(problem: str) -> InvalidInput:
    return InvalidInput(f"output_schema: {problem}", hint="give a JSON Schema (2020-12) of an object or array")
