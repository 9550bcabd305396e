"""The other replicas: which browser session is where, and calls that are made there."""

import logging
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import anyio
from starlette.routing import BaseRoute

from outrider.app.edge import Sealing
from outrider.browser import Browsers
from outrider.browser.registry import Known, Registry
from outrider.core import errors
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.egress.guard import Guard
from outrider.core.egress.lines import REACHED, lines
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.replicas import BEAT, SILENT, Replicas
from outrider.core.result import Result
from outrider.core.result_facts import carried_result, result_facts
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox
from outrider.serve.hop import PATH, SILENCE, Door, Seal, asked
from outrider.settings import Loaded

log = logging.getLogger(__name__)
ABOUT = "sessionId"
TOOLSET = "browser"


@dataclass
class Neighbours:
    """This process and the others on the same database.

    Attributes:
        loaded: The settings.
        browsers: This process's sessions.
        replicas: Who is there.
    """

    loaded: Loaded
    database: Database
    guard: Guard
    browsers: Browsers
    replicas: Replicas = field(init=False)

    def __post_init__(self) -> None:
        self.replicas = Replicas(self.database)
        self.browsers.registry = self.registry

    @cached_property
    def registry(self) -> "Registry":
        """The browser sessions of all."""
        return Registry(self.database, self.replicas.id, Sealing(self.loaded))

    def route(self, toolbox: Toolbox) -> "BaseRoute":
        """Where the others' calls come in; they may be about any tool of that toolbox."""

        async def here(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
            return result_facts(await toolbox.at_home(tool, arguments, call))

        return Door(self._seal, self.replicas.id, self.database.now, here).route()

    async def elsewhere(self, tool: Tool, arguments: Mapping[str, Any], call: Call) -> Result | None:
        """The result of a call about a browser session that lives elsewhere; None where it is for this process.

        Raises what the call raised there; Unavailable, code `replica`, where that process cannot be asked.
        """
        wanted = arguments.get(ABOUT)
        if tool.toolset != TOOLSET or not isinstance(wanted, str) or self.browsers.has(wanted):
            return None
        known = await self.registry.find(call.session, wanted)
        if known is None or known.replica == self.replicas.id:
            return None
        address = await self.replicas.find(known.replica)
        if address is None:
            await self._adopted(known)
            return None
        if not address:
            raise Unavailable(
                f"session {known.id} is in the browser of a process that serves no others",
                code="replica",
                hint=f"createSession opens another; that one is at {known.url}",
            )
        return await self._asked(address, known, tool, arguments, call)

    async def mind(self) -> None:
        """Says that this process is there, and how its sessions are, until cancelled."""
        await self.database.used.wait()
        unused = self.loaded.settings.browser.idle_seconds
        while True:
            try:
                await self.replicas.beat()
                await self.registry.note_all(self.browsers.list())
                await self.registry.sweep(self.database.now() - 2 * unused)
            except OutriderError as error:
                log.warning("the other replicas do not hear of this one: %s", error)
            await anyio.sleep(BEAT)

    async def leave(self) -> None:
        """What lives here may be opened elsewhere from now on."""
        if not self.database.used.is_set():
            return
        with suppress(OutriderError):
            await self.registry.note_all(self.browsers.list())
            await self.replicas.leave()

    async def _adopted(self, known: "Known") -> None:
        if await self.registry.take(known):
            log.info("browser session %s of the dead process %s is taken over", known.id, known.replica)
            self.browsers.adopt(known, self.registry.memory_of(known))

    async def _asked(
        self, address: str, known: "Known", tool: Tool, arguments: Mapping[str, Any], call: Call
    ) -> Result:
        body, number = asked(
            self._seal, known.replica, self.database.now(), tool=tool.name, arguments=arguments, call=call
        )
        came = lines(self.guard, f"{address.rstrip('/')}{PATH}", body.encode(), seconds=SILENCE)
        try:
            async with aclosing(came):
                count = 0
                async for line in came:
                    told = self._seal.opened(line)
                    if told is None or (told["number"], told["count"]) != (number, count):
                        break
                    count += 1
                    if "result" in told:
                        return carried_result(told["result"])
                    await _passed_on(told, call)
        except Unavailable as error:
            if error.code != REACHED:
                raise _left(known, error.message) from None
            message = f"the replica that has session {known.id} does not answer; it was at {known.url}"
            hint = f"make the same call again in {SILENT:g} seconds: if it is dead, the session can be opened again"
            raise Unavailable(message, code="replica", hint=hint, retry_after=SILENT) from None
        raise _left(known, "the other replica went away during the call")

    @cached_property
    def _seal(self) -> "Seal":
        return Seal(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


def _left(known: "Known", why: str) -> Unavailable:
    message = f"{why}; it has session {known.id}, which was at {known.url}"
    hint = f"the call may have taken effect: look at the session in {SILENT:g} seconds"
    return Unavailable(message, code="replica", hint=hint, retry_after=SILENT)


async def _passed_on(told: Mapping[str, Any], call: Call) -> None:
    """Progress goes to the caller; an error is raised here as it was there."""
    if "progress" in told:
        await call.progress(*told["progress"])
    elif "alive" in told:
        await call.alive(told["alive"])
    elif "error" in told:
        facts = told["error"]
        kind: type[OutriderError] = getattr(errors, facts["class"], Unavailable)
        raise kind(
            facts["message"],
            hint=facts.get("hint", ""),
            code=facts["code"],
            details=facts.get("details"),
            retry_after=facts.get("retry_after"),
        )
