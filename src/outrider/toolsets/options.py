"""Settings that several tools read, and the consent some need."""

from dataclasses import dataclass
from typing import Literal

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.tool_policy import suggest_stake
from outrider.core.untrusted import disarm_marks, wrap_untrusted
from outrider.workspace import SessionWorkspaces


@dataclass(frozen=True)
class ToolOptions:
    """Operator settings for files and results of tools.

    Attributes:
        images_path: Where images go, relative to the workspace.
        boundary: Whether text from pages is wrapped in a random boundary.
        mime_prefix: The vendor tree of typed resources.
        crawl_robots: Whether robots.txt binds crawls.
        unasked: Tools, or `*` for all, that the operator allows to act without a question.
    """

    images_path: str = "./images"
    boundary: bool = True
    mime_prefix: str = "application/vnd.dust"
    crawl_robots: Literal["respect", "ignore"] = "respect"
    unasked: frozenset[str] = frozenset()

    def mark_untrusted(self, text: str, origin: str) -> str:
        """Disarm the marks in untrusted text, and wrap it if the settings say so."""
        disarmed = disarm_marks(text)
        return wrap_untrusted(disarmed, origin) if self.boundary else disarmed

    def build_output_type(self, name: str) -> str:
        """Return the MIME type of a typed result resource, e.g. for `websearch-result`."""
        return f"{self.mime_prefix}.tool-output.{name}"


def may_save_unasked(workspaces: SessionWorkspaces, options: ToolOptions, call: Call, tool: str) -> bool:
    """Return whether a tool may save a file without a question.

    Hosts call tools that only read without asking. A session's own folder belongs to Outrider and is deleted with the
    session. In a folder of the user, a person must agree, unless `tools.stakes` says never_ask.
    """
    if call.answer is True or tool in options.unasked or "*" in options.unasked:
        return True
    return not workspaces.find_workspace(call).is_project


def require_saving_consent(
    workspaces: SessionWorkspaces, options: ToolOptions, call: Call, tool: str, file: str
) -> None:
    """Ask before `file` is saved in a folder of the user.

    Raises:
        AnswerNeeded: The person has not been asked yet.
        Refused: The person did not agree, or the caller may only read.
    """
    if call.grant is not None:
        call.grant.require_write_role("a file would be saved")
    if may_save_unasked(workspaces, options, call, tool):
        return
    if call.answer is False:
        raise Refused(f"the user did not allow saving {file}", hint="do not repeat the call; continue without the file")
    folder = workspaces.find_workspace(call).directory
    question = f"Let {tool} save {file!r} in {str(folder)!r}?"
    raise AnswerNeeded(question, state=file, details={"hint": suggest_stake(tool)})
