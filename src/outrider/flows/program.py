"""A flow with the flows that it runs."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from outrider.core.errors import InvalidInput, Refused
from outrider.core.untrusted import clean_untrusted
from outrider.flows.flow import Flow, FlowStep, iterate_steps
from outrider.flows.flow_file import parse_flow
from outrider.flows.origins import is_named_origin
from outrider.flows.values import require_known_placeholders


@dataclass(frozen=True)
class FlowProgram:
    """A flow and the flows that its steps name.

    Attributes:
        flow: The flow that is run.
        texts: The file of each flow, by name.
        flows: The flows of these files.
    """

    flow: Flow
    texts: Mapping[str, str]
    flows: Mapping[str, Flow] = field(repr=False)

    @property
    def digest(self) -> str:
        """The fingerprint of all files."""
        whole = "\0".join(f"{name}\0{text}" for name, text in sorted(self.texts.items()))
        return hashlib.sha256(whole.encode()).hexdigest()

    def iterate_steps(self) -> Iterator[tuple[str, FlowStep]]:
        """Yield the steps of all flows with a name for people."""
        for name, flow in self.flows.items():
            before = "" if name == self.flow.name else f"{name}, step "
            for place, step in iterate_steps(flow.steps):
                yield f"{before}{place}", step


def load_program(name: str, read_text: Callable[[str], str]) -> FlowProgram:
    """Load a flow and the flows that it names. Raises InvalidInput, NotFound, Refused."""
    texts: dict[str, str] = {}
    flows: dict[str, Flow] = {}

    def load(each: str, callers: tuple[str, ...]) -> Flow:
        if each in callers:
            chain = " > ".join((*callers, each))
            raise InvalidInput(f"flow {each} would run itself: {chain}", hint="remove one of these steps")
        if each not in flows:
            texts[each] = read_text(each)
            flows[each] = flow = parse_flow(texts[each], each)
            require_known_placeholders(flow)
            for place, step in iterate_steps(flow.steps):
                if step.flow is not None:
                    _check_call(flow, place, step, load(step.flow, (*callers, each)))
        return flows[each]

    return FlowProgram(load(name, ()), texts, flows)


def _check_call(caller: Flow, place: str, step: FlowStep, called: Flow) -> None:
    """Refuse a step that runs a flow with unknown parameters or on further sites."""
    start = f"flow {caller.name}, step {place}: flow {called.name}"
    if strange := [origin for origin in called.origins if not is_named_origin(origin, caller.origins)]:
        raise Refused(
            f"{start} acts on {strange[0]}", hint=f"add it to the origins of {caller.name} if it belongs there"
        )
    if unknown := [name for name in step.parameters if name not in called.parameters]:
        known = ", ".join(called.parameters) or "it has none"
        raise InvalidInput(f"{start} has no parameter {unknown[0]!r}", hint=f"its parameters: {known}")
    needed = [name for name, each in called.parameters.items() if each.default is None and name not in step.parameters]
    if needed:
        raise InvalidInput(f"{start} needs the parameter {needed[0]}", hint=f"add it to parameters of step {place}")


def format_program(program: FlowProgram) -> str:
    """Return the sites, secrets and steps of a flow and its subflows as lines."""
    flow = program.flow
    lines = [clean_line(f"{flow.name}, version {flow.version}: {flow.description}").rstrip(" :")]
    lines += [f"Fingerprint: {program.digest[:16]}"]
    lines += [line for each in program.flows.values() for line in _format_flow(each)]
    asking = [f"step {place}: {clean_line(str(step))}" for place, step in program.iterate_steps() if step.ask]
    lines += ["", "Asks until it is approved:"]
    lines += asking or ["no step, except those whose tool has a high stake in the settings"]
    return "\n".join(lines)


def _format_flow(flow: Flow) -> list[str]:
    lines = ["", clean_line(f"{flow.name} acts on {', '.join(flow.origins)}")]
    if flow.parameters:
        lines.append(f"with any value of {', '.join(flow.parameters)}")
    if flow.secrets:
        lines.append(f"and types the secrets {', '.join(flow.secrets)}")
    return [*lines, *_format_steps(flow.steps)]


def _format_steps(steps: Sequence[FlowStep]) -> list[str]:
    lines = []
    for place, step in iterate_steps(steps):
        details = [f"text {step.text!r}"] if step.text is not None else []
        details += [f"secret {step.secret}"] if step.secret else []
        details += [
            f"{name} {', '.join(getattr(step, name))}"
            for name in ("options", "files", "modifiers")
            if getattr(step, name)
        ]
        details += [f"to {step.to}"] if step.to else []
        details += [f"with {json.dumps(step.parameters, ensure_ascii=False)}"] if step.parameters else []
        details += [f"when {step.when}"] if step.when and step.kind != "steps" else []
        details += [name for name in ("append", "submit", "ask") if getattr(step, name)]
        more = f" ({'; '.join(details)})" if details else ""
        lines.append(f"  {place}  {clean_line(f'{step}{more}')}")
    return lines


def clean_line(text: str) -> str:
    """Return a file's text on one line, so that it cannot imitate our lines."""
    return " ".join(clean_untrusted(text).split())
