"""Copy the files of artifacts from one storage to another."""

from collections.abc import Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

from outrider.core.errors import Unavailable
from outrider.core.storage.storage import Storage


class ArtifactTransfer:
    """Copies the files of rows of `artifacts`, except those that the target has already."""

    def __init__(self, source: Storage, target: Storage) -> None:
        self._source = source
        self._target = target
        self._target_names: set[str] | None = None

    async def copy_files(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows whose files are in the target now; the others' files are gone. Raises Unavailable."""
        if self._target_names is None:
            self._target_names = {item.name async for item in self._target.iter_items()}
        return [
            row for row in rows if row["id"] in self._target_names or await self._copy_file(row, self._target_names)
        ]

    async def _copy_file(self, row: dict[str, Any], target_names: set[str]) -> bool:
        name = row["id"]
        with SpooledTemporaryFile(max_size=8 << 20) as file:  # a larger file is buffered on disk
            try:
                async for block in self._source.stream(name):
                    file.write(block)
            except FileNotFoundError:
                return False
            file.seek(0)
            stored = await self._target.put(name, file)  # ty: ignore[invalid-argument-type]
        if stored.sha256 != row["sha256"]:
            await self._target.remove([name])
            raise Unavailable(
                f"the file of artifact {name} does not match its row: {stored.size} bytes instead of {row['size']}",
                code="storage",
                hint="the source is damaged: restore it, or remove that artifact",
            )
        target_names.add(name)
        return True
