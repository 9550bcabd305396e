"""Thinking: one attempt of a run, from the question to an answer or to the point where it must stop.

Beside `models/wire.py` the only folder that knows pydantic-ai: its agent loop asks the model and calls the tools; both
go through here, where steps are made durable, counted, limited and streamed. Import it only where a run begins.
"""

from outrider.agents.runtime.attempt import run_attempt
from outrider.agents.runtime.attempt_context import AttemptContext

__all__ = ["AttemptContext", "run_attempt"]
