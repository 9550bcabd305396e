"""Save files that results link to, and pass files to tools."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from outrider.client import ToolClient, UnknownTool

OUTPUT_FOLDER = Path(".outrider", "output")  # of files that the caller has not named, in the working directory


def save_linked_files(client: ToolClient, result: Mapping[str, Any], file: str) -> list[Path]:
    """Save the artifacts that a result links to and return their paths; none if it shows them as pictures.

    Args:
        client: The connection that returned the result.
        result: The result of `tools/call`.
        file: Where to save them, from the second on with their number; empty takes their own names.
    """
    max_bytes = 100_000_000  # they pass through memory; `outrider artifacts` saves larger ones
    content = result.get("content", [])
    if result.get("isError") or any(item["type"] == "image" for item in content):
        return []
    links = [item for item in content if item["type"] == "resource_link" and item["uri"].startswith("outrider:")]
    paths = []
    for number, link in enumerate(links, 1):
        if link.get("size", 0) > max_bytes:
            continue
        try:
            (answer,) = client.request("resources/read", {"uri": link["uri"]})["contents"]
        except UnknownTool:  # it is gone, or another person's, so show the link
            continue
        paths.append(_write_file(base64.b64decode(answer.get("blob", "")), link["name"], file, number))
    return paths


def _write_file(data: bytes, name: str, file: str, number: int) -> Path:
    """Write a file to the caller's path, or under its own name, perhaps numbered."""
    if file:
        path = Path(file)
        path = path.with_stem(f"{path.stem}-{number}") if number > 1 else path
        path.write_bytes(data)
        return path
    # A page can choose the name, for instance by its title.
    safe_name = re.sub(r"[^\w .()+,=@-]", "_", name).strip(". ")[:100] or "file"
    OUTPUT_FOLDER.mkdir(parents=True, exist_ok=True)
    path, copies = OUTPUT_FOLDER / safe_name, 1
    while True:
        try:
            with path.open("xb") as target:
                target.write(data)
        except FileExistsError:
            copies += 1
            path = OUTPUT_FOLDER / f"{Path(safe_name).stem}-{copies}{Path(safe_name).suffix}"
        else:
            return path


def import_file(client: ToolClient, path: Path) -> str:
    """Copy a caller's file into the session's workspace.

    The connection may read the file's folder.

    Returns its path there. Raises click.UsageError with the reason why it cannot be read.
    """
    name = f"uploads/{path.name}"
    arguments = {"src_abs_path": str(path.resolve()), "dest_rel_path": name}
    result = client.call_tool("import_file", arguments)
    if result.get("isError"):
        raise click.UsageError("\n".join(item.get("text", "") for item in result["content"]))
    return name
