"""Evaluations of websites: what was asked of the browser's agent, what was seen meanwhile, and what came of it."""

from outrider.agents.evaluations.evaluation import Evaluation, Evaluations, Record

__all__ = ["Evaluation", "Evaluations", "Record"]
