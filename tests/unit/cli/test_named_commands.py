"""Advice on the terminal names commands, and never tools."""

import pytest

from outrider.cli.tool_results import name_commands


@pytest.mark.parametrize(
    ("advice", "shown"),
    [
        ("sign in, then resumeFlow with runId=run_1 and fromStep=3.2.1", "`outrider flow resume run_1 --from 3.2.1`"),
        ("then resumeFlow with runId=run_1 and unknownStep=done or again", "`outrider flow resume run_1 --done` or"),
        ("approve it; then call resumeFlow with runId=run_1", "then `outrider flow resume run_1`"),
        ("Go on with resumeFlow, runId=run_1.", "Go on with `outrider flow resume run_1`."),
        ("or repairFlow with runId=run_1", "`outrider flow repair run_1 --element"),
        ("There are no flows: saveFlow saves one.", "`outrider flow save NAME` saves one"),
        ("use navigateToUrl for another site, or closeSession", "`outrider browser open` for another site"),
    ],
)
def test_tool_names_in_advice_become_commands(advice: str, shown: str):
    named = name_commands(advice)
    assert shown in named
    assert not any(tool in named for tool in ("resumeFlow", "repairFlow", "navigateToUrl", "closeSession"))
