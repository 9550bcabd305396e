"""What stands behind `core.db`: addresses, engines and their failures; and moving, checking and sharing a database."""
