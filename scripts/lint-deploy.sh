#!/usr/bin/env bash
# Looks for faults in packages/server/deploy: hadolint reads the Dockerfile, compose-spec the Compose file, and
# kubernetes-validate the manifests, by the schemas of an old and of a new Kubernetes, which have no PodMonitor. Needs
# Python 3, and no network once they are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(scripts/python-tools.sh deploy)
deploy=packages/server/deploy
"$tools/hadolint" "$deploy/Dockerfile"
"$tools/python3" - "$deploy/compose.yaml" <<'END'
import sys, compose_spec, yaml
compose_spec.ComposeSpecification.model_validate(yaml.safe_load(open(sys.argv[1])))
END
for version in 1.28 1.36; do
  "$tools/kubernetes-validate" --quiet --strict -k "$version" "$deploy/kubernetes.yaml" examples/kubernetes/{create-group,leases,orders}.yaml
done
