#!/usr/bin/env bash
# Builds the programs of the test bed and prints the folder that holds them: etcd, kube-apiserver,
# kube-controller-manager, kubectl and helm. They are kept outside the tree, under a key of what they are built from.
#
#   testbed/build.sh            Kubernetes of the version in testbed/kube/go.mod
#   testbed/build.sh 1.36.3     another version
#
# Programs in the folder that KUBEBUILDER_ASSETS names are taken from there; only what it lacks is built. A first build
# takes about ten minutes on two cores. Its progress goes to standard error.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${GATEWARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gateward}
assets=${KUBEBUILDER_ASSETS:+$(cd "$KUBEBUILDER_ASSETS" && pwd)}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false" GOWORK=off CGO_ENABLED=0

pinned=$(sed -n 's/^\tk8s.io\/kubernetes v//p' "$here/kube/go.mod")
version=${1:-$pinned}
helm_version=$(sed -n 's/^\thelm.sh\/helm\/v3 \(v[^ ]*\).*/\1/p' "$here/helm/go.mod")

say() { printf 'testbed: %s\n' "$*" >&2; }

given() { [ -n "$assets" ] && [ -x "$assets/$1" ]; }

inputs() {
    echo "$version $(uname -m)"
    cat "$here"/build.sh "$here"/kube/{main.go,module.sh,go.mod,go.sum} "$here"/helm/go.{mod,sum}
    for program in etcd kube-apiserver kube-controller-manager kubectl helm; do
        if given $program; then echo "$assets/$program"; fi
    done
}

folder="$cache/testbed-$(inputs | sha256sum | cut -c1-16)"

finish() {
    # What nobody has asked for in two weeks is of no more use.
    touch "$folder"
    find "$cache" -maxdepth 1 -name 'testbed-*' -mtime +14 -exec rm -rf {} +
    echo "$folder"
    exit 0
}

[ -d "$folder" ] && finish
mkdir -p "$cache"
exec 9>"$cache/testbed.lock"
if ! flock --nonblock 9; then
    say "waiting for another build"
    flock 9
    [ -d "$folder" ] && finish
fi

# Nobody sees the folder before it is whole.
stage=$(mktemp -d "$cache/testbed-stage.XXXXXX")
trap 'rm -rf "$stage"' EXIT

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

# Builds one program: its name in the folder, the module's folder, the package, what the linker is to write into it.
build() {
    local name=$1 module=$2 package=$3 flags=$4
    if ! command -v go >/dev/null; then
        say "$name is built with Go, of at least the version in testbed/helm/go.mod; or name it in KUBEBUILDER_ASSETS"
        exit 1
    fi
    # Counting the packages fetches the modules.
    step "fetching the sources of $name" " modules" packages "$module" "$package"
    step "building $name" " of at most $(wc -l <"$stage/packages") packages" \
        go build -C "$module" -v -trimpath -ldflags "-s -w $flags" -o "$stage/bin/$name" "$package"
}

packages() { go list -C "$1" -deps "$2" >"$stage/packages"; }

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

mkdir "$stage/bin"
for program in etcd kube-apiserver kube-controller-manager kubectl; do
    if given $program; then
        ln -s "$assets/$program" "$stage/bin/$program"
    else
        ln -s kube "$stage/bin/$program"
        missing="${missing:-} $program"
    fi
done
if [ -n "${missing:-}" ]; then
    say "builds$missing of Kubernetes $version; this is done once"
    module=$(kube_module)
    build kube "$module" . "$(kube_flags)"
fi
if given helm; then
    ln -s "$assets/helm" "$stage/bin/helm"
else
    build helm "$here/helm" helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$helm_version"
fi
mv "$stage/bin" "$folder"
finish
