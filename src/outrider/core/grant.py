"""What a caller has shown to be allowed, where callers must show something. It travels with the call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from outrider.core.errors import Refused

if TYPE_CHECKING:
    from outrider.core.tool import Tool

WorkspaceRole = Literal["viewer", "member", "owner"]


@dataclass(frozen=True)
class Grant:
    """What one call may do.

    Attributes:
        credential: What the caller is known by, never the secret itself: a token's id, or `oauth:` and the client's.
        role: In the workspace of the call. A viewer may use tools that only read, and what others do beside keeping.
        toolsets: Those that may be used; None means all.
        remedy: Who can give more, as an instruction.
        address: The caller's network address; empty where there is none.
    """

    credential: str
    role: WorkspaceRole = "member"
    toolsets: tuple[str, ...] | None = None
    remedy: str = ""
    address: str = ""

    def can_use_tool(self, tool: "Tool") -> bool:
        """Whether the call may use the tool."""
        return self.can_use_toolset(tool.toolset) and (self.role != "viewer" or tool.effect == "read" or tool.viewers)

    def can_use_toolset(self, toolset: str) -> bool:
        """Whether anything of the toolset may be used."""
        return self.toolsets is None or toolset in self.toolsets

    def require_tool(self, tool: "Tool") -> None:
        """Raises Refused for a tool that the call may not use; the hint says who can change that."""
        if not self.can_use_toolset(tool.toolset):
            given = ", ".join(self.toolsets or ()) or "none"
            message = f"{tool.name} is of toolset {tool.toolset!r}, and what you signed in with is good for: {given}"
            raise Refused(message, code="insufficient_scope", hint=self.remedy, details={"toolset": tool.toolset})
        if not self.can_use_tool(tool):
            raise _build_viewer_refusal(f"{tool.name} does more than read")

    def require_write_role(self, what: str) -> None:
        """Raises Refused for a viewer; for the part of a tool that keeps something, where the rest only reads.

        Args:
            what: What would be kept, as the beginning of a sentence: `a picture would be saved`.
        """
        if self.role == "viewer":
            raise _build_viewer_refusal(what)

    def to_dict(self) -> dict[str, Any]:
        """The grant as JSON, for work that goes on in another process."""
        return vars(self) | {"toolsets": None if self.toolsets is None else list(self.toolsets)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any] | None) -> "Grant | None":
        """The grant that `facts` told of."""
        if facts is None:
            return None
        toolsets = facts.get("toolsets")
        values: dict[str, Any] = {**facts, "toolsets": None if toolsets is None else tuple(toolsets)}
        return cls(**values)


def _build_viewer_refusal(what: str) -> Refused:
    return Refused(
        f"{what}, and you are a viewer of this workspace",
        code="insufficient_role",
        hint="an owner of the workspace can make you a member of it; use tools that only read",
    )
