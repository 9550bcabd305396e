"""Ask a person before agents' flows and steps with high stakes."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.tool import Tool
from outrider.core.tool_policy import ToolPolicy, filter_tools, resolve_stake, suggest_stake
from outrider.flows.flow import Flow, FlowStep
from outrider.flows.program import FlowProgram, clean_line, format_program
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.browser.web_mcp import browser_webmcp

# By kind of step, the tool that does the same for a model; its permissions and stakes also apply to flows.
STEP_TOOLS = {
    "click": "clickElement",
    "fill": "inputText",
    "select": "selectOption",
    "check": "selectOption",
    "uncheck": "selectOption",
    "press": "pressKey",
    "hover": "hoverElement",
    "drag": "dragElement",
    "upload": "uploadFiles",
    "dialog": "answerDialog",
    "scroll": "scrollPage",
    "open": "navigateToUrl",
    "back": "navigateBack",
    "forward": "navigateForward",
    "reload": "navigateToUrl",
    "tab": "manageTabs",
    "wait": "waitFor",
    "extract": "extractPageContent",
    "pages": "clickElement",
    "tool": "callPageTool",
}


@dataclass(frozen=True)
class PausedRun:
    """A run that waits for a person's answer.

    Attributes:
        session_id: Its browser session.
        step: The step in question; empty for the question before the start.
        run_id: The id of its record.
        digest: The fingerprint of the files in the question before the start.
    """

    session_id: str = ""
    step: str = ""
    run_id: str = ""
    digest: str = ""

    def to_state(self) -> str:
        """Return it as the state of a paused call."""
        return json.dumps({"session": self.session_id, "step": self.step, "run": self.run_id, "digest": self.digest})


def read_paused_run(call: Call) -> PausedRun | None:
    """Return the run that a call resumes; None for a new one."""
    if call.state is None:
        return None
    try:
        state = json.loads(call.state)
        return PausedRun(str(state["session"]), str(state["step"]), str(state["run"]), str(state.get("digest", "")))
    except (ValueError, KeyError, TypeError):
        return None


def require_tools(program: FlowProgram, policy: ToolPolicy, call: Call) -> None:
    """Refuse a flow with a step whose tool the caller may not use. Raises Refused."""
    offered = filter_tools([*browser.tools.values(), *browser_webmcp.tools.values()], policy, warn=False)
    for place, step in program.iterate_steps():
        name = STEP_TOOLS.get(step.kind)
        tool = offered.get(name or "")
        if name is None:
            continue
        if tool is None or (call.grant is not None and not call.grant.can_use_tool(tool)):
            message = f"step {place} of {program.flow.name} needs {name}, which you may not use"
            raise Refused(message, hint="ask the operator to offer that tool")


def require_start_consent(
    program: FlowProgram, call: Call, state_id: str | None, parameters: tuple[str, ...] = ()
) -> None:
    """Ask a person before an agent uses secrets or a sign-in. Raises AnswerNeeded, Refused."""
    # A hostile page may have made the agent do this, as with the sign-in of createSession.
    paused = read_paused_run(call)
    flow = program.flow
    secrets = [*(name for each in program.flows.values() for name in each.secrets), *parameters]
    if call.run is None or not (secrets or state_id) or (paused and paused.step):
        return
    uses = [*(f"the secret {name!r}" for name in secrets), *([f"the sign-in {state_id!r}"] if state_id else [])]
    if call.answer is False:
        raise Refused(f"the user did not allow the flow {flow.name}", hint="do not repeat the call")
    if call.answer is not True or (paused and paused.digest != program.digest):
        question = f"Let agent {call.run.agent} run the flow {flow.name} with {', '.join(uses)} on "
        raise AnswerNeeded(f"{question}{', '.join(flow.origins)}?", state=PausedRun(digest=program.digest).to_state())


def require_saving_consent(call: Call, flow: Flow, text: str, unasked: frozenset[str]) -> None:
    """Ask a person before a model saves a flow that it has written. Raises AnswerNeeded, Refused.

    Such a flow may name sites, secrets and files that were not used in the session.
    """
    max_summary_chars = 8_000
    if call.run is not None:
        raise Refused("file: only people save flows that they have written", code="needs_person")
    if call.answer is True or unasked & {"saveFlow", "*"}:
        return
    if call.answer is False:
        raise Refused(f"the user did not allow saving the flow {flow.name}", hint="do not repeat the call")
    summary = format_program(FlowProgram(flow, {flow.name: text}, {flow.name: flow}))
    if len(summary) > max_summary_chars:
        summary = f"{summary[:max_summary_chars]}… (cut: {len(summary)} characters in all)"
    details = {"hint": suggest_stake("saveFlow")}
    raise AnswerNeeded(f"Let saveFlow save this flow?\n{summary}", state=flow.name, details=details)


def build_consent_check(policy: ToolPolicy, *, is_approved: bool) -> Callable[[FlowStep], bool]:
    """Return the function that decides which steps ask a person: none in an approved flow."""

    def needs_consent(step: FlowStep) -> bool:
        tool: Tool = (browser_webmcp if step.kind == "tool" else browser).tools[STEP_TOOLS[step.kind]]
        return not is_approved and (step.ask or resolve_stake(tool, policy.stakes) == "high")

    return needs_consent


def build_step_question(step: str, program: FlowProgram, call: Call, paused: PausedRun, url: str) -> AnswerNeeded:
    """Build the question before a step; a person who runs the flow may also approve its current version."""
    max_step_chars = 4_000
    max_summary_chars = 8_000  # longer ones are approved in the dashboard, where they can be scrolled
    name, version, shown = program.flow.name, program.flow.version, clean_line(step)
    if len(shown) > max_step_chars:
        shown = f"{shown[:max_step_chars]}… (cut: {len(shown)} characters in all)"
    question = f"Let the flow {name} do step {paused.step}, {shown}, on {url[:200]}?"
    summary = f"Let version {version} of {name} do all this without asking, until one of its files changes:\n"
    summary += format_program(program)
    is_offered = call.run is None and len(summary) <= max_summary_chars
    is_named = call.workspace or call.identity
    places = "the dashboard" if is_named else f"a terminal (`outrider flow approve {name}`) or the dashboard"
    hint = f"a person approves the flow at {places}; then call resumeFlow with runId={paused.run_id}"
    details = {"runId": paused.run_id, "hint": hint}
    return AnswerNeeded(question, state=paused.to_state(), details=details, lasting=summary if is_offered else "")


def require_step_allowed(flow: Flow, call: Call, paused: PausedRun | None) -> None:
    """Refuse to resume if the person has not allowed the step. Raises Refused."""
    if paused and paused.step and call.answer is not True:
        if call.answer is None:
            message = f"the question about step {paused.step} of {flow.name} was closed without an answer"
            hint = f"ask the user; once they agree, call resumeFlow with runId={paused.run_id}"
            raise Refused(message, hint=hint, code="not_answered")
        message = f"the user did not allow step {paused.step} of {flow.name}"
        hint = f"the browser session {paused.session_id} is open before that step; continue without it"
        raise Refused(message, hint=hint)
