#!/usr/bin/env bash
# Installs holdsup from the checkout that this action is part of, into an environment of its own.
set -euo pipefail
place="$RUNNER_TEMP/holdsup"
python3 -m venv "$place"
"$place/bin/python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH/.."
echo "$place/bin" >> "$GITHUB_PATH"
