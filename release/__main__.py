"""Write server.json, the .mcpb bundle and the catalog entry: `python -m release OWNER/NAME COMMIT [FOLDER]`."""

import re
import sys
from pathlib import Path

from release.manifests import write_manifests


def main(arguments: list[str]) -> int:
    repository, commit, folder = [*arguments, "", "", ""][:3]
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository) or not re.fullmatch(r"[0-9a-f]{40}", commit):
        sys.stderr.write("Name the repository on GitHub and a commit of it: make manifests REPOSITORY=owner/name\n")
        return 2
    for path in write_manifests(repository, commit, Path(folder or "dist")):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
