"""The dashboard's pages, discovered as one `DashboardPage` a file."""
