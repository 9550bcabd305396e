"""Settings that several tools read."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.tool import PerCallService
from outrider.core.untrusted import disarm_marks, wrap_untrusted


@dataclass(frozen=True)
class ToolOptions(PerCallService):
    """Operator settings for files and results of tools.

    Attributes:
        workspace: The directory that relative paths start from and may not leave.
        images_path: Where images go, relative to the workspace.
        boundary: Whether text from pages is wrapped in a random boundary.
        mime_prefix: The vendor tree of typed resources.
        crawl_robots: Whether robots.txt binds crawls.
        user_folders: Parent of one directory per person, used once callers must authenticate.
    """

    workspace: Path
    images_path: str = "./images"
    boundary: bool = True
    mime_prefix: str = "application/vnd.dust"
    crawl_robots: Literal["respect", "ignore"] = "respect"
    user_folders: Path | None = None

    def bind_to_call(self, call: Call) -> Self:
        """Return the options with the caller's own directory, where callers must authenticate."""
        if not call.owner_folder or self.user_folders is None:
            return self
        folder = self.user_folders / call.owner_folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return replace(self, workspace=folder)

    def mark_untrusted(self, text: str, origin: str) -> str:
        """Disarm the marks in text from other people, and wrap it in a boundary if the operator wants that."""
        disarmed = disarm_marks(text)
        return wrap_untrusted(disarmed, origin) if self.boundary else disarmed

    def build_output_type(self, name: str) -> str:
        """Return the MIME type of a typed result resource, e.g. for `websearch-result`."""
        return f"{self.mime_prefix}.tool-output.{name}"

    def resolve_folder(self, path: str) -> Path:
        """Resolve a folder of the workspace. Raises InvalidInput for a path or link that leads out of it."""
        root = self.workspace.resolve()
        folder = (root / path).resolve()
        if Path(path).is_absolute() or not folder.is_relative_to(root):
            raise InvalidInput(
                f"output_dir: {path!r} is not inside the workspace", hint="send a path relative to the workspace"
            )
        return folder
