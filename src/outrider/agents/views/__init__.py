"""Views of all runs and their questions, for the dashboard and the command line."""
