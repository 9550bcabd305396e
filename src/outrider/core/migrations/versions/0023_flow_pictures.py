"""Pictures of the pages where runs of flows stopped."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "flow_run_pictures",
        sa.Column("run_id", sa.String(40), sa.ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("taken_at", sa.Float, nullable=False),
        sa.Column("mime_type", sa.String(20), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("flow_run_pictures")
