"""The way of sandboxed code to the web: the egress proxy, on a socket that is shown inside."""

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from outrider.core.egress import inside as relay
from outrider.core.egress.guard import Guard
from outrider.core.egress.proxy import USER, EgressProxy
from outrider.workspace.sandbox.bubblewrap import SOCKET
from outrider.workspace.sandbox.interpreters import Program
from outrider.workspace.sandbox.job import Inside, Job

PORT = 8118
SCRIPT = "web.py"


@dataclass(frozen=True)
class Web:
    """An open way: one guarded proxy for all executions, on a socket in a folder of its own."""

    proxy: EgressProxy
    folder: Path

    @classmethod
    async def open(cls, guard: Guard) -> "Web":
        """Begins to listen."""
        web = cls(EgressProxy(guard), Path(tempfile.mkdtemp(prefix="outrider-web-")))
        await web.proxy.start(web.socket)
        web.socket.chmod(0o666)  # who may get at it, the folder decides, and the token
        return web

    @property
    def socket(self) -> Path:
        return self.folder / "web.sock"

    async def close(self) -> None:
        """Ends all connections."""
        await self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connected(self, job: Job, python: Program) -> Job:
        """The job with the proxy at a port of its own loopback, and with the variables that programs look at."""
        address = f"http://{USER}:{self.proxy.token}@127.0.0.1:{PORT}"
        proxies = {
            name: address for each in ("http_proxy", "https_proxy", "all_proxy") for name in (each, each.upper())
        }
        local = {"no_proxy": "localhost,127.0.0.1", "NO_PROXY": "localhost,127.0.0.1"}

        def command(inside: Inside) -> list[str]:
            script = f"{inside.beside}/{SCRIPT}"
            return [str(python.executable), "-I", "-S", script, str(PORT), SOCKET, *job.command(inside)]

        return replace(
            job,
            command=command,
            beside={**job.beside, SCRIPT: Path(relay.__file__).read_bytes()},
            reads=tuple(dict.fromkeys((*job.reads, *python.reads))),
            environ={**job.environ, **proxies, **local},
        )
