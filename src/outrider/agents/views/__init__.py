"""Views of all runs and questions, for dashboard and command line."""
