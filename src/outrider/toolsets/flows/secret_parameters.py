"""Find a run's secret parameters and keep them out of records.

They are restored when the run is resumed.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.redact import is_secret_name
from outrider.core.errors import InvalidInput
from outrider.core.result import Result, TextBlock
from outrider.flows.flow import Flow, iterate_steps
from outrider.flows.values import FlowValues, list_placeholders


@dataclass(frozen=True)
class RunParameters:
    """The parameters of a run.

    Attributes:
        kept: The parameters stored in its record.
        withheld: The other parameters by name, each with its entry in the secret store, or an empty text.
    """

    kept: Mapping[str, Any]
    withheld: Mapping[str, str]


def take_from_store(flow: Flow, given: Mapping[str, Any], store: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters, completed by secrets of the store that the caller left out."""
    names = [name for name, each in flow.parameters.items() if each.secret and name not in given]
    entries = {name: f"OUTRIDER_FLOW_{name.upper()}" for name in names}
    return {**given, **{name: store[entry] for name, entry in entries.items() if entry in store}}


def split_parameters(flow: Flow, given: Mapping[str, Any], store: Mapping[str, str]) -> RunParameters:
    """Separate parameters that may be stored from secret ones.

    Args:
        flow: The flow.
        given: The parameters from the caller.
        store: The values of the secret store by name.
    """
    entries = {value: name for name, value in store.items()}
    secret = find_secret_names(flow)
    min_part_chars = 4  # shorter ones are in many texts by chance
    parts = [value for value in store.values() if len(value) >= min_part_chars]
    withheld = {
        name: entries.get(text, "")
        for name, text in ((name, str(given[name])) for name in flow.parameters if name in given)
        if name in secret or text in entries or any(part in text for part in parts)
    }
    return RunParameters({name: value for name, value in given.items() if name not in withheld}, withheld)


def find_secret_names(flow: Flow) -> set[str]:
    """Return the secret parameters: declared by the flow, or recognized by their names or those of their fields."""
    found = {name for name, each in flow.parameters.items() if each.secret or is_secret_name(name)}
    found |= {name for name, each in flow.parameters.items() if any(map(is_secret_name, each.columns))}
    for _, step in iterate_steps(flow.steps):
        for key, value in step.arguments.items():
            found |= set(list_placeholders(value)) if is_secret_name(key) else set()
        target = step.fill
        if target and any(map(is_secret_name, (target.name, *target.attributes.values()))):
            found |= set(list_placeholders(step.text or ""))
    return found & flow.parameters.keys()


def restore_parameters(
    run_parameters: RunParameters, given: Mapping[str, Any], store: Mapping[str, str], run_id: str
) -> dict[str, Any]:
    """Return all parameters of a resumed run. Raises InvalidInput for a secret that must be sent again."""
    withheld = run_parameters.withheld
    if unknown := next((name for name in given if name not in withheld), None):
        known = ", ".join(withheld) or "none"
        message = f"parameters: {unknown} is already stored with run {run_id}"
        raise InvalidInput(message, hint=f"send only secrets; of this run: {known}")
    values = dict(run_parameters.kept) | {name: store[entry] for name, entry in withheld.items() if entry in store}
    values |= dict(given)
    if missing := [name for name in withheld if name not in values]:
        hint = f"send parameters with {', '.join(missing)}, or type it: `outrider flow resume {run_id} {missing[0]}=?`"
        message = f"parameters: {missing[0]} is a secret, which run {run_id} did not store"
        raise InvalidInput(message, hint=hint, code="secret_needed")
    return values


def name_secret_values(
    secrets: Mapping[str, Mapping[str, str]], withheld: Mapping[str, str], values: FlowValues
) -> dict[str, str]:
    """Return the name of each value that a run must not show."""
    names = {value: name for each in secrets.values() for name, value in each.items()}
    names |= {values.texts[name]: name for name in withheld if name in values.texts}
    for name in withheld:
        for row in values.rows.get(name, ()):
            names |= {value: column for column, value in row.items() if is_secret_name(column)}
    return names


class SecretFilter:
    """Replaces the values of secrets in texts.

    Args:
        values: The name of each value.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = frozenset(value for value in values if value)
        # Longest first, because one secret may be a part of another.
        ordered = sorted(self.values, key=len, reverse=True)
        self._patterns = [(_build_pattern(value), f"[secret {values[value]}]") for value in ordered]

    def hide(self, text: str) -> str:
        """Return a text without secrets."""
        for pattern, mark in self._patterns:
            text = pattern.sub(lambda _, mark=mark: mark, text)
        return text

    def hide_in(self, value: Any) -> Any:
        """Return JSON without secrets."""
        if isinstance(value, dict):
            return {self.hide(str(key)): self.hide_in(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.hide_in(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            hidden = self.hide(str(value))
            return value if hidden == str(value) else hidden
        return self.hide(value) if isinstance(value, str) else value

    def hide_in_result(self, result: Result) -> Result:
        """Return a result without secrets."""
        return Result((TextBlock(self.hide(result.text)),), self.hide_in(result.data), is_error=result.is_error)


def _build_pattern(value: str) -> re.Pattern[str]:
    """Return a pattern of a value, plain or encoded for addresses, JSON or HTML."""
    # Pages collapse white space. A run of it gets a single pattern, because several would try all ways to divide it.
    space = r"(?:\s|%20|%0[AaDd]|%09|\+|&nbsp;|\\[nrt])+"
    pieces = re.split(r"(\s+)", value)
    return re.compile(
        "".join(space if piece.isspace() else "".join(map(_build_character_pattern, piece)) for piece in pieces)
    )


def _build_character_pattern(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    forms = {character, html.escape(character), json.dumps(character)[1:-1], repr(character)[1:-1]}
    forms |= {f"&#{ord(character)};", f"&#x{ord(character):x};"}
    quoted = "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))
    forms |= {quoted, quoted.lower()}
    return f"(?:{'|'.join(sorted(map(re.escape, forms), reverse=True))})"
