"""Evaluations of websites: their tasks, records and results."""

from outrider.agents.evaluations.evaluation import Evaluation, EvaluationRecord, Evaluations

__all__ = ["Evaluation", "EvaluationRecord", "Evaluations"]
