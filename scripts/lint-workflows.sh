#!/usr/bin/env bash
# Looks for security problems in the workflows and in dependabot.yml, with zizmor. Needs Python 3, and no network once
# zizmor is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(scripts/python-tools.sh zizmor)
"$tools/zizmor" --offline --quiet --no-progress --strict-collection .github
