"""The other replicas: which browser session is where, and calls that are made there."""

import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import anyio
from starlette.routing import BaseRoute

from outrider.app.lazy_clients import LazyStateEncryption
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.registry import SessionRecord, SessionRegistry
from outrider.core import errors
from outrider.core.call_codec import parse_result, serialize_result
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.line_stream import UNREACHABLE_CODE, stream_lines
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.replicas import HEARTBEAT_INTERVAL_S, HEARTBEAT_TIMEOUT_S, ReplicaRegistry
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve.rpc import RPC_IDLE_TIMEOUT_S, RPC_PATH, RpcCipher, RpcEndpoint, build_rpc_request
from outrider.settings import LoadedSettings

log = logging.getLogger(__name__)


@dataclass
class Cluster:
    """This process and the others on the same database.

    Attributes:
        loaded: The settings.
        browsers: This process's sessions.
        replicas: Who is there.
    """

    loaded: LoadedSettings
    database: Database
    guard: EgressGuard
    browsers: Browsers
    replicas: ReplicaRegistry = field(init=False)

    def __post_init__(self) -> None:
        self.replicas = ReplicaRegistry(self.database)
        self.browsers.registry = self.registry

    @cached_property
    def registry(self) -> "SessionRegistry":
        """The browser sessions of all."""
        return SessionRegistry(self.database, self.replicas.id, LazyStateEncryption(self.loaded))

    def build_route(self, toolbox: Toolbox) -> "BaseRoute":
        """Where the others' calls come in; they may be about any tool of that toolbox."""

        async def call_locally(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
            return serialize_result(await toolbox.run_forwarded_call(tool, arguments, call))

        return RpcEndpoint(self._rpc_seal, self.replicas.id, self.database.now, call_locally).build_route()

    async def call_remotely(self, tool: Tool, arguments: Mapping[str, Any], call: Call) -> Result | None:
        """The result of a call about a browser session that lives elsewhere; None where it is for this process.

        Raises what the call raised there; Unavailable, code `replica`, where that process cannot be asked.
        """
        browser_toolset = "browser"
        session_argument = "sessionId"
        wanted = arguments.get(session_argument)
        if tool.toolset != browser_toolset or not isinstance(wanted, str) or self.browsers.has_session(wanted):
            return None
        known = await self.registry.find_session(call.session, wanted)
        if known is None or known.replica == self.replicas.id:
            return None
        address = await self.replicas.find_address(known.replica)
        if address is None:
            await self._adopted(known)
            return None
        if not address:
            raise Unavailable(
                f"session {known.id} is in the browser of a process that serves no others",
                code="replica",
                hint=f"createSession opens another; that one is at {known.url}",
            )
        return await self._call_replica(address, known, tool, arguments, call)

    async def run_forever(self) -> None:
        """Says that this process is there, and how its sessions are, until cancelled."""
        await self.database.opened_event.wait()
        unused = self.loaded.settings.browser.idle_seconds
        while True:
            try:
                await self.replicas.send_heartbeat()
                await self.registry.save_sessions(self.browsers.list_sessions())
                await self.registry.delete_stale(self.database.now() - 2 * unused)
            except OutriderError as error:
                log.warning("the other replicas do not hear of this one: %s", error)
            await anyio.sleep(HEARTBEAT_INTERVAL_S)

    async def leave(self) -> None:
        """What lives here may be opened elsewhere from now on."""
        if not self.database.opened_event.is_set():
            return
        with suppress(OutriderError):
            await self.registry.save_sessions(self.browsers.list_sessions())
            await self.replicas.unregister_self()

    async def _adopted(self, known: "SessionRecord") -> None:
        if await self.registry.claim_session(known):
            log.info("browser session %s of the dead process %s is taken over", known.id, known.replica)
            self.browsers.adopt_session(known, self.registry.decrypt_memory(known))

    async def _call_replica(
        self, address: str, known: "SessionRecord", tool: Tool, arguments: Mapping[str, Any], call: Call
    ) -> Result:
        body, number = build_rpc_request(
            self._rpc_seal, known.replica, self.database.now(), tool=tool.name, arguments=arguments, call=call
        )
        came = stream_lines(self.guard, f"{address.rstrip('/')}{RPC_PATH}", body.encode(), seconds=RPC_IDLE_TIMEOUT_S)
        try:
            async with aclosing(came):
                count = 0
                async for line in came:
                    told = self._rpc_seal.decrypt_payload(line)
                    if told is None or (told["number"], told["count"]) != (number, count):
                        break
                    count += 1
                    if "result" in told:
                        return parse_result(told["result"])
                    await _forward_message(told, call)
        except Unavailable as error:
            if error.code != UNREACHABLE_CODE:
                raise _build_lost_error(known, error.message) from None
            message = f"the replica that has session {known.id} does not answer; it was at {known.url}"
            hint = f"make the same call again in {HEARTBEAT_TIMEOUT_S:g} seconds: if it is dead, the session can be opened again"
            raise Unavailable(message, code="replica", hint=hint, retry_after=HEARTBEAT_TIMEOUT_S) from None
        raise _build_lost_error(known, "the other replica went away during the call")

    @cached_property
    def _rpc_seal(self) -> "RpcCipher":
        return RpcCipher(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


def _build_lost_error(known: "SessionRecord", why: str) -> Unavailable:
    message = f"{why}; it has session {known.id}, which was at {known.url}"
    hint = f"the call may have taken effect: look at the session in {HEARTBEAT_TIMEOUT_S:g} seconds"
    return Unavailable(message, code="replica", hint=hint, retry_after=HEARTBEAT_TIMEOUT_S)


async def _forward_message(message: Mapping[str, Any], call: Call) -> None:
    """Progress goes to the caller; an error is raised here as it was there."""
    if "progress" in message:
        await call.progress(*message["progress"])
    elif "alive" in message:
        await call.heartbeat(message["alive"])
    elif "error" in message:
        facts = message["error"]
        kind: type[OutriderError] = getattr(errors, facts["class"], Unavailable)
        raise kind(
            facts["message"],
            hint=facts.get("hint", ""),
            code=facts["code"],
            details=facts.get("details"),
            retry_after=facts.get("retry_after"),
        )
