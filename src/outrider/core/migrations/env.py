"""Runs migrations on the connection that `outrider.core.database.database.migrate` hands over."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    render_as_batch=True,
)
context.run_migrations()
