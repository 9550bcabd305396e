"""Store callers' flows: as files on a laptop, as rows in a team's shared database."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused
from outrider.flows.flow import Flow, Secret, require_flow_name
from outrider.flows.flow_file import format_next_version, parse_flow, set_version
from outrider.flows.flow_files import FlowFiles, SavedFlow
from outrider.flows.flow_rows import FlowRows
from outrider.flows.origins import is_named_origin
from outrider.flows.program import FlowProgram, load_program

PREFIX = "OUTRIDER_FLOW_"


@dataclass(frozen=True)
class SecretStore:
    """Reads the values of secrets.

    Attributes:
        folder: Contains a file for each secret. A running process gets no new variables, but sees new files.
        environ: The environment from the caller's host; the process's own is read as well.
    """

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def resolve_secrets(self, flow: Flow) -> dict[str, str]:
        """Return the value of each secret of a flow. Raises NotConfigured, Refused."""
        return {name: self._resolve_secret(flow, name, secret) for name, secret in flow.secrets.items()}

    def read_all(self) -> dict[str, str]:
        """Return the values of all secrets by name, including those that no flow uses."""
        variables = {**os.environ, **self.environ}
        values = {name: value for name, value in variables.items() if name.startswith(PREFIX) and value}
        files = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        for file in files:
            if file.suffix != ".sites" and (value := self._read_file(file.name)):
                values.setdefault(file.name, value)
        return {name: value for name, value in values.items() if not name.endswith("_SITES")}

    def require_site(self, entry: str, origins: list[str]) -> None:
        """Refuse a secret on sites that the operator has not allowed for it. Raises Refused."""
        sites = (self._read_variable(f"{entry}_SITES") or self._read_file(f"{entry}.sites")).split()
        strange = [origin for origin in origins if not is_named_origin(origin, sites)]
        if sites and strange:
            raise Refused(
                f"the secret {entry} is bound to {', '.join(sites)}, but the flow would type it on {strange[0]}",
                hint="correct the flow's origins, or have the operator add the site",
                code="secret_bound",
            )

    def _resolve_secret(self, flow: Flow, name: str, secret: Secret) -> str:
        entry = secret.file or secret.env
        self.require_site(entry, secret.origins or flow.origins)
        if value := (self._read_variable(secret.env) if secret.env else "") or self._read_file(entry):
            return value
        variable = f"set {secret.env} where Outrider starts, or " if secret.env else ""
        hint = f"the operator must {variable}write it to the file {entry} in flow-secrets of data_dir"
        raise NotConfigured(f"secret {name} has no value", hint=hint, code="no_secret")

    def _read_variable(self, name: str) -> str:
        return self.environ.get(name) or os.environ.get(name) or ""

    def _read_file(self, name: str) -> str:
        try:
            return (self.folder / name).read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError):
            return ""


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
    """The flows of this process's callers. Its methods block on disks and databases, so call them in a worker thread.

    Attributes:
        project: The folder of the user's project; its flows are in `.outrider/flows`.
        data_dir: Contains the flows of callers who sign in, and the files of secrets.
        environ: The environment from the caller's host.
        database: Holds the flows as rows if several machines share it.
    """

    project: Path
    data_dir: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    database: Database | None = None

    @property
    def secrets(self) -> SecretStore:
        """The secrets that flows type."""
        return SecretStore(self.data_dir / "flow-secrets", self.environ)

    @property
    def _storage(self) -> FlowFiles | FlowRows:
        is_shared = self.database is not None and self.database.is_shared
        return FlowRows(self.database) if self.database and is_shared else FlowFiles(self.project, self.data_dir)

    def resolve_secrets(self, program: FlowProgram) -> dict[str, dict[str, str]]:
        """Return the values of the secrets of each flow, by its name. Raises NotConfigured, Refused."""
        return {name: self.secrets.resolve_secrets(flow) for name, flow in program.flows.items()}

    def load_flow(self, call: Call, name: str) -> Flow:
        """Load a flow. Raises NotFound, InvalidInput."""
        return parse_flow(self.read_text(call, name), name)

    def load_program(self, call: Call, name: str) -> FlowProgram:
        """Load a flow and the flows that it runs. Raises NotFound, InvalidInput, Refused."""
        return load_program(require_flow_name(name), lambda each: self.read_text(call, each))

    def read_text(self, call: Call, name: str) -> str:
        """Return a flow as YAML. Raises NotFound, InvalidInput, Refused, Unavailable."""
        try:
            return self._storage.read(call, require_flow_name(name))
        except NotFound:
            known = ", ".join(self.list_names(call)[:20])
            hint = f"choose one of {known}" if known else "save one with saveFlow first"
            raise NotFound(f"name: no flow {name!r}", hint=hint, code="unknown_flow") from None

    def save_flow(
        self, call: Call, flow: Flow, *, replace: bool = False, file: str = "", before: str | None = None
    ) -> SavedFlow:
        """Save a flow; if it replaces another, it gets the next version and the older one is kept.

        Args:
            call: Its caller.
            flow: The flow.
            replace: Whether it may replace a flow of the same name.
            file: Its YAML, saved unchanged. Without it, comments and description of the older version are kept.
            before: The YAML that it must replace; by default the current one.

        Raises InvalidInput if the name is taken and `replace` is False, Refused if another process has changed the flow
        meanwhile, Unavailable.
        """
        current = self._storage.read(call, flow.name) if flow.name in self.list_names(call) else ""
        if current and not replace:
            hint = "choose another name, or replace it (replace=true; in the terminal --replace)"
            raise InvalidInput(f"name: flow {flow.name} exists already", hint=hint, code="flow_exists")
        if current:
            flow = flow.model_copy(update={"version": self._storage.list_versions(call, flow.name)[0].version + 1})
        text = set_version(file, flow) if file else format_next_version(flow, current)
        return self._storage.write(call, flow, text, current if before is None else before)

    def delete_flow(self, call: Call, name: str) -> None:
        """Delete a flow with its older versions. Raises NotFound, InvalidInput."""
        with suppress(InvalidInput):  # a malformed flow can be deleted
            self.read_text(call, name)
        self._storage.remove(call, require_flow_name(name))

    def list_names(self, call: Call) -> list[str]:
        """List the names of a caller's flows."""
        return self._storage.list_names(call)

    def list_versions(self, call: Call, name: str) -> list[SavedFlow]:
        """List the versions of a flow, newest first. Raises NotFound, InvalidInput."""
        self.read_text(call, name)
        return self._storage.list_versions(call, require_flow_name(name))

    def list_flows(self, call: Call) -> list[FlowEntry]:
        """List a caller's flows by name."""
        return [self._describe(call, name) for name in self.list_names(call)]

    def _describe(self, call: Call, name: str) -> FlowEntry:
        try:
            flow = self.load_flow(call, name)
        except OutriderError as error:
            return FlowEntry(name, problem=error.message)
        return FlowEntry(name, flow.description, tuple(flow.parameters), len(flow.steps), flow.version)
