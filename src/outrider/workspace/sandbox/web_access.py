"""Connect sandboxed code to the web through the egress proxy.

The proxy is on a socket inside the sandbox.
"""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from outrider.core.egress import sandbox_forwarder
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.proxy import PROXY_USER, EgressProxy
from outrider.workspace.sandbox.bubblewrap import WEB_SOCKET
from outrider.workspace.sandbox.interpreters import Interpreter
from outrider.workspace.sandbox.job import Job, SandboxPaths


@dataclass(frozen=True)
class WebAccess:
    """One guarded proxy for all executions, on a socket in its own folder."""

    proxy: EgressProxy
    folder: Path

    @classmethod
    async def open(cls, guard: EgressGuard) -> "WebAccess":
        """Start the proxy."""
        web = cls(EgressProxy(guard), Path(tempfile.mkdtemp(prefix="outrider-web-")))
        await web.proxy.start(web.socket)
        web.socket.chmod(0o666)  # access is controlled by the folder and the token
        return web

    @property
    def socket(self) -> Path:
        return self.folder / "web.sock"

    async def close(self) -> None:
        """Close all connections."""
        await self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect_job(self, job: Job, python: Interpreter) -> Job:
        """Return the job with the proxy on its own loopback.

        The usual proxy variables are set.
        """
        script_name = "web.py"
        proxy_port = 8118  # of the sandbox's own loopback, where nothing else listens
        address = f"http://{PROXY_USER}:{self.proxy.token}@127.0.0.1:{proxy_port}"
        proxies = {
            name: address
            for variable in ("http_proxy", "https_proxy", "all_proxy")
            for name in (variable, variable.upper())
        }
        exceptions = {"no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}

        def build_command(paths: SandboxPaths) -> list[str]:
            script = f"{paths.support}/{script_name}"
            return [str(python.executable), "-I", "-S", script, str(proxy_port), WEB_SOCKET, *job.command(paths)]

        return replace(
            job,
            command=build_command,
            support_files={**job.support_files, script_name: Path(sandbox_forwarder.__file__).read_bytes()},
            readable_paths=tuple(dict.fromkeys((*job.readable_paths, *python.readable_paths))),
            environ={**job.environ, **proxies, **exceptions},
        )
