"""Settings of workspaces, for the operator alone: a workspace's own settings file can set none of them."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from outrider.core.jail import PROTECTED_PATHS

HOST_ROOTS = "roots"  # as `directory`: the folder that the host offers


def resolve_folder(value: Any) -> Any:
    """Resolve links once, when the server starts: no one can redirect an allowed folder later."""
    try:
        return Path(value).expanduser().resolve() if isinstance(value, str | Path) and str(value) else value
    except (OSError, RuntimeError) as error:  # a loop of links, or an unknown user
        raise ValueError(str(error)) from None


class WorkspaceSettings(BaseModel, extra="forbid", defer_build=True):
    """Settings of the workspace domain."""

    directory: str = Field(
        default="",
        description="Folder in which all tools keep their files: `.` is the host's own, `roots` the first one "
        "that the host offers over MCP (a folder of that name is `./roots`); empty means a folder in data_dir per "
        "session",
    )
    import_roots: list[Annotated[Path, BeforeValidator(resolve_folder)]] = Field(
        default=[],
        description="Folders of this machine from which import_file may copy, and from which a content store may add "
        "files; none by default",
    )
    protected: list[str] = Field(
        default=list(PROTECTED_PATHS),
        description="Names and paths that tools neither write nor delete at any depth of a folder chosen with "
        "`directory`, because your own programs run or obey them; this does not bind code in the sandbox",
    )
    max_bytes: int = Field(
        default=2_000_000_000,
        gt=0,
        description="Maximum bytes of one session's files; a folder chosen with `directory` has no limit",
    )
