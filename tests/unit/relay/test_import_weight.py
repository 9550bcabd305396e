"""The relay imports little of the standard library."""

import subprocess
import sys

# The interpreter itself has about 33 modules, the command 11, and it needs 3 C modules.
MAX_MODULES = 52
HEAVY = {"asyncio", "collections", "enum", "json", "logging", "pathlib", "re", "socket", "subprocess", "typing"}


def test_the_relay_imports_few_modules():
    code = "import outrider.__main__, outrider.relay.relay, outrider.relay.stdio_pipes, sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    plain = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    added = loaded - set(plain.stdout.split())
    assert not added & HEAVY
    assert len(added) <= MAX_MODULES - 33
