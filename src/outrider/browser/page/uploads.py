"""Files for a page's file inputs: only what lies in the workspace."""

from pathlib import Path

from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.values import Handle
from outrider.core.errors import InvalidInput, NotFound, Refused


def resolve_uploads(paths: list[str], workspace: Path) -> list[Path]:
    """The files behind those names, links followed.

    Raises:
        Refused: One lies outside the workspace.
        NotFound: One does not exist.
        InvalidInput: One is no file, or too large.
    """
    return [_resolve_upload(path, workspace.resolve()) for path in paths]


def _resolve_upload(name: str, root: Path) -> Path:
    max_bytes = 200_000_000
    if "\0" in name:
        raise InvalidInput("paths: a path with a zero byte", hint="name files of the workspace")
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise Refused(f"paths: {name} lies outside the workspace", code="outside_workspace", hint=f"copy it to {root}")
    if not path.exists():
        raise NotFound(f"paths: there is no {name}", hint="name a file relative to the workspace")
    if not path.is_file() or path.stat().st_size > max_bytes:
        raise InvalidInput(f"paths: {name} is no file, or larger than {max_bytes:,} bytes")
    return path


async def set_input_files(frame: Frame, element: Handle, paths: list[str], workspace: Path) -> list[Path]:
    """Puts files into a file input, as if a person had chosen them.

    Args:
        frame: Where the element is.
        element: The `<input type=file>`.
        paths: Names relative to the workspace, or absolute ones inside it; none empties the input.
        workspace: The only folder from which files go out.
    """
    files = resolve_uploads(paths, workspace)
    params = {"files": [str(path) for path in files], "objectId": element.object_id}
    await frame.channel.send("DOM.setFileInputFiles", params)
    return files
