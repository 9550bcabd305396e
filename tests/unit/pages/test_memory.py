"""Release memory after large pages."""

import platform
import subprocess
import sys

import pytest

from support.timeouts import PROCESS_TIMEOUT_S

MEMORY_PROBE = """
from pathlib import Path
from outrider import extract

def megabytes(name):
    return int(Path("/proc/self/status").read_text().partition(name + ":")[2].split()[0]) / 1024

extract(b"<p>Some words to begin with.")
before = megabytes("VmRSS")
extract(b"<p>The tide comes in twice a day, and <a href=/boats>the boats</a> rise with it.</p>" * 26_000)
print(before, megabytes("VmHWM"), megabytes("VmRSS"))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have nothing to be told")
@pytest.mark.nightly
def test_memory_taken_by_a_large_page_is_returned():
    run = subprocess.run(
        [sys.executable, "-c", MEMORY_PROBE], capture_output=True, check=True, timeout=PROCESS_TIMEOUT_S
    )
    before, most, after = map(float, run.stdout.split())
    assert most - before > 25
    assert after - before < (most - before) / 2
