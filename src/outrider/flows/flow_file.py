"""Read and write flows as YAML, and keep people's comments."""

import io
import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from outrider.core.errors import InvalidInput, Refused
from outrider.flows.flow import Flow, FlowStep

HEADER = "A flow of Outrider: runFlow repeats it without a model. Keys: docs/reference/flows.md\n"


def parse_flow(text: str, name: str) -> Flow:
    """Read a flow. Raises InvalidInput with the place of the mistake."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        _require_modest_file(text, name)
        data = YAML(typ="safe", pure=True).load(text)
        flow = Flow.model_validate(data)
    except YAMLError as error:
        line = str(error).replace("\n", " ")[:200]
        raise InvalidInput(f"flow {name} is not valid YAML: {line}", hint="correct the file") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = _describe_place(first["loc"]) or "the file"
        message = str(first["msg"]).removeprefix("Value error, ")
        line = find_line(text, first["loc"])
        raise InvalidInput(f"flow {name}, line {line}: {place}: {message}", hint="correct the file") from None
    except RecursionError:
        raise InvalidInput(f"flow {name} is nested too deeply", hint="correct the file") from None
    except ValueError as error:  # a date that does not exist, a number of thousands of digits
        message = f"flow {name} has a value that cannot be read: {str(error)[:200]}"
        raise InvalidInput(message, hint="put the value in quotes") from None
    if flow.name != name:  # secrets and approvals are found by name
        message = f"flow {name}, line {find_line(text, ['name'])}: name: is {flow.name}, but its file has another name"
        raise InvalidInput(message, hint=f"write name: {name}, or rename the file")
    return flow


def build_conflict_error(name: str) -> Refused:
    """Return the error for a caller who replaces an outdated version."""
    message = f"name: another process has saved {name} at the same time"
    return Refused(message, hint="look at it with showFlow, then save again", code="flow_changed")


def parse_step(text: str) -> FlowStep:
    """Read one step. Raises InvalidInput with the wrong part."""
    body = text.strip("\n").expandtabs().replace("\n", "\n    ")
    try:
        flow = parse_flow(f"flow: 1\nname: step\norigins: [http://step.example]\nsteps:\n  - {body}\n", "step")
    except InvalidInput as error:
        message = error.message.partition(": ")[2].removeprefix("step 1, ") or error.message
        raise InvalidInput(f"step: {message}", hint="correct the step") from None
    if len(flow.steps) != 1:
        raise InvalidInput("step: must be one step", hint="add others to the file of the flow")
    return flow.steps[0]


def format_step(step: FlowStep) -> str:
    """Write one step as `parse_step` reads it."""
    from ruamel.yaml import YAML

    yaml = YAML(pure=True)
    yaml.width, yaml.allow_unicode = 110, True
    stream = io.StringIO()
    document = _to_commented(step.model_dump(mode="json", exclude_defaults=True))
    _set_flow_style({"steps": [document]})
    yaml.dump(document, stream)
    return stream.getvalue()


def _require_modest_file(text: str, name: str) -> None:
    """Refuse a file that would take long to parse, because it may be untrusted. Raises InvalidInput, YAMLError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    max_chars = 500_000  # 500 steps have about 100,000; the parser needs seconds for a megabyte
    if len(text) > max_chars:
        hint = "divide it into several flows, or remove blank lines and comments"
        raise InvalidInput(f"flow {name} has {len(text):,} characters, more than {max_chars:,}", hint=hint)
    max_parts, max_depth, depth = 60_000, 60, 0  # 500 steps have about 30,000 parts
    for count, event in enumerate(YAML(typ="safe", pure=True).parse(text)):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, AliasEvent):  # a few lines of aliases can expand to millions of steps
            hint = "write it out, or make it a separate flow"
            raise InvalidInput(f"flow {name}, line {event.start_mark.line + 1}: *{event.anchor} is an alias", hint=hint)
        if getattr(event, "ctag", None):
            hint = "remove words that begin with !, or put the value in quotes"
            raise InvalidInput(f"flow {name}, line {event.start_mark.line + 1} has a tag", hint=hint)
        if depth > max_depth:
            raise InvalidInput(f"flow {name} is nested too deeply", hint="correct the file")
        if count > max_parts:
            raise InvalidInput(f"flow {name} is too long", hint="divide it into several flows")


def _describe_place(location: Sequence[int | str]) -> str:
    """Return a place counted from 1: `step 3.1, click` for steps.2.steps.0.click."""
    numbers: list[str] = []
    rest = list(location)
    while len(rest) > 1 and rest[0] == "steps" and isinstance(rest[1], int):
        numbers.append(str(rest[1] + 1))
        del rest[:2]
    key = ".".join(str(part) for part in rest)
    return ", ".join([f"step {'.'.join(numbers)}", *([key] if key else [])]) if numbers else key


def find_line(text: str, location: Sequence[int | str]) -> int:
    """Return the line (from 1) of a place, or of its nearest existing parent."""
    from ruamel.yaml import YAML

    node: Any = YAML(pure=True).load(text)
    line = 0
    for part in location:
        if isinstance(node, dict) and part in node:
            line = node.lc.key(part)[0]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0]
        else:
            break
        node = node[part]
    return line + 1


def find_step_line(text: str, place: str) -> int:
    """Return the line of a step in a flow's file, from 1.

    Args:
        text: The file.
        place: The step's place, such as `3.1`.
    """
    return find_line(text, [part for number in place.split(".") for part in ("steps", int(number) - 1)])


def format_flow(flow: Flow, before: str = "") -> str:
    """Write a flow as YAML.

    Args:
        flow: The flow.
        before: The earlier file; comments are kept for keys that still exist.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    yaml = YAML(pure=True)
    yaml.width, yaml.allow_unicode = 110, True
    yaml.indent(mapping=2, sequence=4, offset=2)
    data = flow.model_dump(mode="json", exclude_defaults=True)
    data = {"flow": flow.flow, "name": flow.name} | data
    document = yaml.load(before) if before.strip() else CommentedMap()
    if not before.strip():
        document.yaml_set_start_comment(HEADER)
    _merge_mapping(document, data)
    _set_flow_style(document)
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def format_next_version(flow: Flow, before: str) -> str:
    """Return the YAML of a flow, with people's additions to the previous version."""
    try:
        older = parse_flow(before, flow.name) if before else flow
    except InvalidInput:
        return format_flow(flow)
    return format_flow(flow.model_copy(update={"description": flow.description or older.description}), before)


def set_version(text: str, flow: Flow) -> str:
    """Return the YAML with only the version number replaced by the flow's."""
    line = f"version: {flow.version}"
    changed, count = re.subn(r"(?m)^version:[^#\n]*?(?=\s*(#|$))", line, text, count=1)
    if not count and flow.version > 1:
        changed = re.sub(r"(?m)^name:.*$", lambda match: f"{match[0]}\n{line}", text, count=1)
    try:
        return changed if parse_flow(changed, flow.name) == flow else format_flow(flow, text)
    except InvalidInput:  # written in another style
        return format_flow(flow, text)


def _merge_mapping(document: Any, data: dict[str, Any]) -> None:
    """Update a document from the data, and keep the comments of remaining keys."""
    for key in [key for key in document if key not in data]:
        del document[key]
    for key, value in data.items():
        known = document.get(key)
        if isinstance(value, dict) and isinstance(known, dict):
            _merge_mapping(known, value)
        elif isinstance(value, list) and isinstance(known, list):
            _merge_list(known, value)
        elif known != value or key not in document:
            document[key] = _to_commented(value)


def _merge_list(document: Any, data: list[Any]) -> None:
    del document[len(data) :]
    for index, value in enumerate(data):
        if index >= len(document):
            document.append(_to_commented(value))
        elif isinstance(value, dict) and isinstance(document[index], dict):
            _merge_mapping(document[index], value)
        elif document[index] != value:
            document[index] = _to_commented(value)


def _to_commented(value: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict):
        return CommentedMap({key: _to_commented(item) for key, item in value.items()})
    return CommentedSeq([_to_commented(item) for item in value]) if isinstance(value, list) else value


def _set_flow_style(document: Any) -> None:
    """Write attributes and traits of an element in one line each.

    This keeps a step short.
    """
    for step in document.get("steps", ()):
        _set_flow_style(step)
        for part in step.values():
            for name in ("attributes", "traits") if isinstance(part, dict) else ():
                if hasattr(mapping := part.get(name), "fa"):
                    mapping.fa.set_flow_style()
