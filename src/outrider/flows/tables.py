"""Tables of flows. Import this only where a query is made (see `core.tables`)."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, String, Table, Text, text

from outrider.core.tables import json_type, metadata

flow_runs = Table(
    "flow_runs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("owner", String(64), nullable=False),  # of workspace and person (`build_owner_key`)
    Column("session", String(200), nullable=False),
    Column("flow", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("sources", json_type, nullable=False),  # the file of each flow, by name
    Column("parameters", json_type, nullable=False),
    Column("options", json_type, nullable=False),
    Column("state", String(16), nullable=False),
    Column("step", String(120), nullable=False),
    Column("message", Text, nullable=False),
    Column("browser_session", String(64), nullable=False),
    Column("process", String(200), nullable=False),  # see process_holder.py
    Column("lease", String(32), nullable=False),  # only the process that claimed it last writes
    Column("lease_until", Float, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("schedule", String(24), nullable=False, server_default=text("''")),  # that started it
    Column("attempts", Integer, nullable=False, server_default="0"),  # how often a process has claimed it
    Column("healed", Integer, nullable=False, server_default="0"),  # elements that were recognized although changed
    Column("outline", Text, nullable=False, server_default=text("''")),  # what the page showed where it stopped
    Column(
        "place", String(200), nullable=False, server_default=text("''")
    ),  # flow and place in its file where it stopped
    Index("ix_flow_runs_owner", "owner", "started_at"),
    Index("ix_flow_runs_schedule", "schedule", "state"),
)
flow_run_steps = Table(
    "flow_run_steps",
    metadata,
    Column("run_id", String(40), ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", String(120), primary_key=True),
    Column("state", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("summary", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("was_met", Boolean, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("notes", json_type, nullable=False),
    Column("rows", json_type, nullable=False),
    Column("at", Float, nullable=False),
    Column("matched", Text, nullable=False, server_default=text("''")),  # the elements that were found
)
flow_run_pictures = Table(
    "flow_run_pictures",
    metadata,
    Column("run_id", String(40), ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("taken_at", Float, nullable=False),
    Column("mime_type", String(20), nullable=False),
    Column("data", LargeBinary, nullable=False),
)
flow_approvals = Table(
    "flow_approvals",
    metadata,
    Column("owner", String(64), primary_key=True),  # as in flow_runs
    Column("digest", String(64), primary_key=True),  # of the files of the flow and of those that it runs
    Column("flow", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("origins", json_type, nullable=False),
    Column("approved_at", Float, nullable=False),
    Column("approved_by", String(200), nullable=False, server_default=text("''")),
)
# The flows of a team; on a laptop they are files.
flow_versions = Table(
    "flow_versions",
    metadata,
    Column("owner", String(64), primary_key=True),  # as in flow_runs
    Column("flow", String(64), primary_key=True),
    Column("version", Integer, primary_key=True),  # the highest is the current one
    Column("text", Text, nullable=False),
    Column("saved_at", Float, nullable=False),
)
flow_schedules = Table(
    "flow_schedules",
    metadata,
    Column("id", String(24), primary_key=True),  # derived from owner, project and flow, because a flow has one schedule
    Column("owner", String(64), nullable=False),
    Column("project", Text, nullable=False),  # only processes of this folder run it; empty: any process
    Column("caller", json_type, nullable=False),  # session, workspace and person of its runs
    Column("flow", String(64), nullable=False),
    Column("cron", String(100), nullable=False),
    Column("timezone", String(64), nullable=False),
    Column("parameters", json_type, nullable=False),
    Column("options", json_type, nullable=False),  # as in flow_runs
    Column("notify", json_type, nullable=False),  # names of notices
    Column("revision", String(32), nullable=False),  # a new value after each change
    Column("created_at", Float, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("problem", Text, nullable=False),  # why a run was skipped
    Index("ix_flow_schedules_due", "next_at"),
    Index("ix_flow_schedules_owner", "owner"),
)
# Written in the transaction that ends their run and deleted once sent, so that none is lost or made twice.
flow_notices = Table(
    "flow_notices",
    metadata,
    Column("run_id", String(40), ForeignKey("flow_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("state", String(16), nullable=False),  # waiting or failed
    Column("attempts", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("problem", Text, nullable=False),
    Column("holder", String(200), nullable=False),
    Column("held_until", Float, nullable=False),
    Index("ix_flow_notices_due", "state", "next_at"),
)
