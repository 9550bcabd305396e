"""Agents, conversations, runs, and people's decisions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(JSONB(), "postgresql")
TABLES = ("conversations", "messages", "runs", "run_steps", "run_events", "questions", "allowances", "agents")


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("assistant", sa.String(200)),
        sa.Column("identity", sa.String(200)),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("visibility", sa.String(16), nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("ancestors", JSON, nullable=False),
        sa.Column("parent_id", sa.String(40)),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
    op.create_index("ix_conversations_seen", "conversations", ["workspace", "session", "updated_at"])
    op.create_index("ix_conversations_parent_id", "conversations", ["parent_id"])
    op.create_table(
        "messages",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("conversation_id", sa.String(40), nullable=False),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("agent", sa.String(64)),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("thoughts", sa.Text, nullable=False),
        sa.Column("citations", JSON, nullable=False),
        sa.Column("files", JSON, nullable=False),
        sa.Column("run_id", sa.String(40)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_index("ix_messages_conversation_id", "messages", ["conversation_id", "created_at"])
    op.create_table(
        "runs",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("conversation_id", sa.String(40), nullable=False),
        sa.Column("message_id", sa.String(40), nullable=False),
        sa.Column("parent_run_id", sa.String(40)),
        sa.Column("parent_call_id", sa.String(200)),
        sa.Column("root_run_id", sa.String(40), nullable=False),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("definition", JSON, nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("stop_reason", sa.String(32)),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("ancestors", JSON, nullable=False),
        sa.Column("budgets", JSON, nullable=False),
        sa.Column("model", sa.String(200)),
        sa.Column("usage", JSON, nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("thoughts", sa.Text, nullable=False),
        sa.Column("error", JSON),
        sa.Column("history", JSON),
        sa.Column("state", JSON, nullable=False),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("session", sa.String(200), nullable=False),
        sa.Column("assistant", sa.String(200)),
        sa.Column("thread", sa.String(200)),
        sa.Column("identity", sa.String(200)),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("started_at", sa.Float),
        sa.Column("ended_at", sa.Float),
        sa.Column("deadline", sa.Float),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("executor", sa.String(100)),
    )
    op.create_index("ix_runs_parent", "runs", ["parent_run_id", "parent_call_id"], unique=True)
    op.create_index("ix_runs_conversation_id", "runs", ["conversation_id"])
    op.create_index("ix_runs_root_run_id", "runs", ["root_run_id"])
    op.create_index("ix_runs_status", "runs", ["status", "updated_at"])
    op.create_table(
        "run_steps",
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("tool", sa.String(64)),
        sa.Column("arguments", JSON),
        sa.Column("outcome", sa.String(64)),
        sa.Column("result", JSON),
        sa.Column("state", sa.Text),
        sa.Column("seconds", sa.Float),
        sa.Column("usage", JSON),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "run_events",
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )
    op.create_table(
        "questions",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("root_run_id", sa.String(40), nullable=False),
        sa.Column("call_id", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("toolset", sa.String(64), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("arguments", JSON, nullable=False),
        sa.Column("stake", sa.String(16)),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("details", JSON, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float),
        sa.Column("decision", sa.String(16)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("answer", JSON),
        sa.Column("decided_by", sa.String(200)),
        sa.Column("decided_at", sa.Float),
    )
    op.create_index("ix_questions_call", "questions", ["run_id", "call_id"], unique=True)
    op.create_index("ix_questions_root_run_id", "questions", ["root_run_id"])
    op.create_table(
        "allowances",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("identity", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("tool", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_index("ix_allowances_who", "allowances", ["workspace", "identity", "agent", "tool"], unique=True)
    op.create_table(
        "agents",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("workspace", sa.String(200), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("definition", JSON, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
    op.create_index("ix_agents_name", "agents", ["workspace", "name"], unique=True)


def downgrade() -> None:
    """Drops them."""
    for name in reversed(TABLES):
        op.drop_table(name)
