#!/bin/sh
# Checks all locked versions for known vulnerabilities. Usage: audit.sh FOLDER_OF_PIP_AUDIT
set -eu
bin=${1:?"the folder of pip-audit is missing; run: make audit"}
audit() {
	"$bin/pip-audit" --strict --disable-pip --require-hashes --progress-spinner=off --requirement "$1"
}

# The shortest lock shows whether the database can be read: an index that only mirrors downloads does not have it.
if ! said=$(audit requirements/uv.txt 2>&1); then
	case $said in
	*"known vulnerabilit"*) ;; # it was read, and the loop below reports what it found
	*)
		echo "audit: not run, because the database of known vulnerabilities cannot be read from here:" >&2
		echo "$said" | tail -n 1 >&2
		echo "audit: run it where the package index itself can be reached, not only a mirror of it." >&2
		exit 0
		;;
	esac
fi
for locked in requirements/image.txt requirements/dev.txt requirements/supply.txt requirements/uv.txt; do
	echo "audit: $locked"
	audit "$locked"
done
