"""The browser's agent as evaluations use it: the tools that it has there, and the rules."""

from outrider.agents.definition import Agent, Budgets
from outrider.core.errors import NotConfigured
from outrider.core.toolbox import Toolbox
from outrider.toolsets.web_eval.done import DONE_TOOL_NAME
from outrider.toolsets.web_eval.request import EvaluationRequest

BROWSER_AGENT = "browser"
EVALUATION_RULES = """

In this task the rules below stand above those.
- The browser session is open already, at the address of the task: use the sessionId that the task names. Open another \
with createSession only if that one is lost. Nobody needs you to close it.
- Start from the page that is open and reach others by their links and controls.
- Where a login, a captcha or a robot check stands in the way, or the task cannot be done: stop, and say so. Try a \
failing action once or twice in another way, not more.
- End with the tool done, called alone, whatever came of it. Your answer goes into its `result`; nothing that you \
write as text reaches anybody. success is true only if you have seen on the page that all of the task is done."""


def list_allowed_tools(toolbox: Toolbox) -> frozenset[str]:
    """The browser's tools that evaluations may use. Raises NotConfigured where the operator withholds them."""
    # Not for evaluations: its session is opened and closed for it, sign-ins and files of the workspace are nobody's here,
    # and a model cannot see pictures through a tool's text.
    withheld_tools = frozenset(
        {"closeSession", "listSessions", "takeScreenshot", "uploadFiles", "manageStates", "setup_browser_state"}
    )
    known = [tool for tool in toolbox.tools.values() if tool.toolset == "browser" and tool.name not in withheld_tools]
    names = frozenset(tool.name for tool in known)
    if {"createSession", "navigateToUrl", "snapshotPage"} - names:
        raise NotConfigured(
            "evaluations need the browser's tools",
            hint="an operator must let them through: see tools.enable and tools.disable in the settings",
        )
    return names - {"createSession"}


def configure_agent(agent: Agent, request: EvaluationRequest, allowed: frozenset[str]) -> Agent:
    """The agent as it works on one evaluation."""
    given = {"steps": request.max_steps, "seconds": request.budget_s}
    budgets = agent.budgets.model_dump() | {name: value for name, value in given.items() if value is not None}
    return agent.model_copy(
        update={
            "instructions": agent.instructions + EVALUATION_RULES,
            "toolsets": [],
            "tools": [*sorted(allowed | {"createSession"}), DONE_TOOL_NAME],
            "stakes": agent.stakes | {DONE_TOOL_NAME: "never_ask"},
            "budgets": Budgets(**budgets),
        }
    )
