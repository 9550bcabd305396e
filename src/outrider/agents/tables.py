"""Tables of agents, conversations, runs and decisions of people.

Text ids are created by the application, and times are seconds since the epoch. Any process that opens the database can
follow, answer, resume or cancel a run. Import this module only where a query is made, because SQLAlchemy loads slowly.
"""

from sqlalchemy import Column, Float, Index, Integer, PrimaryKeyConstraint, String, Table, Text

from outrider.core.tables import json_type, metadata

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace", String(200), nullable=False),  # "" if the host names none
    Column("session", String(200), nullable=False),
    Column("assistant", String(200)),
    Column("identity", String(200)),  # the person who started the outermost conversation
    Column("agent", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("visibility", String(16), nullable=False),  # listed | unlisted
    Column("depth", Integer, nullable=False),  # 0 if a person or a host started it
    Column("ancestors", json_type, nullable=False),  # names of the agents above, outermost first
    Column("parent_id", String(40)),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Index("ix_conversations_seen", "workspace", "session", "updated_at"),
    Index("ix_conversations_parent_id", "parent_id"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("conversation_id", String(40), nullable=False),
    Column("role", String(8), nullable=False),  # user | agent
    Column("agent", String(64)),  # author, or addressee of a user's message
    Column("text", Text, nullable=False),
    Column("thoughts", Text, nullable=False),
    Column("citations", json_type, nullable=False),  # reference -> citation
    Column("files", json_type, nullable=False),  # attachments: id, title, content_type, …
    Column("run_id", String(40)),  # the run that wrote it
    Column("status", String(16), nullable=False),
    Column("created_at", Float, nullable=False),
    Index("ix_messages_conversation_id", "conversation_id", "created_at"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("conversation_id", String(40), nullable=False),
    Column("message_id", String(40), nullable=False),  # the message that the run answers
    Column("parent_run_id", String(40)),
    Column("parent_call_id", String(200)),
    Column("root_run_id", String(40), nullable=False),
    Column("agent", String(64), nullable=False),
    Column("definition", json_type, nullable=False),  # the agent as it was at the start
    Column("query", Text, nullable=False),
    Column("status", String(16), nullable=False),  # queued|running|blocked|completed|partial|failed|cancelled
    Column("stop_reason", String(32)),
    Column("attempt", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("ancestors", json_type, nullable=False),
    Column("budgets", json_type, nullable=False),
    Column("model", String(200)),
    Column("usage", json_type, nullable=False),
    Column("cost", Float),  # US dollars of the run alone; None if the price is unknown
    Column("answer", Text, nullable=False),
    Column("thoughts", Text, nullable=False),
    Column("error", json_type),
    Column("history", json_type),  # the model's messages, from which the next attempt continues
    Column("state", json_type, nullable=False),
    Column("workspace", String(200), nullable=False),
    Column("session", String(200), nullable=False),
    Column("assistant", String(200)),
    Column("thread", String(200)),
    Column("identity", String(200)),
    Column("created_at", Float, nullable=False),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("deadline", Float),
    Column("updated_at", Float, nullable=False),
    Column("executor", String(100)),
    # A repeated call of a parent starts its child only once; rows without a parent never conflict.
    Index("ix_runs_parent", "parent_run_id", "parent_call_id", unique=True),
    Index("ix_runs_conversation_id", "conversation_id"),
    Index("ix_runs_root_run_id", "root_run_id"),
    Index("ix_runs_status", "status", "updated_at"),
    Index("ix_runs_listed", "parent_run_id", "created_at", "id"),
)

run_steps = Table(
    "run_steps",
    metadata,
    Column("run_id", String(40), nullable=False),
    Column("key", String(200), nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", String(8), nullable=False),  # model | tool
    Column("tool", String(64)),
    Column("arguments", json_type),
    Column("outcome", String(64)),  # None while it runs
    Column("result", json_type),
    Column("state", Text),  # saved by a paused call
    Column("seconds", Float),
    Column("usage", json_type),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    PrimaryKeyConstraint("run_id", "key"),
)

# When each user's last run was started; the user who has waited longest comes next.
run_turns = Table(
    "run_turns",
    metadata,
    Column("user", String(220), primary_key=True),
    Column("served_at", Float, nullable=False),
)

# Idempotency keys, by a hash of key and owner.
run_keys = Table(
    "run_keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("fingerprint", String(64), nullable=False),  # of the request that the key came with
    Column("run_id", String(40), nullable=False),
    Column("expires_at", Float, nullable=False),
    Index("ix_run_keys_expires_at", "expires_at"),
)

# Idempotency keys, as those of runs.
evaluation_keys = Table(
    "evaluation_keys",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("fingerprint", String(64), nullable=False),  # of the request that the key came with
    Column("evaluation_id", String(40), nullable=False),
    Column("expires_at", Float, nullable=False),
    Index("ix_evaluation_keys_expires_at", "expires_at"),
)

run_events = Table(
    "run_events",
    metadata,
    Column("run_id", String(40), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", String(16), nullable=False),  # thinking|text|tool_started|tool_ended|question|status|usage
    Column("data", json_type, nullable=False),
    PrimaryKeyConstraint("run_id", "seq"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("run_id", String(40), nullable=False),
    Column("root_run_id", String(40), nullable=False),
    Column("call_id", String(200), nullable=False),
    Column("agent", String(64), nullable=False),
    Column("kind", String(16), nullable=False),  # approval | authentication | question
    Column("toolset", String(64), nullable=False),
    Column("tool", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("arguments", json_type, nullable=False),
    Column("stake", String(16)),
    Column("message", Text, nullable=False),
    Column("details", json_type, nullable=False),  # for an authentication: provider, scope
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("decision", String(16)),  # approved | rejected | always_approved | answered; None while it is open
    Column("reason", Text, nullable=False),
    Column("answer", json_type),
    Column("decided_by", String(200)),
    Column("decided_at", Float),
    Index("ix_questions_call", "run_id", "call_id", unique=True),
    Index("ix_questions_root_run_id", "root_run_id"),
    Index("ix_questions_open", "decision", "created_at"),
    Index("ix_questions_decided_at", "decided_at"),
)

allowances = Table(
    "allowances",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace", String(200), nullable=False),
    Column("identity", String(200), nullable=False),  # "" for anonymous callers
    Column("agent", String(64), nullable=False),
    Column("tool", String(64), nullable=False),
    Column("created_at", Float, nullable=False),
    Index("ix_allowances_who", "workspace", "identity", "agent", "tool", unique=True),
)

agents = Table(
    "agents",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("workspace", String(200), nullable=False),
    Column("name", String(64), nullable=False),
    Column("definition", json_type, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Index("ix_agents_name", "workspace", "name", unique=True),
)
