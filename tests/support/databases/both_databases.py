"""Where the rows of a test's houses are: in a file of SQLite, or on a Postgres server, for one house or for three."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from support.apps.replicas import MARK
from support.databases import postgres


@dataclass
class Rows:
    """Where the rows of a test's houses are.

    Attributes:
        server: None means a file in the house's own folder.
        replicas: Where a house is several that are called in turns, how many.
    """

    server: postgres.Server | None
    replicas: int = 0
    made: list[str] = field(default_factory=list)

    def settle(self, home: Path) -> None:
        """Gives the houses in that home a database of their own."""
        if self.server is None:
            return
        self.made.append(self.server.migrated())
        folder = home / ".outrider"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"database": self.made[-1]}))
        if self.replicas:
            (folder / MARK).write_text(str(self.replicas))

    def clear(self) -> None:
        """Drops what was made."""
        for address in self.made:
            assert self.server
            self.server.drop(address)
        self.made.clear()
