"""The few settings that tools themselves obey."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.tool import PerCaller
from outrider.core.untrusted import wrap


@dataclass(frozen=True)
class Choices(PerCaller):
    """What an operator chose about results.

    Attributes:
        workspace: The directory that relative paths start from and may not leave.
        images_path: Where images go, relative to the workspace.
        boundary: Whether page text is wrapped in a random boundary.
        mime_prefix: The vendor tree of typed resources.
        crawl_robots: Whether robots.txt binds crawls.
        people: Where each person has a directory of their own, once callers must show who they are.
    """

    workspace: Path
    images_path: str = "./images"
    boundary: bool = True
    mime_prefix: str = "application/vnd.dust"
    crawl_robots: Literal["respect", "ignore"] = "respect"
    people: Path | None = None

    def for_call(self, call: Call) -> Self:
        """The same, in the caller's own directory where callers must show who they are."""
        if not call.own or self.people is None:
            return self
        folder = self.people / call.own
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return replace(self, workspace=folder)

    def mark(self, text: str, origin: str) -> str:
        """Other people's text, wrapped in a boundary if the operator wants that."""
        return wrap(text, origin) if self.boundary else text

    def output_type(self, name: str) -> str:
        """The mime type of a typed result resource, for instance `websearch-result`."""
        return f"{self.mime_prefix}.tool-output.{name}"

    def inside(self, path: str) -> Path:
        """A folder of the workspace. Raises InvalidInput for one that lies elsewhere, by link or by name."""
        root = self.workspace.resolve()
        folder = (root / path).resolve()
        if Path(path).is_absolute() or not folder.is_relative_to(root):
            raise InvalidInput(
                f"output_dir: {path!r} is not inside the workspace", hint="send a path relative to the workspace"
            )
        return folder
