"""Idempotency keys with which evaluations were started."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "evaluation_keys",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("evaluation_id", sa.String(40), nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
    )
    op.create_index("ix_evaluation_keys_expires_at", "evaluation_keys", ["expires_at"])


def downgrade() -> None:
    """Drops it."""
    op.drop_table("evaluation_keys")
