"""Find the folder of the user that serves as workspace, if the settings choose one."""

from pathlib import Path

from outrider.core.errors import NotConfigured
from outrider.settings import LoadedSettings


def resolve_project_folder(loaded: LoadedSettings) -> Path | None:
    """Return the folder of `workspace.directory`, relative to the host's own; None if each session has one.

    Raises:
        NotConfigured: It is not a folder, holds our own data, or people sign in, who would share it.
    """
    settings = loaded.settings
    if not settings.workspace.directory:
        return None
    folder = (loaded.workspace / Path(settings.workspace.directory).expanduser()).resolve()
    problem, hint = "", "choose a project's folder, or leave the setting empty"
    own_folders = (settings.data_dir.resolve(), (Path.home() / ".outrider").resolve())
    if settings.identity.is_enabled:
        problem, hint = "people sign in here, and would share their files", "leave it empty, or turn off sign-in"
    elif not folder.is_dir():
        problem = "it is not a folder"
    elif any(own.is_relative_to(folder) or folder.is_relative_to(own) for own in own_folders):
        problem = "keys and data of Outrider are in it"
    if problem:
        raise NotConfigured(f"workspace.directory: {folder} cannot be the workspace: {problem}", hint=hint)
    return folder
