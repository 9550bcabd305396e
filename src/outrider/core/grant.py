"""The permissions of an authenticated caller, which travel with its calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from outrider.core.errors import Refused

WorkspaceRole = Literal["viewer", "member", "owner"]


class GrantedTool(Protocol):
    """The properties of a tool that decide whether a caller may use it."""

    @property
    def name(self) -> str: ...
    @property
    def toolset(self) -> str: ...
    @property
    def effect(self) -> str: ...


@dataclass(frozen=True)
class Grant:
    """The permissions of one call.

    Attributes:
        credential: Identifies the credential, never the secret itself: a token's id, or `oauth:` and the client's.
        role: Role in the workspace of the call. A viewer may only use tools that read.
        toolsets: Toolsets that may be used; None means all.
        remedy: Instruction how to get more permissions.
        address: The caller's network address; empty if there is none.
    """

    credential: str
    role: WorkspaceRole = "member"
    toolsets: tuple[str, ...] | None = None
    remedy: str = ""
    address: str = ""

    def can_use_tool(self, tool: GrantedTool) -> bool:
        """Return whether the call may use the tool."""
        return self.can_use_toolset(tool.toolset) and (self.role != "viewer" or tool.effect == "read")

    def can_use_toolset(self, toolset: str) -> bool:
        """Return whether any tool of the toolset may be used."""
        return self.toolsets is None or toolset in self.toolsets

    def require_tool(self, tool: GrantedTool) -> None:
        """Raise Refused for a tool that the call may not use; the hint says who can change that."""
        if not self.can_use_toolset(tool.toolset):
            granted = ", ".join(self.toolsets or ()) or "none"
            message = f"your credential does not grant toolset {tool.toolset!r} of {tool.name} (it grants: {granted})"
            raise Refused(message, code="insufficient_scope", hint=self.remedy, details={"toolset": tool.toolset})
        if not self.can_use_tool(tool):
            raise _build_viewer_refusal(f"{tool.name} does more than read")

    def require_write_role(self, effect: str) -> None:
        """Raise Refused if a viewer would store something.

        The rest of the tool only reads.

        Args:
            effect: What would be stored, as the beginning of a sentence: `a picture would be saved`.
        """
        if self.role == "viewer":
            raise _build_viewer_refusal(effect)

    def to_dict(self) -> dict[str, Any]:
        """Return the grant as JSON-able data, for another process."""
        return vars(self) | {"toolsets": None if self.toolsets is None else list(self.toolsets)}

    @classmethod
    def from_dict(cls, encoded: Mapping[str, Any] | None) -> "Grant | None":
        """Return the grant that `to_dict` encoded."""
        if encoded is None:
            return None
        toolsets = encoded.get("toolsets")
        values: dict[str, Any] = {**encoded, "toolsets": None if toolsets is None else tuple(toolsets)}
        return cls(**values)


def _build_viewer_refusal(effect: str) -> Refused:
    return Refused(
        f"{effect}, and you are a viewer of this workspace",
        code="insufficient_role",
        hint="an owner of the workspace can make you a member of it; use tools that only read",
    )
