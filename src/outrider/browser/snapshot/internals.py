"""Read roles and states that web components set through ElementInternals.

A role or state set by `attachInternals()` is not in an attribute, and scripts outside the component cannot read it.
The browser's accessibility tree has it; it is queried for one component of each tag, then for all components of tags
with a role there.
"""

import asyncio
from typing import Any
from weakref import WeakSet

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import Handle, ScriptError

ARIA_STATES = frozenset(
    {"busy", "checked", "expanded", "haspopup", "invalid", "level", "modal", "multiselectable", "orientation"}
    | {"pressed", "readonly", "required", "selected", "valuemax", "valuemin", "valuetext"}
)


class ComponentInternals:
    """Gives the scripts the roles and states of web components."""

    def __init__(self) -> None:
        self._frames: WeakSet[Frame] = WeakSet()
        self._reads = 0

    def is_known(self, frame: Frame) -> bool:
        """Return whether a frame had components with roles, which must be read again."""
        return frame in self._frames

    async def refresh(self, frame: Frame) -> bool:
        """Read all components of a frame; return whether any has a role."""
        try:
            has_roles = await self._adopt_roles(frame)
            if has_roles and frame not in self._frames:  # only one component per tag was queried
                self._frames.add(frame)
                await self._adopt_roles(frame)
        except ContextGone:
            raise
        except (ProtocolError, ScriptError):  # the document is being replaced
            return False
        return has_roles

    async def _adopt_roles(self, frame: Frame) -> bool:
        self._reads += 1
        group = f"components-{self._reads}"
        try:
            find = "() => outrider.findComponents()"
            components = await frame.evaluate_handle(ISOLATED_WORLD, find, group=group)
            params = {"objectId": components.object_id, "ownProperties": True}
            properties = (await frame.channel.send("Runtime.getProperties", params))["result"]
            elements = [each["value"]["objectId"] for each in properties if each["name"].isdigit() and "value" in each]
            if not elements:
                return False
            described = await asyncio.gather(*(_describe_component(frame, element) for element in elements))
            handles = [Handle(element, "node") for element in elements]
            script = "(attributes, ...components) => outrider.adoptInternals(attributes, components)"
            return await frame.evaluate(ISOLATED_WORLD, script, described, *handles)
        finally:  # otherwise the page would keep removed elements
            frame.channel.send_and_forget("Runtime.releaseObjectGroup", {"objectGroup": group})


async def _describe_component(frame: Frame, element: str) -> dict[str, str]:
    """Return a component's role, name and states as equivalent attributes; empty without a role."""
    params = {"objectId": element, "fetchRelatives": False}
    try:
        nodes = (await frame.channel.send("Accessibility.getPartialAXTree", params))["nodes"]
    except ContextGone:
        raise
    except ProtocolError:  # it has left the page
        return {}
    node: dict[str, Any] = nodes[0] if nodes else {}
    role = str(node.get("role", {}).get("value", "")).lower()
    if node.get("ignored") or role in ("", "generic", "none"):
        return {}
    states = {each["name"].lower(): each["value"].get("value") for each in node.get("properties", ())}
    attributes = {f"aria-{name}": value for name, value in states.items() if name in ARIA_STATES}
    attributes |= {"aria-label": node.get("name", {}).get("value"), "aria-valuenow": node.get("value", {}).get("value")}
    set_attributes = {name: value for name, value in attributes.items() if value not in (None, "")}
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in set_attributes.items()
    }
    return {"role": role} | texts
