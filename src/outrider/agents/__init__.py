"""Agents, their conversations, and runs that people can follow and control."""
