"""Where the rows of a test's houses are: in a file of SQLite, or on a Postgres server."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import postgres


@dataclass
class Rows:
    """Where the rows of a test's houses are.

    Attributes:
        server: None means a file in the house's own folder.
    """

    server: postgres.Server | None
    made: list[str] = field(default_factory=list)

    def settle(self, home: Path) -> None:
        """Gives the houses in that home a database of their own."""
        if self.server is None:
            return
        self.made.append(self.server.migrated())
        folder = home / ".outrider"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"database": self.made[-1]}))

    def clear(self) -> None:
        """Drops what was made."""
        for address in self.made:
            assert self.server
            self.server.drop(address)
        self.made.clear()
