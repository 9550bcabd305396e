"""Tools that show playbooks as an HTML page with buttons."""

import json
import time
from html import escape
from typing import Annotated, Any

from pydantic import Field

from outrider.core.context import Call
from outrider.core.result import ResourceBlock, Result, TextBlock
from outrider.playbooks import PlaybookStore
from outrider.toolsets.playbook.tools import PageNumber, build_page, playbook

CardPageSize = Annotated[int, Field(ge=1, le=100)]
# Buttons send messages to the embedding host only: a page that does not know its host's origin sends nothing.
BUTTON_SCRIPT = """document.addEventListener("click",function(e){var b=e.target.closest("button");if(!b)return;
var o=location.ancestorOrigins&&location.ancestorOrigins[0]||document.referrer&&new URL(document.referrer).origin;
if(o&&o!=="null")parent.postMessage({type:"tool",payload:JSON.parse(b.value)},o)})"""


@playbook.tool(title="Show playbooks")
async def show_playbooks(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber = 1, pageSize: CardPageSize = 10
) -> Result:
    """Show the user this assistant's playbooks to choose from. Then wait for the user's choice."""
    return await _build_card_result(playbooks, call, page, pageSize, "show_playbooks")


@playbook.tool(title="Another page of playbooks")
async def get_playbook_page(
    playbooks: PlaybookStore, call: Call, /, page: PageNumber, pageSize: CardPageSize = 10
) -> Result:
    """Show another page of playbooks; the buttons of show_playbooks call this."""
    return await _build_card_result(playbooks, call, page, pageSize, "get_playbook_page")


async def _build_card_result(playbooks: PlaybookStore, call: Call, page: int, size: int, tool: str) -> Result:
    answer = await build_page(playbooks, call, page, size)
    rows = "".join(
        f"<li><b>{escape(entry['goal'])}</b> {escape(entry.get('initialCommand', ''))} "
        + _render_button("Select", "select_playbook", id=entry["id"])
        + _render_button("Delete", "delete_playbook", id=entry["id"])
        + "</li>"
        for entry in answer.page["items"]
    )
    paging = _render_button("Previous", "get_playbook_page", page=page - 1, pageSize=size) if page > 1 else ""
    if page < answer.page["totalPages"]:
        paging += _render_button("Next", "get_playbook_page", page=page + 1, pageSize=size)
    html = f"<ul>{rows or '<li>No playbooks yet</li>'}</ul>{paging}<script>{BUTTON_SCRIPT}</script>"
    card = ResourceBlock(
        f"ui://playbooks/list/{time.time_ns() // 1_000_000}", "text/html", html,
        fields={"serviceInfo": {"serverName": playbook.name, "toolName": tool, "backendType": "BuiltInWeb"}},
    )  # fmt: skip
    return Result((TextBlock(str(answer)), card), data=answer.model_dump(mode="json", exclude_unset=True))


def _render_button(label: str, tool: str, **params: Any) -> str:
    value = escape(json.dumps({"toolName": tool, "params": params}), quote=True)
    return f'<button value="{value}">{label}</button>'
