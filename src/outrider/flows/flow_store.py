"""Flows as files of a project, or of a person where callers sign in."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Unavailable
from outrider.flows.flow import NAME_PATTERN, Flow, require_flow_name
from outrider.flows.flow_file import format_flow, parse_flow, read_flow_file


@dataclass(frozen=True)
class FlowEntry:
    """A flow in a list; `problem` says why its file cannot be used."""

    name: str
    description: str = ""
    parameters: tuple[str, ...] = ()
    steps: int = 0
    version: int = 0
    problem: str = ""


@dataclass(frozen=True)
class FlowStore:
    """The flows of this process's callers.

    Attributes:
        project: The folder of the user's project; its flows are in `.outrider/flows`.
        data_dir: Has the flows of callers who sign in, and the files of secrets.
        environ: The environment that the caller's host has given.
    """

    project: Path
    data_dir: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def secrets_folder(self) -> Path:
        """The folder with the files of secrets."""
        return self.data_dir / "flow-secrets"

    def find_folder(self, call: Call) -> Path:
        """Return the folder of a caller's flows, which may not exist yet."""
        owner = call.owner_folder
        return self.data_dir / "flows" / owner if owner else self.project / ".outrider" / "flows"

    def load_flow(self, call: Call, name: str) -> Flow:
        """Load a flow. Raises NotFound, InvalidInput."""
        return parse_flow(self.read_text(call, name), name)

    def read_text(self, call: Call, name: str) -> str:
        """Return a flow's file. Raises NotFound, InvalidInput, Unavailable."""
        path = self._build_path(call, name)
        try:
            return read_flow_file(path)
        except FileNotFoundError:
            known = ", ".join(self.list_names(call)[:20])
            hint = f"choose one of {known}" if known else "save one with saveFlow first"
            raise NotFound(f"name: no flow {name!r}", hint=hint, code="unknown_flow") from None
        except (OSError, UnicodeDecodeError) as error:
            raise Unavailable(f"the flow {name} cannot be read: {error}", code="storage") from error

    def save_flow(self, call: Call, flow: Flow, *, replace: bool = False) -> Path:
        """Save a flow; an older one of its name gets its comments and the next version.

        Raises InvalidInput if there is one of its name and `replace` is False, Unavailable.
        """
        path = self._build_path(call, flow.name)
        before = read_flow_file(path) if path.is_file() else ""
        if before and not replace:
            hint = "send replace=true, or choose another name"
            raise InvalidInput(f"name: there is a flow {flow.name} already", hint=hint, code="flow_exists")
        if before:
            try:
                flow = flow.model_copy(update={"version": parse_flow(before, flow.name).version + 1})
            except InvalidInput:
                before = ""
        _write_atomically(path, format_flow(flow, before))
        return path

    def delete_flow(self, call: Call, name: str) -> None:
        """Delete a flow. Raises NotFound, InvalidInput."""
        self.read_text(call, name)
        self._build_path(call, name).unlink(missing_ok=True)

    def list_names(self, call: Call) -> list[str]:
        """List the names of a caller's flows."""
        folder = self.find_folder(call)
        return sorted(path.stem for path in folder.glob("*.yaml") if NAME_PATTERN.fullmatch(path.stem))

    def list_flows(self, call: Call) -> list[FlowEntry]:
        """List a caller's flows by name."""
        return [self._describe(call, name) for name in self.list_names(call)]

    def _describe(self, call: Call, name: str) -> FlowEntry:
        try:
            flow = self.load_flow(call, name)
        except OutriderError as error:
            return FlowEntry(name, problem=error.message)
        return FlowEntry(name, flow.description, tuple(flow.parameters), len(flow.steps), flow.version)

    def _build_path(self, call: Call, name: str) -> Path:
        path = self.find_folder(call) / f"{require_flow_name(name)}.yaml"
        if path.is_symlink():
            raise InvalidInput(f"name: the file of {name!r} is a link", hint="replace it by a file")
        return path


def _write_atomically(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        hint = "the operator must check permissions and free space of the folder"
        raise Unavailable(f"the flow cannot be saved: {error.strerror}", code="storage", hint=hint) from error
