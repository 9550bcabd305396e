#!/bin/sh
# Prints the Python to build with: the first of these that the locked versions have wheels for.
for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
	"$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || continue
	command -v "$name"
	exit
done
