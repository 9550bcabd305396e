"""Plans of sessions: a goal, its todos and observations."""

from outrider.plans.plan import Observation, PastGoal, Priority, SessionPlan, Todo
from outrider.plans.plans import PlanStore

__all__ = ["Observation", "PastGoal", "PlanStore", "Priority", "SessionPlan", "Todo"]
