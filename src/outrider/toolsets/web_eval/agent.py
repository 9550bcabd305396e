"""Configure the browser agent for evaluations: its tools and rules."""

from outrider.agents.definition import Agent, Budgets
from outrider.core.errors import NotConfigured
from outrider.core.toolbox import Toolbox
from outrider.toolsets.web_eval.done import DONE_TOOL_NAME
from outrider.toolsets.web_eval.request import EvaluationRequest

BROWSER_AGENT = "browser"
EVALUATION_RULES = """

In this task the rules below take precedence.
- The browser session is already open at the address of the task: use the sessionId that the task names. Open another \
with createSession only if that one is lost. Do not close it.
- Start from the open page and reach others by their links and controls.
- If a login, a captcha or a robot check blocks you, or the task cannot be done: stop, and say so. Try a \
failing action once or twice in another way, not more.
- Always end with the tool done, called alone. Put your answer into its `result`; no one reads other text. \
success is true only if you have done the whole task and seen its outcome on the page. If the task is to check, test \
or reproduce something, finding out that the site has the bug is success: list it in `findings`. success is false \
only if you could not find out."""


def list_allowed_tools(toolbox: Toolbox) -> frozenset[str]:
    """Return the browser tools that steps may use. Raises NotConfigured if the operator withholds needed ones."""
    # Evaluations open and close their own session, must not use sign-ins and workspace files, and only some models see
    # pictures (`configure_agent`).
    withheld = {"closeSession", "listSessions", "takeScreenshot", "uploadFiles", "manageStates", "setup_browser_state"}
    names = frozenset(tool.name for tool in toolbox.tools.values() if tool.toolset == "browser") - withheld
    if {"createSession", "navigateToUrl", "snapshotPage"} - names:
        raise NotConfigured(
            "evaluations need the browser's tools",
            hint="an operator must enable them: see tools.enable and tools.disable in the settings",
        )
    return names - {"createSession"}


def configure_agent(agent: Agent, request: EvaluationRequest, allowed: frozenset[str], *, sees_pictures: bool) -> Agent:
    """Return the agent with an evaluation's rules, tools and limits."""
    allowed |= {"takeScreenshot"} if sees_pictures else set()
    limits = {"steps": request.max_steps, "seconds": request.budget_s}
    budgets = agent.budgets.model_dump() | {name: value for name, value in limits.items() if value is not None}
    return agent.model_copy(
        update={
            "instructions": agent.instructions + EVALUATION_RULES,
            "toolsets": [],
            "tools": [*sorted(allowed | {"createSession"}), DONE_TOOL_NAME],
            "stakes": agent.stakes | {DONE_TOOL_NAME: "never_ask"},
            "budgets": Budgets(**budgets),
        }
    )
