#!/usr/bin/env bash
# Prints the go.mod that builds a Kubernetes version: `testbed/kube/module.sh 1.34.4 > go.mod`, then `go mod tidy`.
# Kubernetes' own module replaces its libraries by folders of its repository; published, each has a version of its own.
set -euo pipefail
version=$1
published=v0.${version#1.}
folder=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')

echo "module github.com/gateward/gateward/testbed/kube"
echo
grep '^go ' "$folder/go.mod"
grep '^godebug ' "$folder/go.mod" || true
echo
echo "require k8s.io/kubernetes v$version"
echo
sed -n "s#^[ \t]*\(replace \)\?\(k8s.io/[a-z0-9-]*\) => ./staging.*#replace \2 => \2 $published#p" "$folder/go.mod"
