"""A NUL character in any path that a tool takes is an input error that names the field."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from support.apps import loopback_app
from support.results import read_error, read_first_text
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
NUL = "a\0b.txt"
PAGE_URL = "https://a.example/"
# By tool: the field with the NUL, and the other arguments of a call.
CALLS_WITH_NUL: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("read_file", "path", NUL, {}),
    ("write_file", "path", NUL, {"content": "x"}),
    ("replace_lines_in_file", "path", NUL, {"replacements": [{"start_line": 1, "end_line": 1, "new_content": "x"}]}),
    ("replace_text_in_file", "path", NUL, {"old_text": "a", "new_text": "b"}),
    ("import_file", "src_abs_path", "/tmp/" + NUL, {"dest_rel_path": "x"}),
    ("import_file", "dest_rel_path", NUL, {"src_abs_path": "/etc/hostname"}),
    ("list_directory", "path", NUL, {}),
    ("list_directory", "pattern", "*\0", {}),
    ("search_files", "pattern", "*\0", {}),
    ("search_files", "path", NUL, {"pattern": "*"}),
    ("grep", "path", NUL, {"pattern": "x"}),
    ("grep", "glob", "*\0", {"pattern": "x"}),
    ("export_file", "path", NUL, {}),
    ("export_file", "display_name", NUL, {"path": "there.txt"}),
    ("export_zip", "files", [NUL], {}),
    ("export_zip", "package_name", NUL, {"files": ["there.txt"]}),
    ("execute_shell", "working_dir", NUL, {"command": "true"}),
    ("read_file", "file_path", NUL, {}),
    ("addContent", "file_url", "file:///tmp/" + NUL, {}),
    ("addContent", "file_url", NUL, {}),
    ("updateContent", "file_url", NUL, {"content_id": "c1"}),
    ("web_fetch", "output_dir", NUL, {"url": PAGE_URL}),
    ("web_fetch", "filename", NUL, {"url": PAGE_URL}),
    ("run_agent", "context_files", [NUL], {"agent": "researcher", "query": "x"}),
    ("run_researcher", "fileOrContentFragmentIds", [NUL], {"query": "x"}),
    ("createSession", "stateId", NUL, {"url": PAGE_URL}),
    ("manageStates", "stateId", NUL, {"action": "delete"}),
    ("setup_browser_state", "state_id", NUL, {}),
    ("web_eval_agent", "state_id", NUL, {"url": PAGE_URL, "task": "x"}),
    ("uploadFiles", "paths", [NUL], {"sessionId": "s", "selector": "e1"}),
]


async def test_a_nul_in_any_path_is_an_input_error_that_names_the_field(home: Path):
    more = {"assistant": "tester", "toolsets": ["all"]}
    missed = []
    async with (
        loopback_app.open_loopback_app(home, more=more) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        await client.call_tool("write_file", {"path": "there.txt", "content": "x"})
        for tool, field, value, others in CALLS_WITH_NUL:
            with anyio.fail_after(EVENT_TIMEOUT_S):
                result = await client.call_tool(tool, {field: value, **others})
            code = read_error(result)["code"] if result.is_error else "no error"
            text = read_first_text(result)
            if code != "invalid_input" or not text.replace(f"{tool}: ", "").startswith(field):
                missed.append((tool, field, code, text[:150]))
    assert missed == []
