#!/bin/sh
# Puts the locked uv into .tools/bin, by whichever of venv and pip this Python has. Usage: uv.sh PYTHON
set -eu
python=${1:?"no Python from 3.11 to 3.14 was found; install one, or run: make PYTHON=/path/to/python"}
rm -rf .tools

# Debian's Python comes without the venv module, others without pip: each alone is enough.
if "$python" -m venv .tools >/dev/null 2>&1; then
	.tools/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	exit
fi
rm -rf .tools
mkdir -p .tools/bin
if "$python" -m pip --version >/dev/null 2>&1; then
	"$python" -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt --target .tools/lib
	ln -s ../lib/bin/uv .tools/bin/uv
elif command -v uv >/dev/null; then
	ln -s "$(command -v uv)" .tools/bin/uv
else
	echo "This Python has neither venv nor pip, and there is no uv: install the package python3-venv or python3-pip." >&2
	exit 1
fi
