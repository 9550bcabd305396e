"""Repair of flows on the dashboard."""
