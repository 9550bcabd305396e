"""Playbooks: stored workflows that an assistant can follow again."""

from outrider.playbooks.playbook import Action, Playbook, PlaybookRun, Step, SuccessCriteria, Workflow
from outrider.playbooks.playbooks import PlaybookBatch, PlaybookStore
from outrider.playbooks.validation import list_problems

__all__ = [
    "Action",
    "Playbook",
    "PlaybookBatch",
    "PlaybookRun",
    "PlaybookStore",
    "Step",
    "SuccessCriteria",
    "Workflow",
    "list_problems",
]  # fmt: skip
