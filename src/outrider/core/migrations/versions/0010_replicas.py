"""Several processes on one database: replicas, owners of browser sessions, and running crawls."""

import sqlalchemy as sa
from alembic import op

from outrider.core.tables import json_type

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of replicas, and adds to crawls what another process needs to continue them."""
    op.create_table(
        "run_turns",
        sa.Column("user", sa.String(220), primary_key=True),
        sa.Column("served_at", sa.Float, nullable=False),
    )
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("address", sa.String(300), nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("seen_at", sa.Float, nullable=False),
    )
    op.create_table(
        "browser_sessions",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("replica", sa.String(40), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("options", json_type, nullable=False),
        sa.Column("memory", sa.Text),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("used_at", sa.Float, nullable=False),
    )
    op.create_index("ix_browser_sessions_owner", "browser_sessions", ["owner", "created_at"])
    op.create_index("ix_browser_sessions_replica", "browser_sessions", ["replica"])
    op.add_column("crawls", sa.Column("errand", json_type))
    op.add_column("crawls", sa.Column("until", sa.Float))
    op.create_index("ix_crawls_state", "crawls", ["state", "held_until"])


def downgrade() -> None:
    """Drops them."""
    op.drop_index("ix_crawls_state", "crawls")
    op.drop_column("crawls", "until")
    op.drop_column("crawls", "errand")
    for name in ("browser_sessions", "replicas", "run_turns"):
        op.drop_table(name)
