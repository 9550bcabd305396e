"""Locate browser sessions of other replicas, and forward calls to them."""

import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import anyio
from starlette.routing import BaseRoute

from outrider.browser.session.browsers import Browsers
from outrider.browser.session.registry import SessionRecord, SessionRegistry
from outrider.core import errors
from outrider.core.call_codec import parse_result, serialize_result
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.egress.client import UNREACHABLE_CODE, stream_lines
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.replicas import HEARTBEAT_INTERVAL_S, HEARTBEAT_TIMEOUT_S, ReplicaRegistry
from outrider.core.result import Result
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve.rpc import RPC_IDLE_TIMEOUT_S, RPC_PATH, RpcCipher, RpcEndpoint, build_rpc_request
from outrider.serve.state_codec import StateCodec
from outrider.settings import LoadedSettings

log = logging.getLogger(__name__)


@dataclass
class Cluster:
    """The replicas on one database.

    Attributes:
        loaded: The settings.
        database: The shared database.
        guard: Decides where requests may go.
        browsers: The browser sessions of this process.
        replicas: The registry of live replicas.
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
    def registry(self) -> SessionRegistry:
        """The browser sessions of all replicas."""
        settings = self.loaded.settings
        cipher = StateCodec(settings.serve.state_key, settings.data_dir)
        return SessionRegistry(self.database, self.replicas.id, cipher)

    def build_route(self, toolbox: Toolbox) -> BaseRoute:
        """Return the route for other replicas' calls of this toolbox's tools."""

        async def call_locally(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
            return serialize_result(await toolbox.run_forwarded_call(tool, arguments, call))

        return RpcEndpoint(self._rpc_cipher, self.replicas.id, self.database.now, call_locally).build_route()

    async def call_remotely(self, tool: Tool, arguments: Mapping[str, Any], call: Call) -> Result | None:
        """Call a tool in the replica that has the browser session; return None if the call is for this process.

        Raises the errors of the call there; Unavailable, code `replica`, if that replica cannot be reached.
        """
        session_id = arguments.get("sessionId")
        if tool.toolset != "browser" or not isinstance(session_id, str) or self.browsers.has_session(session_id):
            return None
        record = await self.registry.find_session(call.session, session_id)
        if record is None or record.replica == self.replicas.id:
            return None
        address = await self.replicas.find_address(record.replica)
        if address is None:  # that replica is dead
            if await self.registry.claim_session(record):
                log.info("browser session %s of the dead process %s is taken over", record.id, record.replica)
                self.browsers.adopt_session(record, self.registry.decrypt_memory(record))
            return None
        if not address:
            raise Unavailable(
                f"session {record.id} belongs to a process that takes no calls from other replicas",
                code="replica",
                hint=f"open another with createSession; its page is {record.url}",
            )
        return await self._call_replica(address, record, tool, arguments, call)

    async def run_forever(self) -> None:
        """Publish this process and its browser sessions regularly, until cancelled."""
        await self.database.opened_event.wait()
        idle_timeout_s = self.loaded.settings.browser.idle_s
        while True:
            try:
                await self.replicas.send_heartbeat()
                await self.registry.save_sessions(self.browsers.list_sessions())
                await self.registry.delete_stale(self.database.now() - 2 * idle_timeout_s)
            except OutriderError as error:
                log.warning("this process could not be published to other replicas: %s", error)
            await anyio.sleep(HEARTBEAT_INTERVAL_S)

    async def leave(self) -> None:
        """Unregister this process, so that other replicas may take over its sessions."""
        if not self.database.opened_event.is_set():
            return
        with suppress(OutriderError):
            await self.registry.save_sessions(self.browsers.list_sessions())
            await self.replicas.unregister_self()

    async def _call_replica(
        self, address: str, record: SessionRecord, tool: Tool, arguments: Mapping[str, Any], call: Call
    ) -> Result:
        body, number = build_rpc_request(
            self._rpc_cipher, record.replica, self.database.now(), tool=tool.name, arguments=arguments, call=call
        )
        lines = stream_lines(self.guard, f"{address.rstrip('/')}{RPC_PATH}", body.encode(), seconds=RPC_IDLE_TIMEOUT_S)
        try:
            async with aclosing(lines):
                count = 0
                async for line in lines:
                    message = self._rpc_cipher.decrypt_payload(line)
                    if message is None or (message["number"], message["count"]) != (number, count):
                        break
                    count += 1
                    if "result" in message:
                        return parse_result(message["result"])
                    await _forward_message(message, call)
        except Unavailable as error:
            if error.code != UNREACHABLE_CODE:
                raise _build_lost_error(record, error.message) from None
            raise Unavailable(
                f"the replica that has session {record.id} does not answer; the session was at {record.url}",
                code="replica",
                hint=f"repeat the call in {HEARTBEAT_TIMEOUT_S:g} seconds; if that replica is dead, another takes over",
                retry_after=HEARTBEAT_TIMEOUT_S,
            ) from None
        raise _build_lost_error(record, "the other replica disconnected during the call")

    @cached_property
    def _rpc_cipher(self) -> RpcCipher:
        return RpcCipher(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


def _build_lost_error(record: SessionRecord, reason: str) -> Unavailable:
    message = f"{reason}; it has session {record.id}, which was at {record.url}"
    hint = f"the call may have taken effect: look at the session in {HEARTBEAT_TIMEOUT_S:g} seconds"
    return Unavailable(message, code="replica", hint=hint, retry_after=HEARTBEAT_TIMEOUT_S)


async def _forward_message(message: Mapping[str, Any], call: Call) -> None:
    """Report progress to the caller, or raise the other replica's error."""
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
