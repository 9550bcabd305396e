"""Find the user's folder that serves as workspace, if settings choose one."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.settings import LoadedSettings
from outrider.workspace import SessionWorkspaces
from outrider.workspace.kernels.pool import KernelPool
from outrider.workspace.settings import HOST_ROOTS

log = logging.getLogger(__name__)


def resolve_project_folder(loaded: LoadedSettings) -> Path | None:
    """Return the folder of `workspace.directory`, relative to the host's own; None if each session has one.

    Raises:
        NotConfigured: It is not a folder, holds our own data, or people sign in, who would share it.
    """
    settings = loaded.settings
    if not settings.workspace.directory:
        return None
    origin = loaded.describe_origin(("workspace", "directory"))
    if settings.identity.is_enabled:
        raise NotConfigured(
            f"workspace.directory: {settings.workspace.directory} cannot be the workspace: people sign in here, and "
            f"would share their files{origin}",
            hint="leave it empty, or turn off sign-in",
        )
    if settings.workspace.directory == HOST_ROOTS:
        return None
    folder = Path(settings.workspace.directory)
    try:
        folder = (loaded.workspace / folder.expanduser()).resolve()
        problem = explain_unusable_folder(folder, loaded)
    except (OSError, ValueError, RuntimeError) as error:  # a loop of links, or an unknown user
        problem = (error.strerror if isinstance(error, OSError) else "") or str(error)
    if problem:
        raise NotConfigured(
            f"workspace.directory: {str(folder)[:200]} cannot be the workspace: {problem}{origin}",
            hint="choose a project's folder, or leave the setting empty",
        )
    return folder


def explain_unusable_folder(folder: Path, loaded: LoadedSettings) -> str:
    """Return why a folder, with links resolved, cannot be a workspace; empty if it can."""
    own_folders = (loaded.settings.data_dir.resolve(), (Path.home() / ".outrider").resolve())
    if not folder.is_dir():
        return "it is not a folder"
    if any(own.is_relative_to(folder) or folder.is_relative_to(own) for own in own_folders):
        return "keys and data of Outrider are in it"
    return ""


@dataclass(frozen=True)
class RootChooser:
    """Makes the first usable root of a host the workspace of its session."""

    loaded: LoadedSettings
    workspaces: SessionWorkspaces
    kernels: KernelPool

    async def choose(self, call: Call, roots: Sequence[Path]) -> None:
        """Work in the first root that can be a workspace; in the session's own folder if there is none."""

        def choose_folder() -> bool:
            for root in roots:
                folder = root.resolve()
                problem = explain_unusable_folder(folder, self.loaded)
                if not problem:
                    return self.workspaces.choose_project(call, folder)
                log.warning("the host's root %s cannot be the workspace: %s", root, problem)
            return self.workspaces.choose_project(call, None)

        if await anyio.to_thread.run_sync(choose_folder):
            # A running interpreter still sees the previous folder.
            reason = "was closed when the host chose another folder"
            await self.kernels.close_session(self.workspaces.find_workspace(call).key, reason)
