"""Files of artifacts from one storage to another."""

from collections.abc import Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

from outrider.core.errors import Unavailable
from outrider.core.storage.storage import Storage


class ArtifactTransfer:
    """Copies the files of rows of `artifacts`, those that are there already left out."""

    def __init__(self, source: Storage, target: Storage) -> None:
        self._source = source
        self._target = target
        self._target_names: set[str] | None = None

    async def copy_files(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows whose files are in the target now; the others' files are gone. Raises Unavailable."""
        if self._target_names is None:
            self._target_names = {item.name async for item in self._target.iter_items()}
        return [
            row for row in rows if row["id"] in self._target_names or await self._copy_file(row, self._target_names)
        ]

    async def _copy_file(self, row: dict[str, Any], there: set[str]) -> bool:
        max_memory_bytes = 8 << 20  # bytes of one file; a larger one waits on disk
        name = row["id"]
        with SpooledTemporaryFile(max_size=max_memory_bytes) as file:
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
                f"the file of artifact {name} is not what its row says: {stored.size} bytes instead of {row['size']}",
                code="storage",
                hint="the source is damaged: restore it, or remove that artifact",
            )
        there.add(name)
        return True
