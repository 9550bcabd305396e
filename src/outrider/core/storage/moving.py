"""Files of artifacts from one storage to another."""

from collections.abc import Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

from outrider.core.errors import Unavailable
from outrider.core.storage.storage import Storage

IN_MEMORY = 8 << 20  # bytes of one file; a larger one waits on disk


class Moving:
    """Copies the files of rows of `artifacts`, those that are there already left out."""

    def __init__(self, source: "Storage", target: "Storage") -> None:
        self._source = source
        self._target = target
        self._there: set[str] | None = None

    async def files(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows whose files are in the target now; the others' files are gone. Raises Unavailable."""
        if self._there is None:
            self._there = {item.name async for item in self._target.items()}
        return [row for row in rows if row["id"] in self._there or await self._copied(row, self._there)]

    async def _copied(self, row: dict[str, Any], there: set[str]) -> bool:
        name = row["id"]
        with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
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
