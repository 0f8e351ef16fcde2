#!/usr/bin/env bash
# Gates, and says how it came out. Inputs arrive in the environment and are passed on as they are: none is ever a script.
set -euo pipefail
arguments=(--quiet)
while IFS= read -r each; do
    if [ -n "$each" ]; then arguments+=("--drop=$each"); fi
done <<< "$HOLDSUP_DROP"
while IFS= read -r each; do
    if [ -n "$each" ]; then arguments+=("$each"); fi
done <<< "${HOLDSUP_OPTIONS:-}"

# The file is there if, and only if, there is an answer: an exit code of 1 alone could be a broken installation.
junit="${HOLDSUP_JUNIT:-$(mktemp -d "$RUNNER_TEMP/gate.XXXXXX")/gate.xml}"
rm -f -- "$junit"
code=0
holdsup gate "${arguments[@]}" "--junit=$junit" -- "$HOLDSUP_CANDIDATE" "$HOLDSUP_BASELINE" || code=$?
outcome=none
if [ -s "$junit" ]; then
    case "$code" in
        0) outcome=pass ;;
        1) outcome=fail ;;
        3) outcome=inconclusive ;;
    esac
fi
echo "outcome=$outcome" >> "$GITHUB_OUTPUT"
case "$outcome" in
    none) if [ "$code" = 2 ]; then exit 2; else exit 4; fi ;;
    inconclusive) if [ "${HOLDSUP_INCONCLUSIVE:-pass}" = pass ]; then exit 0; fi ;;
esac
exit "$code"
