"""The database: connections and engines, failures, migration, checking and copying."""
