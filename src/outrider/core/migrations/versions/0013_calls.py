"""The provider that answered a call, and on Postgres the call's transaction."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the columns. SQLite already has the order of arrival (`rowid`)."""
    on_postgres = op.get_bind().dialect.name == "postgresql"
    arrived = sa.text("(pg_current_xact_id()::text::bigint)") if on_postgres else None
    op.add_column("events", sa.Column("provider", sa.String(100)))
    op.add_column("events", sa.Column("written", sa.BigInteger, server_default=arrived))
    op.create_index("ix_events_written", "events", ["written"])


def downgrade() -> None:
    """Drops them."""
    op.drop_index("ix_events_written", "events")
    op.drop_column("events", "written")
    op.drop_column("events", "provider")
