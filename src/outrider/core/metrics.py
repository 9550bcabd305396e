"""OpenTelemetry instruments for calls, searches, model requests, runs and browser sessions.

Names follow OpenTelemetry's rules, and its conventions for generative AI where they apply; each label has few values.
"""

from collections.abc import Iterator

from opentelemetry import metrics

from outrider.core.session_gauge import SESSION_HOLDERS

METER = metrics.get_meter("outrider")
DURATION_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
SIZE_BUCKETS_CHARS = (100, 1_000, 4_000, 12_000, 40_000, 120_000)
TOKEN_BUCKETS = (100, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000)

TOOL_SECONDS = METER.create_histogram(
    "outrider.tool.duration",
    unit="s",
    description="Seconds that a tool call took, by tool and outcome",
    explicit_bucket_boundaries_advisory=DURATION_BUCKETS_S,
)
TOOL_RESULT_CHARS = METER.create_histogram(
    "outrider.tool.result.size",
    unit="{character}",
    description="Characters in the result of a tool call",
    explicit_bucket_boundaries_advisory=SIZE_BUCKETS_CHARS,
)
SEARCH_SECONDS = METER.create_histogram(
    "outrider.search.duration",
    unit="s",
    description="Seconds until a search provider answered, by outcome",
    explicit_bucket_boundaries_advisory=DURATION_BUCKETS_S,
)
MODEL_SECONDS = METER.create_histogram(
    "gen_ai.client.operation.duration",
    unit="s",
    description="Seconds of a request to a model, by outcome",
    explicit_bucket_boundaries_advisory=DURATION_BUCKETS_S,
)
MODEL_TOKENS = METER.create_histogram(
    "gen_ai.client.token.usage",
    unit="{token}",
    description="Tokens of a request to a model, by input and output",
    explicit_bucket_boundaries_advisory=TOKEN_BUCKETS,
)
MODEL_COST = METER.create_counter(
    "outrider.model.cost", unit="{USD}", description="US dollars for models whose price is known"
)
RUN_COUNT = METER.create_counter("outrider.runs", unit="{run}", description="Ended attempts of agent runs, by outcome")


def observe_sessions(_: metrics.CallbackOptions) -> Iterator[metrics.Observation]:
    """Report the number of browser sessions that this process holds."""
    yield metrics.Observation(sum(holder.session_count for holder in list(SESSION_HOLDERS)))


METER.create_observable_gauge(
    "outrider.browser.sessions",
    [observe_sessions],
    unit="{session}",
    description="Browser sessions that this process holds, parked ones included",
)
