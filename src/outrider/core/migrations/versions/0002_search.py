"""The ledger of search providers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Creates the ledger."""
    op.create_table(
        "search_health",
        sa.Column("access", sa.String(100), primary_key=True),
        sa.Column("successes", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("kinds", JSON, nullable=False),
        sa.Column("latency", sa.Float),
        sa.Column("quota_left", sa.Integer),
        sa.Column("limited_until", sa.Float),
        sa.Column("streak", sa.Integer, nullable=False),
        sa.Column("open_until", sa.Float),
        sa.Column("last_failure", sa.String(32), nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("search_health")
