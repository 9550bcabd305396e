"""Text of pages reaches files unchanged, and terminals without control sequences."""

import json
import os
import subprocess
import sys

from support.processes.pseudo_terminal import run_in_terminal
from support.timeouts import PROCESS_TIMEOUT_S

PAGE_TEXT = "Tea\x1b]0;owned\x07\x9b31m 50\u20ac\ud800"
PRINTING_SOURCE = f"""
from outrider.cli.output import print_json, print_text
print_json({{"name": {PAGE_TEXT!r}}})
print_text({PAGE_TEXT!r})
"""


def test_a_terminal_gets_no_control_characters_and_a_file_gets_them_all():
    command = [sys.executable, "-c", PRINTING_SOURCE]
    written = subprocess.run(command, capture_output=True, check=True, timeout=PROCESS_TIMEOUT_S).stdout.decode()
    _, shown = run_in_terminal(command, os.environ)
    for output in (written, shown):
        assert json.loads(output[: output.index("}") + 1]) == {"name": PAGE_TEXT}
    assert written.partition("}")[2] == "\nTea\x1b]0;owned\x07\x9b31m 50\u20ac?"
    assert shown.partition("}")[2] == "\r\nTea]0;owned31m 50\u20ac?"
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)
