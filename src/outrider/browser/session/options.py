"""What a caller may wish for a session."""

from dataclasses import dataclass
from pathlib import Path

from outrider.browser.settings import DialogPolicy


@dataclass(frozen=True)
class SessionOptions:
    """What a caller may wish for a session; None and empty mean the settings'.

    `whose` says whose saved states `state_id` is looked for among: see `Browsers.states_of`.
    """

    title: str = ""
    headless: bool | None = None
    size: tuple[int, int] | None = None
    locale: str = ""
    timezone: str = ""
    state_id: str | None = None
    whose: str = ""
    dialogs: DialogPolicy | None = None
    download_folder: Path | None = None
