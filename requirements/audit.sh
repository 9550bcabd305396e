#!/bin/sh
# Checks all locked versions for known vulnerabilities. Usage: audit.sh FOLDER_OF_PIP_AUDIT
set -eu
bin=${1:?"the folder of pip-audit is missing; run: make audit"}
# The address that pip-audit asks for each version; an index that only mirrors downloads does not have it.
address=$(sed -n 's|^\([A-Za-z0-9._-]*\)==\([^ ]*\).*|https://pypi.org/pypi/\1/\2/json|p' requirements/uv.txt | head -n 1)
if ! "$bin/python" -c 'import sys, urllib.request as request; request.urlopen(sys.argv[1], timeout=20)' "$address" 2>/dev/null
then
	echo "audit: not run, because the known vulnerabilities of PyPI cannot be read from here ($address)." >&2
	echo "audit: run it where pypi.org itself can be reached." >&2
	exit 0
fi
for locked in requirements/image.txt requirements/dev.txt requirements/supply.txt requirements/uv.txt; do
	echo "audit: $locked"
	"$bin/pip-audit" --strict --disable-pip --require-hashes --progress-spinner=off --requirement "$locked"
done
