"""Fill parameters and secrets into a flow."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from outrider.core.errors import InvalidInput, NotConfigured
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Secret, Target

PartT = TypeVar("PartT", Target, FlowCondition)
PLACEHOLDER_PATTERN = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")


def resolve_parameters(flow: Flow, given: Mapping[str, object]) -> dict[str, str]:
    """Return the value of each parameter. Raises InvalidInput for one that is unknown or missing."""
    known = ", ".join(flow.parameters) or "it has none"
    for name in given:
        if name not in flow.parameters:
            raise InvalidInput(f"parameters: {flow.name} has no parameter {name!r}", hint=f"its parameters: {known}")
    defaults = {name: each.default for name, each in flow.parameters.items()}
    values = defaults | {name: str(value) for name, value in given.items()}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise InvalidInput(f"parameters: {missing[0]} is required", hint=f"send {', '.join(missing)}")
    return {name: value for name, value in values.items() if value is not None}


def resolve_secrets(flow: Flow, environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the value of each secret, from the environment or a file in the folder. Raises NotConfigured.

    A variable that is not set may be a file of its name, because a process that runs already gets no new variables.
    """
    return {name: _read_secret(name, secret, environ, folder) for name, secret in flow.secrets.items()}


def _read_secret(name: str, secret: Secret, environ: Mapping[str, str], folder: Path) -> str:
    if secret.env and (value := environ.get(secret.env) or os.environ.get(secret.env)):
        return value
    file = secret.file or secret.env
    try:
        return (folder / file).read_text(encoding="utf-8").rstrip("\n")
    except OSError:
        variable = f"set {secret.env} where Outrider starts, or " if secret.env else ""
        hint = f"the operator must {variable}write it to the file {file} in flow-secrets of data_dir"
        raise NotConfigured(f"secret {name} has no value", hint=hint, code="no_secret") from None


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced. Raises InvalidInput for an unknown one."""

    def replace(match: re.Match[str]) -> str:
        if match[1] not in values:
            hint = f"declare it under parameters; declared: {', '.join(values) or 'none'}"
            raise InvalidInput(f"the flow uses ${{{match[1]}}}, which it does not declare", hint=hint)
        return values[match[1]]

    return PLACEHOLDER_PATTERN.sub(replace, text)


def fill_step(step: FlowStep, values: Mapping[str, str]) -> FlowStep:
    """Return a step with the placeholders of all its texts replaced."""
    changes: dict[str, object] = {}
    for name in step.model_fields_set:
        value = getattr(step, name)
        if isinstance(value, str) and name not in ("secret", "note"):
            changes[name] = fill_placeholders(value, values)
        elif isinstance(value, list):
            changes[name] = [fill_placeholders(each, values) for each in value]
        elif isinstance(value, Target | FlowCondition):
            changes[name] = fill_part(value, values)
    return step.model_copy(update=changes)


def fill_part(part: PartT, values: Mapping[str, str]) -> PartT:
    """Return a target or condition with its placeholders replaced."""
    texts = {name: getattr(part, name) for name in part.model_fields_set}
    filled = {name: fill_placeholders(text, values) for name, text in texts.items() if isinstance(text, str)}
    return part.model_copy(update=filled)
