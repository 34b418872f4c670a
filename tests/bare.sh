#!/bin/sh
# The README's two commands in a bare Debian 12, which debootstrap makes and which is removed again.
# Takes: the folder for the log and CTest's JUnit file; --all to run all tests, else those with the label bare;
# TMPDIR, below which the root is made. Exits with 0 where all went well, 1 where something failed,
# and 77, with a line that says why, where this machine cannot make such a root. Needs root.
set -u
suite=
if [ "${1-}" = --all ]; then
    suite=--test
    shift
fi
[ $# = 1 ] || {
    echo 'usage: bare.sh [--all] FOLDER'
    exit 2
}
mkdir -p "$1" && folder=$(cd "$1" && pwd) || exit 1
cd "$(dirname "$0")/.." || exit 1
release=bookworm

unable() {
    echo "$*"
    exit 77
}

[ "$(id -u)" = 0 ] || unable 'a root is made by root alone'
for program in debootstrap apt-get chroot mount unshare; do
    command -v "$program" >/dev/null 2>&1 || unable "there is no $program"
done
place=$(mktemp -d) || exit 1
trap 'trap "" INT TERM; rm -rf --one-file-system "$place"' EXIT
trap 'exit 1' INT TERM
root=$place/root
# What is mounted in a namespace of its own is gone with it, whatever happens.
mkdir "$place/proc"
unshare --mount mount -t proc proc "$place/proc" 2>/dev/null || unable 'a root can have no /proc here'

# The mirror that this machine's apt uses; debootstrap has one of its own where it uses none.
mirror() {
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' \
        2>/dev/null | awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }'
}

# copy FILE…: those that exist, to the same place in the root.
copy() {
    for file in "$@"; do
        [ -e "$file" ] || continue
        mkdir -p "$root$(dirname "$file")"
        cp -RL "$file" "$root$(dirname "$file")/"
    done
}

# The way to the packages, as this machine goes it: names, proxies, certificates, pip's index.
copy_network() {
    copy /etc/resolv.conf /etc/hosts /etc/pip.conf /root/.config/pip/pip.conf \
        /usr/local/share/ca-certificates /etc/ssl/certs/ca-certificates.crt
    apt-config dump | grep -E '^Acquire::(http|https|Check-[A-Za-z-]*|Retries)(::|[ ])' \
        >"$root/etc/apt/apt.conf.d/90network"
}

# The checkout without what git ignores.
copy_sources() {
    mkdir "$root/src"
    git ls-files -z --cached --others --exclude-standard >"$place/files" 2>/dev/null ||
        find . -path './build*' -prune -o -path ./.git -prune -o -type f -print0 >"$place/files"
    tar --null --ignore-failed-read -T "$place/files" -cf - 2>/dev/null |
        tar --no-same-owner -C "$root/src" -xf -
    [ -x "$root/src/setup.sh" ]
}

# inside COMMAND: in the root's /src, with the few variables that pip and apt go by.
inside() {
    command=$1
    env | grep -iE '^(https?_proxy|no_proxy|pip_[a-z_]*)=' >"$place/environment"
    set --
    while IFS= read -r line; do
        set -- "$@" "$line"
    done <"$place/environment"
    unshare --mount sh -c '
        root=$1
        command=$2
        shift 2
        mount -t proc proc "$root/proc" || exit 1
        mount -t sysfs sysfs "$root/sys" 2>/dev/null # MPI looks there for cores, and complains
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" 2>/dev/null &&
            mount --bind "$root/dev/pts/ptmx" "$root/dev/ptmx"
        exec chroot "$root" "$@" sh -c "cd /src && $command"
    ' sh "$root" "$command" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

rm -f "$folder/tests.xml"
timeout 600 debootstrap --variant=minbase "$release" "$root" $(mirror) >"$folder/log" 2>&1 ||
    unable "debootstrap made no $release: $(grep -E '^[EW]:' "$folder/log" | tail -n 1)"
copy_network
copy_sources || {
    echo 'the checkout could not be copied'
    exit 1
}
echo 'in a bare Debian: ./setup.sh && build/stencilgen specs/heat13.lua'
inside './setup.sh && build/stencilgen specs/heat13.lua' || exit 1
tests='cmake --build --preset release --target bare >build/log || { cat build/log; exit 1; }
ctest --preset release -L bare -j $(nproc) --output-junit /src/build/tests.xml'
[ -z "$suite" ] || tests="./setup.sh $suite"
echo "in a bare Debian: $tests"
# A kernel that several tests ask for is compiled once there; none comes from outside.
inside "mkdir /kernels && export QUICK_KERNELS=/kernels && $tests"
code=$?
cp "$root/src/build/tests.xml" "$folder/tests.xml" || exit 1
[ "$code" = 0 ]
