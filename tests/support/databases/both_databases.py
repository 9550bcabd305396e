"""Put the rows of a test's apps into SQLite or Postgres, for one app or three."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from support.apps.replicas import REPLICA_COUNT_FILE
from support.databases import postgres


@dataclass
class DatabaseSetup:
    """The location of the rows of a test's apps.

    Attributes:
        server: None means a file in the app's own folder.
        replicas: The number of replicas that are called in turns; 0 for a single app.
    """

    server: postgres.PostgresServer | None
    replicas: int = 0
    created_databases: list[str] = field(default_factory=list)

    def configure_home(self, home: Path) -> None:
        """Give the apps in that home their own database."""
        if self.server is None:
            return
        self.created_databases.append(self.server.create_migrated_database())
        folder = home / ".outrider"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"database": self.created_databases[-1]}))
        if self.replicas:
            (folder / REPLICA_COUNT_FILE).write_text(str(self.replicas))

    def drop_databases(self) -> None:
        """Drop the created databases."""
        for address in self.created_databases:
            assert self.server
            self.server.drop_database(address)
        self.created_databases.clear()
