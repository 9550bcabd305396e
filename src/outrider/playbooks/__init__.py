"""Playbooks: workflows that an assistant keeps and follows again."""

from outrider.playbooks.check import problems
from outrider.playbooks.playbook import Action, Playbook, Run, Step, SuccessCriteria, Workflow
from outrider.playbooks.playbooks import Listed, Playbooks

__all__ = [
    "Action", "Listed", "Playbook", "Playbooks", "Run", "Step", "SuccessCriteria", "Workflow", "problems",
]  # fmt: skip
