"""The dashboard's pages, discovered as one `DashboardPage` per file."""
