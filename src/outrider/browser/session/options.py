"""Options of a session."""

from dataclasses import dataclass
from pathlib import Path

from outrider.browser.settings import DialogPolicy


@dataclass(frozen=True)
class SessionOptions:
    """A caller's options for a session; None and empty mean those of the settings.

    `workspace` gets downloads, and holds the files that may be uploaded; without it both are refused.
    `protected` are paths of it that no download may write.
    `whose` is the owner of the saved states among which `state_id` is looked up: see `Browsers.get_state_store`.
    `conversation` is the agent's conversation that opened it; hosts and people have none.
    """

    title: str = ""
    headless: bool | None = None
    size: tuple[int, int] | None = None
    locale: str = ""
    timezone: str = ""
    state_id: str | None = None
    whose: str = ""
    conversation: str = ""
    dialogs: DialogPolicy | None = None
    workspace: Path | None = None
    protected: tuple[str, ...] = ()
