"""Agents, their conversations and runs: work that people can follow, answer, resume and cancel."""
