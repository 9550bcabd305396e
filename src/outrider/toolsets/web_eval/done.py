"""The tool done, with which an evaluation's agent ends its work."""

import json
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field

from outrider.agents.evaluations import Evaluations
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, Refused
from outrider.core.result import Result, TextBlock
from outrider.core.tool import Tool

DONE_TOOL_NAME = "done"
MAX_RESULT_CHARS = 12_000
MAX_FINDINGS = 20
Obstacle = Literal["login", "captcha", "refused", "impossible"]


@lru_cache(maxsize=1)
def build_done_tool() -> Tool:
    """Build the tool `done`, which only the agents of evaluations get."""
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
    success: Annotated[
        bool,
        Field(
            description="true only if you completed the whole task and saw the result; a check or test is complete "
            "once you know the outcome, even if the site failed it"
        ),
    ],
    result: Annotated[
        str,
        Field(min_length=1, max_length=MAX_RESULT_CHARS, description="The answer, or what you did and what is missing"),
    ],
    obstacle: Annotated[Obstacle | None, Field(description="What stopped you, if anything")] = None,
    findings: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=1_000)]] | None,
        Field(max_length=MAX_FINDINGS, description="Bugs of the site that you have seen, one sentence each"),
    ] = None,
    data: Annotated[
        dict[str, Any] | list[Any] | None, Field(description="The structured answer, if there is a schema")
    ] = None,
) -> Result:
    """Store the agent's own verdict on its evaluation and end its run."""
    evaluation = await evaluations.find(call.session)
    if evaluation is None:
        raise Refused("done ends evaluations of websites, and this is not one", hint="answer with text instead")
    if evaluation.output_schema is not None:
        _check_data(evaluation.output_schema, data, required=success)
    claim = {"success": success, "result": result, "obstacle": obstacle, "findings": findings or [], "data": data}
    await evaluations.update(evaluation.id, claim=claim)
    return Result((TextBlock(result),), meta={"outrider/early_exit": True})


def check_schema(schema: dict[str, Any]) -> None:
    """Raise InvalidInput unless it is a usable JSON Schema.

    It must be of an object or array, and its references must resolve.
    """
    import jsonschema
    from referencing.exceptions import Unresolvable

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        _build_validator(schema).is_valid({})
    except jsonschema.SchemaError as error:
        raise _build_schema_error(f"{error.json_path}: {error.message[:300]}") from None
    except (Unresolvable, RecursionError) as error:
        raise _build_schema_error(f"a reference does not resolve ({str(error)[:200]})") from None
    if schema.get("type", "object") not in ("object", "array"):
        raise _build_schema_error("its type is neither object nor array")


def _check_data(schema: dict[str, Any], data: Any, *, required: bool) -> None:
    """Raise InvalidInput that names up to five problems of the structured answer."""
    max_data_chars = 50_000
    if data is None and not required:
        return
    problems = [f"{error.json_path}: {error.message[:300]}" for error in _build_validator(schema).iter_errors(data)]
    if data is not None and len(json.dumps(data, default=str)) > max_data_chars:
        problems = [f"longer than {max_data_chars:,} characters"]
    if problems:
        raise InvalidInput(
            "data: does not fit the schema of the task: " + "; ".join(problems[:5]),
            hint="call done again with data that fits",
        )


def _build_validator(schema: dict[str, Any]) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(schema, registry=Registry())  # an empty registry fetches nothing


def _build_schema_error(problem: str) -> InvalidInput:
    return InvalidInput(f"output_schema: {problem}", hint="give a JSON Schema (2020-12) of an object or array")
