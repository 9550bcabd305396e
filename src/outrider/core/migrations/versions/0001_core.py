"""Call records, artifacts and citation counters."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Creates the core's tables."""
    op.create_table(
        "events",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("at", sa.Float, nullable=False, index=True),
        sa.Column("session", sa.String(200), nullable=False, index=True),
        sa.Column("assistant", sa.String(200)),
        sa.Column("thread", sa.String(200)),
        sa.Column("identity", sa.String(200)),
        sa.Column("toolset", sa.String(64), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False, index=True),
        sa.Column("arguments", JSON, nullable=False),
        sa.Column("outcome", sa.String(64), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
    )
    op.create_table(
        "artifacts",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("created_at", sa.Float, nullable=False, index=True),
        sa.Column("session", sa.String(200), nullable=False, index=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("mime_type", sa.String(127), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
    )
    op.create_table(
        "citation_counters",
        sa.Column("key", sa.String(500), primary_key=True),
        sa.Column("used", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Drops them."""
    for table in ("citation_counters", "artifacts", "events"):
        op.drop_table(table)
