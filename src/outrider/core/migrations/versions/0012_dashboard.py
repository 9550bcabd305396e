"""Indexes for the dashboard: newest outermost runs, evaluations by run, and open questions."""

from alembic import op

revision = "0012"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the indexes."""
    op.create_index("ix_runs_listed", "runs", ["parent_run_id", "created_at", "id"])
    op.create_index("ix_evaluations_run_id", "evaluations", ["run_id", "created_at"])
    op.create_index("ix_questions_open", "questions", ["decision", "created_at"])
    op.create_index("ix_questions_decided_at", "questions", ["decided_at"])


def downgrade() -> None:
    """Drops them."""
    op.drop_index("ix_questions_decided_at", "questions")
    op.drop_index("ix_questions_open", "questions")
    op.drop_index("ix_evaluations_run_id", "evaluations")
    op.drop_index("ix_runs_listed", "runs")
