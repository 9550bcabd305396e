"""Flows as files of a project, or of a person where callers sign in."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused
from outrider.core.jail import Jail, rename_error_field
from outrider.flows.flow import NAME_PATTERN, Flow, Secret, require_flow_name
from outrider.flows.flow_file import format_flow, parse_flow
from outrider.flows.origins import is_named_origin
from outrider.flows.program import FlowProgram, load_program

PREFIX = "OUTRIDER_FLOW_"
MAX_FILE_BYTES = 1_000_000


@dataclass(frozen=True)
class SecretStore:
    """Reads secrets.

    Attributes:
        folder: Has a file for each secret. A process that runs already gets no new variables, but sees new files.
        environ: The environment that the caller's host has given; that of the process is read as well.
    """

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict)

    def resolve_secrets(self, flow: Flow) -> dict[str, str]:
        """Return the value of each secret of a flow. Raises NotConfigured, Refused."""
        return {name: self._resolve_secret(flow, name, secret) for name, secret in flow.secrets.items()}

    def read_all(self) -> dict[str, str]:
        """Return the values of all secrets by name, also of those that no flow uses."""
        variables = {**os.environ, **self.environ}
        values = {name: value for name, value in variables.items() if name.startswith(PREFIX) and value}
        files = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        for file in files:
            if file.suffix != ".sites" and (value := self._read_file(file.name)):
                values.setdefault(file.name, value)
        return {name: value for name, value in values.items() if not name.endswith("_SITES")}

    def require_site(self, entry: str, origins: list[str]) -> None:
        """Refuse a secret on sites for which the operator has not given it. Raises Refused."""
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
    def secrets(self) -> SecretStore:
        """The secrets that flows type."""
        return SecretStore(self.data_dir / "flow-secrets", self.environ)

    def resolve_secrets(self, program: FlowProgram) -> dict[str, dict[str, str]]:
        """Return the values of the secrets of each flow, by its name. Raises NotConfigured, Refused."""
        return {name: self.secrets.resolve_secrets(flow) for name, flow in program.flows.items()}

    def _find_folder(self, call: Call) -> tuple[Jail, str]:
        """Return the jail of a caller's flows, and their folder in it; it may be a stranger's project."""
        owner = call.owner_folder
        return (Jail(self.data_dir / "flows" / owner), ".") if owner else (Jail(self.project), ".outrider/flows")

    def load_flow(self, call: Call, name: str) -> Flow:
        """Load a flow. Raises NotFound, InvalidInput."""
        return parse_flow(self.read_text(call, name), name)

    def load_program(self, call: Call, name: str) -> FlowProgram:
        """Load a flow with those that it runs. Raises NotFound, InvalidInput, Refused."""
        return load_program(require_flow_name(name), lambda each: self.read_text(call, each))

    def read_text(self, call: Call, name: str) -> str:
        """Return a flow's file. Raises NotFound, InvalidInput, Refused, Unavailable."""
        jail, path = self._locate_file(call, name)
        try:
            with rename_error_field("name"), jail.open_file(path) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except NotFound:
            known = ", ".join(self.list_names(call)[:20])
            hint = f"choose one of {known}" if known else "save one with saveFlow first"
            raise NotFound(f"name: no flow {name!r}", hint=hint, code="unknown_flow") from None
        if len(data) > MAX_FILE_BYTES:
            message = f"flow {name} is larger than {MAX_FILE_BYTES:,} bytes"
            raise InvalidInput(message, hint="divide it into several flows")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise InvalidInput(f"flow {name} is not UTF-8 text", hint="correct the file") from None

    def save_flow(self, call: Call, flow: Flow, *, replace: bool = False, keeps_old: bool = False) -> Path:
        """Save a flow; it gets the comments and the next version of an older one of its name.

        With `keeps_old` the older one stays beside it, as `NAME.v3.yaml`, which no flow's name fits.

        Raises InvalidInput if there is one of its name and `replace` is False, Unavailable.
        """
        jail, path = self._locate_file(call, flow.name)
        before = self.read_text(call, flow.name) if flow.name in self.list_names(call) else ""
        if before and not replace:
            hint = "choose another name, or replace it (replace=true; in the terminal --replace)"
            raise InvalidInput(f"name: flow {flow.name} exists already", hint=hint, code="flow_exists")
        if before:
            try:
                version = parse_flow(before, flow.name).version
                flow = flow.model_copy(update={"version": version + 1})
                if keeps_old:
                    jail.write(f"{path.removesuffix('.yaml')}.v{version}.yaml", before.encode())
            except InvalidInput:
                before = ""
        with rename_error_field("name"):
            jail.write(path, format_flow(flow, before).encode())
        return jail.root / path

    def delete_flow(self, call: Call, name: str) -> None:
        """Delete a flow. Raises NotFound, InvalidInput."""
        with suppress(InvalidInput):  # what cannot be read can be deleted
            self.read_text(call, name)
        jail, path = self._locate_file(call, name)
        jail.remove(path)

    def list_names(self, call: Call) -> list[str]:
        """List the names of a caller's flows."""
        jail, folder = self._find_folder(call)
        try:
            paths = [PurePosixPath(entry.name) for entry in jail.list(folder)]
        except NotFound:
            return []
        return sorted(path.stem for path in paths if path.suffix == ".yaml" and NAME_PATTERN.fullmatch(path.stem))

    def list_flows(self, call: Call) -> list[FlowEntry]:
        """List a caller's flows by name."""
        return [self._describe(call, name) for name in self.list_names(call)]

    def _describe(self, call: Call, name: str) -> FlowEntry:
        try:
            flow = self.load_flow(call, name)
        except OutriderError as error:
            return FlowEntry(name, problem=error.message)
        return FlowEntry(name, flow.description, tuple(flow.parameters), len(flow.steps), flow.version)

    def _locate_file(self, call: Call, name: str) -> tuple[Jail, str]:
        jail, folder = self._find_folder(call)
        return jail, str(PurePosixPath(folder, f"{require_flow_name(name)}.yaml"))
