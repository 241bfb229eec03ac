#!/usr/bin/env bash
# Builds the programs of the test bed and prints the folder that holds them: etcd, kube-apiserver,
# kube-controller-manager, kubectl, helm, cert-manager with its CRDs, prometheus-alerts, port-forward, and OLM's
# validators with the CRD of a CSV. They are kept outside the tree: what each Go module beside this file builds has a
# folder of its own, under a key of what it is built from, so that a change of one builds no other anew. The folder that
# is printed has links to them.
#
#   testbed/build.sh            Kubernetes of the version in testbed/kube/go.mod
#   testbed/build.sh 1.36.3     another version
#
# Programs in the folder that KUBEBUILDER_ASSETS names are taken from there; only what it lacks is built. A first build
# takes about fifteen minutes on two cores. Its progress goes to standard error.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${GATEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gateward}
assets=${KUBEBUILDER_ASSETS:+$(cd "$KUBEBUILDER_ASSETS" && pwd)}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false" GOWORK=off CGO_ENABLED=0

pinned=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$here/kube/go.mod")
version=${1:-$pinned}

say() { printf 'testbed: %s\n' "$*" >&2; }

given() { [ -n "$assets" ] && [ -x "$assets/$1" ]; }

# Runs a command whose errors are one line a step, and says every while how many there are.
step() { # what it does, of how many, the command
    local what=$1 of=$2 start=$SECONDS said=0 running
    shift 2
    "$@" 2>"$stage/log" &
    running=$!
    while kill -0 "$running" 2>/dev/null; do
        sleep 0.5
        if ((SECONDS - start >= said + 15)); then
            said=$((SECONDS - start))
            say "$what: $(wc -l <"$stage/log")$of, $said s"
        fi
    done
    wait "$running" || { tail -30 "$stage/log" >&2; say "$what: failed"; exit 1; }
    say "$what: done, $((SECONDS - start)) s"
}

# Builds one program: its name, the module's folder, the package, what the linker is to write into it.
build() {
    local name=$1 module=$2 package=$3 flags=$4
    if ! command -v go >/dev/null; then
        say "$name is built with Go, of at least the version in testbed/prometheus/go.mod; or name it in KUBEBUILDER_ASSETS"
        exit 1
    fi
    # Counting the packages fetches the modules.
    step "fetching the sources of $name" " modules" packages "$module" "$package"
    step "building $name" " of at most $(wc -l <"$stage/packages") packages" compile "$name" "$module" "$package" "$flags"
}

compile() { go build -C "$2" -v -trimpath -ldflags "-s -w $4" -o "$stage/bin/$1" "$3"; }

packages() { go list -C "$1" -deps "$2" >"$stage/packages"; }

build_kube() {
    local module
    say "builds Kubernetes $version; this is done once"
    module=$(kube_module)
    build kube "$module" . "$(kube_flags)"
}

# The module that builds a version: the one kept here, or a new one beside the same source.
kube_module() {
    [ "$version" = "$pinned" ] && { echo "$here/kube"; return; }
    mkdir "$stage/kube"
    cp "$here/kube/main.go" "$stage/kube"
    "$here/kube/module.sh" "$version" >"$stage/kube/go.mod"
    (cd "$stage/kube" && go mod tidy >&2)
    echo "$stage/kube"
}

kube_flags() {
    local minor=${version#1.} package
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf -- '-X %s.gitVersion=v%s -X %s.gitMajor=1 -X %s.gitMinor=%s ' \
            $package "$version" $package $package "${minor%%.*}"
    done
}

build_helm() {
    local version
    version=$(sed -n 's/^\thelm.sh\/helm\/v3 \(v[^ ]*\).*/\1/p' "$here/helm/go.mod")
    build helm "$here/helm" helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$version"
}

build_cert-manager() {
    local module=$here/cert-manager sources
    build cert-manager "$module" . ""
    sources=$(go list -C "$module" -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)
    mkdir "$stage/bin/cert-manager-crds"
    cp --no-preserve=mode "$sources"/deploy/crds/*.yaml "$stage/bin/cert-manager-crds"
}

build_prometheus() { build prometheus-alerts "$here/prometheus" . ""; }

build_port-forward() { build port-forward "$here/port-forward" . ""; }

build_olm-validators() {
    local module=$here/olm-validators sources
    build olm-validators "$module" . ""
    sources=$(go list -C "$module" -m -f '{{.Dir}}' github.com/operator-framework/api)
    mkdir "$stage/bin/olm-crds"
    cp --no-preserve=mode "$sources"/crds/operators.coreos.com_clusterserviceversions.yaml "$stage/bin/olm-crds"
}

# Tests do without what this module builds, and say so.
optional=olm-validators

# The programs of the folder: the name of each, the module that builds it, and what it is called there.
programs='
etcd kube kube
kube-apiserver kube kube
kube-controller-manager kube kube
kubectl kube kube
helm helm helm
cert-manager cert-manager cert-manager
cert-manager-crds cert-manager cert-manager-crds
prometheus-alerts prometheus prometheus-alerts
port-forward port-forward port-forward
olm-validators olm-validators olm-validators
olm-crds olm-validators olm-crds
'

# Where what a module builds is kept. Of this file only how it builds counts.
kept() {
    local module=$1 inputs
    inputs=$(
        uname -m
        declare -f compile "build_$module"
        if [ "$module" = kube ]; then echo "$version"; declare -f kube_module kube_flags; fi
        find "$here/$module" -maxdepth 1 -type f | LC_ALL=C sort | xargs cat
    )
    echo "$cache/testbed-$module-$(sha256sum <<<"$inputs" | cut -c1-16)"
}

# The links of the folder: name and target.
links=
declare -A needed
while read -r name module file; do
    if [ -z "$name" ]; then continue; fi
    if given "$name"; then
        links+="$name $assets/$name"$'\n'
    else
        needed[$module]=${needed[$module]:-$(kept "$module")}
        links+="$name ${needed[$module]}/$file"$'\n'
    fi
done <<<"$programs"
folder="$cache/testbed-$(sha256sum <<<"$links" | cut -c1-16)"

is_whole() {
    local part
    for part in "$folder" "${needed[@]}"; do
        [ -d "$part" ] || return 1
    done
}

finish() {
    # What nobody has asked for in two weeks is of no more use.
    touch -c "$folder" "${needed[@]}"
    find "$cache" -maxdepth 1 -name 'testbed-*' -mtime +14 -exec rm -rf {} +
    echo "$folder"
    exit 0
}

if is_whole; then finish; fi
mkdir -p "$cache"
exec 9>"$cache/testbed.lock"
if ! flock --nonblock 9; then
    say "waiting for another build"
    flock 9
    if is_whole; then finish; fi
fi

# Nobody sees a folder before it is whole.
stage=$(mktemp -d "$cache/testbed-stage.XXXXXX")
trap 'rm -rf "$stage"' EXIT
for module in "${!needed[@]}"; do
    if [ ! -d "${needed[$module]}" ]; then
        mkdir "$stage/bin"
        if [ "$module" != "$optional" ]; then
            "build_$module"
        elif ! ("build_$module"); then
            say "$module: not built; the tests that ask it are skipped"
            rm -rf "$stage/bin"
            continue
        fi
        mv "$stage/bin" "${needed[$module]}"
    fi
done
mkdir "$stage/bin"
while read -r name target; do
    if [ -n "$name" ]; then ln -s "$target" "$stage/bin/$name"; fi
done <<<"$links"
rm -rf "$folder"
mv "$stage/bin" "$folder"
finish
