"""Copy workspace files for a page's file inputs.

The copies cannot be replaced before the browser reads them.
"""

import os
import shutil
import uuid
from pathlib import Path

from outrider.core.errors import InvalidInput
from outrider.core.jail import Jail, make_relative, rename_error_field


def stage_uploads(paths: list[str], workspace: Path, staging: Path) -> list[Path]:
    """Copy files of the workspace to our folder, under their own names. Blocking.

    Args:
        paths: Paths relative to the workspace, or absolute ones inside it.
        workspace: The only folder whose files may be uploaded.
        staging: The folder for the copies, which the browser reads when the page does.

    Raises:
        Refused: A file is outside the workspace.
        NotFound: A file does not exist.
        InvalidInput: A path is not a file, or the file is too large.
    """
    max_bytes = 200_000_000
    jail, copies = Jail(workspace), []
    for path in paths:
        inner = make_relative(Path(path), workspace) if Path(path).is_absolute() else path
        with rename_error_field("paths"), jail.open_file(inner or path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                raise InvalidInput(
                    f"paths: {path!r} has {size:,} bytes; the limit is {max_bytes:,}",
                    hint="upload a smaller file",
                    code="too_large",
                )
            folder = staging / "uploads" / uuid.uuid4().hex  # two files may have the same name
            folder.mkdir(parents=True)
            copy = folder / Path(path).name
            with copy.open("xb") as target:
                shutil.copyfileobj(file, target, 1 << 20)
            copies.append(copy)
    return copies
