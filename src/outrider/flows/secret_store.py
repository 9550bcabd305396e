"""The secrets that flows type: variables of the environment, or files of a folder."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from outrider.core.errors import NotConfigured, Refused
from outrider.flows.flow import Flow, Secret
from outrider.flows.origins import is_named_origin

PREFIX = "OUTRIDER_FLOW_"


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
