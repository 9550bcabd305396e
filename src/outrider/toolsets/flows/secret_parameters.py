"""Find the parameters of a run that are secrets, keep them out of its record, and fill them in again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.redact import is_secret_name
from outrider.core.errors import InvalidInput
from outrider.flows.flow import Flow, iterate_steps
from outrider.flows.values import FlowValues, list_placeholders


@dataclass(frozen=True)
class RunParameters:
    """The parameters of a run.

    Attributes:
        kept: Those that its record has.
        withheld: Those that it has not, by name: the entry of the secret store with their value, or an empty text.
    """

    kept: Mapping[str, Any]
    withheld: Mapping[str, str]


def take_from_store(flow: Flow, given: Mapping[str, Any], store: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters with those secrets of the store that the caller has left out."""
    names = [name for name, each in flow.parameters.items() if each.secret and name not in given]
    entries = {name: f"OUTRIDER_FLOW_{name.upper()}" for name in names}
    return {**given, **{name: store[entry] for name, entry in entries.items() if entry in store}}


def split_parameters(flow: Flow, given: Mapping[str, Any], store: Mapping[str, str]) -> RunParameters:
    """Separate the parameters that may be stored from those that may not.

    Args:
        flow: The flow.
        given: What the caller has sent.
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
    """Return the parameters that are secrets: as the flow says, or by their names or those of their fields."""
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
    """Return all parameters of a resumed run. Raises InvalidInput for a secret that has to be sent again."""
    withheld = run_parameters.withheld
    if unknown := next((name for name in given if name not in withheld), None):
        known = ", ".join(withheld) or "none"
        raise InvalidInput(
            f"parameters: {unknown} is kept with run {run_id}", hint=f"send only secrets; of this run: {known}"
        )
    values = dict(run_parameters.kept) | {name: store[entry] for name, entry in withheld.items() if entry in store}
    values |= dict(given)
    if missing := [name for name in withheld if name not in values]:
        hint = f"send parameters with {', '.join(missing)}, or type it: `outrider flow resume {run_id} {missing[0]}=?`"
        message = f"parameters: {missing[0]} is a secret, which run {run_id} has not kept"
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
