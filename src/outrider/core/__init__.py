"""What everything stands on: tools, calls, errors, egress, the database. Knows no domain and no protocol."""
