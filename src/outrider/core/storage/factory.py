"""Build the storage that the settings name."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field

from outrider.core.storage.folder import FolderStorage
from outrider.core.storage.storage import Storage


class ArtifactsSettings(BaseModel, extra="forbid", defer_build=True):
    """Where artifacts are stored."""

    storage: str = Field(
        default="",
        description="Folder, or object storage as s3://bucket/prefix?endpoint=…&region=… (gs://, az://); "
        "empty means artifacts in data_dir",
    )


def build_storage(setting: str, data_dir: Path, environ: Mapping[str, str]) -> Storage:
    """Return the storage that the setting names; nothing is opened yet.

    Raises:
        NotConfigured: The setting is not a usable address.
    """
    if not setting:
        return FolderStorage(data_dir / "artifacts")
    if "://" not in setting or setting.startswith("file://"):
        return FolderStorage(Path(setting.removeprefix("file://")).expanduser())
    from outrider.core.storage.objects import ObjectStorage

    return ObjectStorage(setting, environ)
