"""Playbooks shown to the user, who picks or deletes one with a button where the host shows such pages."""

import json
import time
from html import escape
from typing import Annotated, Any

from pydantic import Field

from outrider.core.context import Call
from outrider.core.result import ResourceBlock, Result, TextBlock
from outrider.playbooks import PlaybookStore
from outrider.toolsets.playbook.tools import PageNumber, PlaybookAnswer, build_page, playbook

CardPageSize = Annotated[int, Field(ge=1, le=100)]
# Buttons tell the host, and nobody else: a page that does not know who holds it stays silent.
BUTTON_SCRIPT = """document.addEventListener("click",function(e){var b=e.target.closest("button");if(!b)return;
var o=location.ancestorOrigins&&location.ancestorOrigins[0]||document.referrer&&new URL(document.referrer).origin;
if(o&&o!=="null")parent.postMessage({type:"tool",payload:JSON.parse(b.value)},o)})"""


@playbook.tool(title="Show playbooks")
async def show_playbooks(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber = 1, pageSize: CardPageSize = 10
) -> Result:
    """Show the user this assistant's playbooks to pick from. Then wait for the user's choice."""
    return await _build_card_result(playbooks, call, page, pageSize, "show_playbooks")


@playbook.tool(title="Another page of playbooks")
async def get_playbook_page(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber, pageSize: CardPageSize = 10
) -> Result:
    """The same for another page; its buttons call it."""
    return await _build_card_result(playbooks, call, page, pageSize, "get_playbook_page")


async def _build_card_result(playbooks: PlaybookStore, call: Call, page: int, size: int, tool: str) -> Result:
    found = await build_page(playbooks, call, page, size)
    card = ResourceBlock(
        f"ui://playbooks/list/{time.time_ns() // 1_000_000}", "text/html", _render_html(found, page, size),
        fields={"serviceInfo": {"serverName": playbook.name, "toolName": tool, "backendType": "BuiltInWeb"}},
    )  # fmt: skip
    return Result((TextBlock(str(found)), card), data=found.model_dump(mode="json", exclude_unset=True))


def _render_html(found: PlaybookAnswer, page: int, size: int) -> str:
    """The page: a row with two buttons for each playbook, and two to leaf through."""
    rows = "".join(
        f"<li><b>{escape(each['goal'])}</b> {escape(each.get('initialCommand', ''))} "
        + _render_button("Select", "select_playbook", id=each["id"])
        + _render_button("Delete", "delete_playbook", id=each["id"])
        + "</li>"
        for each in found.page["items"]
    )
    before = _render_button("Previous", "get_playbook_page", page=page - 1, pageSize=size) if page > 1 else ""
    after = _render_button("Next", "get_playbook_page", page=page + 1, pageSize=size)
    after = after if page < found.page["totalPages"] else ""
    return f"<ul>{rows or '<li>No playbooks yet</li>'}</ul>{before}{after}<script>{BUTTON_SCRIPT}</script>"


def _render_button(words: str, tool: str, **params: Any) -> str:
    value = escape(json.dumps({"toolName": tool, "params": params}), quote=True)
    return f'<button value="{value}">{words}</button>'
