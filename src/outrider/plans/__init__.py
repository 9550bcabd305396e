"""Plans: a goal, its todos and what was observed on the way, kept for each session."""

from outrider.plans.plan import Observation, PastGoal, Plan, Priority, Todo
from outrider.plans.plans import Plans

__all__ = ["Observation", "PastGoal", "Plan", "Plans", "Priority", "Todo"]
