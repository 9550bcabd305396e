"""Browser steps that move files to or from the working directory."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from outrider.cli.linked_files import import_file
from outrider.cli.shared_process import open_client, print_call
from outrider.cli.tool_results import CallOptions
from outrider.client import ToolClient

DOWNLOAD = "download"  # marks a step of several calls, which has no separate tool
FILES_META_KEY = "outrider/files"


def run_step(client: ToolClient, tool: str, arguments: dict[str, Any], options: CallOptions) -> int:
    """Run a step, print its result and return the exit code."""

    def call() -> dict[str, Any]:
        if tool == DOWNLOAD:
            return _download(client, arguments)
        if tool == "uploadFiles":
            return _upload(client, arguments, options)
        return client.call_tool(tool, arguments)

    return print_call(client, tool, call, replace(options, names_commands=True))


def _upload(client: ToolClient, arguments: dict[str, Any], options: CallOptions) -> dict[str, Any]:
    """Upload files of the workspace; those that it does not have are copied from the working directory.

    Files elsewhere stay out of reach: an agent may be permanently allowed this command.
    """
    result = client.call_tool("uploadFiles", arguments)
    folder, paths = Path.cwd(), [Path(path) for path in arguments["paths"]]
    is_here = all(path.is_file() and path.resolve().is_relative_to(folder) for path in paths)
    if not result.get("isError") or not is_here or "paths:" not in str(result["content"]):
        return result
    roots = json.dumps([str(folder)])
    with open_client(replace(options, sets=(*options.sets, f"workspace.import_roots={roots}"))) as lender:
        copies = [import_file(lender, path) for path in paths]
    return client.call_tool("uploadFiles", arguments | {"paths": copies})


def _download(client: ToolClient, arguments: dict[str, Any]) -> dict[str, Any]:
    """Click an element and export the file whose download this begins."""
    timeout_s, begin_timeout_s, interval_s = 60.0, 5.0, 0.1  # a busy browser may report a download after the click
    earlier = _list_downloads(client)
    clicked = client.call_tool("clickElement", arguments)
    if clicked.get("isError"):
        return clicked
    has_begun = "download: " in str(clicked["content"])
    deadline = time.monotonic() + (timeout_s if has_begun else begin_timeout_s)
    while not (new := [path for path in _list_downloads(client) if path not in earlier]):
        if time.monotonic() > deadline:
            raise click.ClickException("no download has ended after the click; `outrider browser downloads` lists them")
        time.sleep(interval_s)
    exported = client.call_tool("export_file", {"path": new[-1]})
    links = [item for item in exported["content"] if item["type"] == "resource_link"]
    return {"content": [{"type": "text", "text": f"downloaded {new[-1]}"}, *links]} if links else exported


def _list_downloads(client: ToolClient) -> list[str]:
    """Return the paths of the files that were downloaded."""
    result = client.call_tool("readLogs", {"kind": "downloads"})
    return [each["path"] for each in result.get("_meta", {}).get(FILES_META_KEY, [])]
