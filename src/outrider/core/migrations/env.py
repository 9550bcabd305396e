"""Run migrations on the connection that `migrate_schema` provides."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    render_as_batch=True,
)
context.run_migrations()
