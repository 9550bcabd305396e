"""Evaluations of websites: what was asked of the browser's agent, what was seen meanwhile, and what came of it."""

from outrider.agents.evaluations.evaluation import Evaluation, EvaluationRecord, Evaluations

__all__ = ["Evaluation", "EvaluationRecord", "Evaluations"]
