"""Plans: a goal, its todos and what was observed on the way, kept for each session."""

from outrider.plans.plan import Observation, PastGoal, Priority, SessionPlan, Todo
from outrider.plans.plans import PlanStore

__all__ = ["Observation", "PastGoal", "PlanStore", "Priority", "SessionPlan", "Todo"]
