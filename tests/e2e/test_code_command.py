"""`outrider code` installs packages that sandboxed code can import."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from outrider.workspace.sandbox.seccomp import is_supported
from support.apps.code_app import build_wheel, make_home, open_code_app, run_python, skip_without_pip
from support.processes import outrider_command

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
]


def install_packages(home: Path, *packages: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"HOME": str(home), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(home)}
    return run_outrider(home, environ, "code", "install", *packages)


def run_outrider(home: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = outrider_command.build_command(*arguments)
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, timeout=300, check=False)


def list_findings(home: Path, *settings: str) -> str:
    """Lists the findings of `outrider doctor` about code."""
    said = run_outrider(home, os.environ | {"HOME": str(home)}, "doctor", *settings).stdout
    return "\n".join(line for line in said.splitlines() if "code" in line)


async def test_an_installed_package_can_be_imported():
    with make_home() as home:
        build_wheel(home, "outrider_sample")
        async with open_code_app(home) as app:
            await skip_without_pip(app, home)
        assert "Python has no packages besides its own" in list_findings(home)
        done = install_packages(home, "outrider_sample")
        assert done.stdout == "sandboxed code can import: outrider_sample\n", done.stderr
        again = install_packages(home, "outrider_sample", "--json")
        assert json.loads(again.stdout) == {"packages": ["outrider_sample"]}, again.stderr
        async with open_code_app(home) as app:
            found = await run_python(app, "import outrider_sample\noutrider_sample.VALUE")
            assert found.data["value"] == "42"
        findings = list_findings(home, "--set", 'code.packages=["outrider_sample", "absent"]')
        assert "packages for Python: outrider_sample" in findings
        assert "not installed yet: absent (`code.packages`)" in findings
        for package, problem in (("outrider-absent", "could not be installed"), ("--pre", "No such option")):
            failed = install_packages(home, package)
            assert failed.returncode
            assert problem in failed.stderr
