"""Show a person what a flow does, before it is approved."""

import json
from collections.abc import Sequence

from outrider.core.untrusted import clean_untrusted
from outrider.flows.flow import Flow, FlowStep, iterate_steps
from outrider.flows.program import FlowProgram


def format_program(program: FlowProgram) -> str:
    """Return the sites, secrets and steps of a flow and of those that it runs, as lines."""
    flow = program.flow
    lines = [clean_line(f"{flow.name}, version {flow.version}: {flow.description}").rstrip(" :")]
    lines += [f"Fingerprint: {program.digest[:16]}"]
    lines += [line for each in program.flows.values() for line in _format_flow(each)]
    asking = [f"step {place}: {clean_line(str(step))}" for place, step in program.iterate_steps() if step.ask]
    lines += ["", "Asks until it is approved:", *(asking or ["no step; those that settings give high stakes do"])]
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
    """Return a text of a file on one line, because a line break in a name could pass for a line of ours."""
    return " ".join(clean_untrusted(text).split())
