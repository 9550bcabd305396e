"""Limits of waiting in tests: far more than a busy machine needs, so that only a hang reaches them."""

EVENT_TIMEOUT_S = 30  # something that a page or a socket shows as soon as it happens
PROCESS_TIMEOUT_S = 60  # a process that starts, works and ends
BROWSER_TIMEOUT_S = 90  # a few tool calls in a browser
SCENARIO_TIMEOUT_S = 120  # a whole test of processes or browsers
LONG_SCENARIO_TIMEOUT_S = 180  # a whole test of both
