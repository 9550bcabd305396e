#!/bin/sh
# Resolves each extra for each Python from wheels alone, and no extra for other systems. Usage: extras.sh UV PYTHON
set -eu
uv=$1 python=$2 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
extras=$("$python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"])')
for version in 3.11 3.12 3.13 3.14; do
	for extra in "" $extras; do
		if "$uv" pip compile -q --no-header --only-binary :all: --python-version "$version" \
			${extra:+--extra "$extra"} pyproject.toml >"$log" 2>&1
		then
			echo "Python $version, outrider${extra:+[$extra]}: $(grep -c == "$log") packages"
		else
			echo "Python $version, outrider${extra:+[$extra]}: cannot be installed" >&2
			sed 's/^/  /' "$log" >&2
			failed=1
		fi
	done
done
for system in aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-pc-windows-msvc \
	aarch64-apple-darwin x86_64-apple-darwin; do
	for version in 3.11 3.14; do
		if "$uv" pip compile -q --no-header --only-binary :all: --python-version "$version" --python-platform "$system" \
			pyproject.toml >"$log" 2>&1
		then
			echo "Python $version on $system, outrider: $(grep -c == "$log") packages"
		else
			echo "Python $version on $system, outrider: cannot be installed" >&2
			sed 's/^/  /' "$log" >&2
			failed=1
		fi
	done
done
exit $failed
