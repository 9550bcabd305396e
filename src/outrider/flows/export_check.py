"""Refuse to export a flow that a plain Playwright test cannot express."""

from outrider.core.errors import InvalidInput
from outrider.flows.flow import Flow, iterate_steps


def require_exportable(flow: Flow) -> None:
    """Refuse a flow with extraction, loops or other flows. Raises InvalidInput."""
    for place, step in iterate_steps(flow.steps):
        if step.kind in ("extract", "each", "pages", "flow", "steps") or (step.kind == "tool" and not step.steps):
            message = f"flow {flow.name}, step {place}: {step.kind} cannot be written as a Playwright test"
            raise InvalidInput(message, hint="remove this step from the flow, or use `outrider flow test`")
