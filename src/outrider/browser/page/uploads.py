"""Resolve workspace files for a page's file inputs."""

from pathlib import Path

from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.values import Handle
from outrider.core.errors import InvalidInput, NotFound, Refused


def resolve_uploads(paths: list[str], workspace: Path) -> list[Path]:
    """Resolve names to files of the workspace, links included.

    Raises:
        Refused: A file is outside the workspace.
        NotFound: A file does not exist.
        InvalidInput: A path is not a file, or the file is too large.
    """
    max_bytes = 200_000_000
    root = workspace.resolve()
    files = []
    for name in paths:
        if "\0" in name:
            raise InvalidInput("paths: a path contains a zero byte", hint="name files of the workspace")
        path = (root / name).resolve()
        if not path.is_relative_to(root):
            hint = f"copy it to {root}"
            raise Refused(f"paths: {name} is outside the workspace", code="outside_workspace", hint=hint)
        if not path.exists():
            raise NotFound(f"paths: there is no {name}", hint="name a file relative to the workspace")
        if not path.is_file() or path.stat().st_size > max_bytes:
            raise InvalidInput(f"paths: {name} is not a file, or larger than {max_bytes:,} bytes")
        files.append(path)
    return files


async def set_input_files(frame: Frame, element: Handle, paths: list[str], workspace: Path) -> list[Path]:
    """Put files into a file input, as if a person had chosen them.

    Args:
        frame: The frame of the element.
        element: The `<input type=file>`.
        paths: Paths relative to the workspace, or absolute ones inside it; an empty list clears the input.
        workspace: The only folder whose files may be uploaded.
    """
    files = resolve_uploads(paths, workspace)
    params = {"files": [str(path) for path in files], "objectId": element.object_id}
    await frame.channel.send("DOM.setFileInputFiles", params)
    return files
