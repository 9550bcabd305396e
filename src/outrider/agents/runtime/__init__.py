"""Run one attempt of a run with the agent loop of pydantic-ai.

The requests to models and the tool calls of the loop go through this folder, which makes them durable, counts, limits
and streams them. Only this folder and `models/wire.py` know pydantic-ai; import it only where a run starts.
"""

from outrider.agents.runtime.attempt import run_attempt
from outrider.agents.runtime.attempt_context import AttemptContext

__all__ = ["AttemptContext", "run_attempt"]
