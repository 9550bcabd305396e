"""Facts about a toolset for hosts with a registry of servers."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ServerRecord:
    """Registry entry of a toolset.

    Attributes:
        id: Stable number, never used again for another server; None for servers that no registry numbers.
        description: What the server is for, for people who choose it.
        icon: Name of an icon in the host's own set.
        version: Version of its contract, which differs from that of the package.
        category: Group in which hosts show it.
        availability: Whether hosts offer it unasked.
        timeout_ms: Time limit of a call; None means the host's own.
        retry_on_interrupt: Whether a call may run again after the worker that made it was restarted.
    """

    id: int | None = None
    description: str = ""
    icon: str | None = None
    version: str = "1.0.0"
    category: Literal["automation", "storage", "planning", "execution", "search"] | None = None
    availability: Literal["manual", "auto", "auto_hidden_builder"] = "manual"
    timeout_ms: int | None = None
    retry_on_interrupt: bool = False
