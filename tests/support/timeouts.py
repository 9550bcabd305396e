"""Limits of waiting in tests: far more than a busy machine needs, so that only a hang reaches them.

With twenty processes waiting for two processors, a test took 25 times as long as alone.
"""

EVENT_TIMEOUT_S = 60  # something that a page or a socket shows as soon as it happens
PROCESS_TIMEOUT_S = 120  # a process that starts, works and ends
BROWSER_TIMEOUT_S = 180  # a few tool calls in a browser
SCENARIO_TIMEOUT_S = 300  # a whole test of processes or browsers
LONG_SCENARIO_TIMEOUT_S = 420  # a whole test of both
