#!/bin/sh
# Makes a bare Debian 12 ready and builds stencilgen in build/. Takes: any of --test, --quick, --mpi,
# --ci. Installs what is missing, fetches NVRTC if there is none, configures and builds. Prints a line
# for each thing that it does.
set -eu
cd "$(dirname "$0")"

usage() {
    cat <<EOF
usage: ./setup.sh [--ci] [--mpi] [--test] [--quick]

Installs missing Debian packages (with sudo if the user is not root), builds stencilgen in build/,
and fetches NVRTC as a Python wheel into build/cuda/ if the machine has no CUDA toolkit. --test then
builds and runs all tests, --quick those with the label quick. --mpi installs Open MPI and builds the module by
which processes of MPI run one grid together; it is also built without --mpi where there is an MPI.
--ci and --test install Open MPI too, and --ci also what else .ci/run uses: clang for fuzzing and
debootstrap for a bare Debian. If they are not available, --ci and --test go on without them.
EOF
}

say() {
    printf 'setup: %s\n' "$*"
}

# Shows the output of a command only if it fails.
quietly() {
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    cat "$log" >&2
    rm -f "$log"
    return 1
}

install_packages() {
    if [ "$(id -u)" = 0 ]; then
        as_root=env
    elif command -v sudo >/dev/null 2>&1; then
        as_root='sudo env'
    else
        as_root=
    fi
    if [ -z "$as_root" ] || ! command -v apt-get >/dev/null 2>&1; then
        say "missing: $*; install what these Debian packages hold, as root, and run ./setup.sh again"
        return 1
    fi
    say "installing $*"
    quietly $as_root apt-get -qq update || say "apt-get update failed; going on with what it knows"
    quietly $as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@"
}

missing_packages() {
    for pair in cmake:cmake ninja:ninja-build pkg-config:pkg-config gcc:gcc g++:g++ \
        localedef:libc-bin; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || echo "${pair#*:}"
    done
    pkg-config --exists lua5.4 2>/dev/null || echo liblua5.4-dev
    pkg-config --exists libmd 2>/dev/null || echo libmd-dev
    pkg-config --exists sqlite3 2>/dev/null || echo libsqlite3-dev
    pkg-config --exists libpng 2>/dev/null || echo libpng-dev
    pkg-config --exists libxxhash 2>/dev/null || echo libxxhash-dev
    pkg-config --exists cmocka 2>/dev/null || echo libcmocka-dev
    [ -e /usr/include/stdio.h ] || echo libc6-dev
    [ -e /usr/share/i18n/charmaps ] || echo locales # what localedef makes a locale of
}

# What the tests of the Python package use; they are skipped without it.
install_for_python() {
    missing=$(for module in numpy scipy pytest; do
        python3 -c "import $module" 2>/dev/null || /usr/bin/python3 -c "import $module" 2>/dev/null ||
            echo "python3-$module"
    done)
    [ -z "$missing" ] || install_packages python3 $missing || say "the Python package will not be tested"
}

# Sets $mpi to yes where programs of MPI can be compiled and started.
look_for_mpi() {
    mpi=yes
    for program in mpicc mpirun; do
        command -v "$program" >/dev/null 2>&1 || mpi=no
    done
}

# What runs one grid as processes of MPI, and the tests of that, which are skipped without it.
install_mpi() {
    look_for_mpi
    [ "$mpi" = yes ] || install_packages libopenmpi-dev openmpi-bin
}

install_for_ci() {
    command -v clang-format >/dev/null 2>&1 || install_packages clang-format ||
        say "there is no clang-format: nobody looks at the format of C files"
    sh tests/able.sh fuzz >/dev/null || install_packages clang libclang-rt-dev ||
        say "there is no clang: nothing will be fuzzed"
    command -v debootstrap >/dev/null 2>&1 || install_packages debootstrap ||
        say "there is no debootstrap: the README's commands will not be tried in a bare Debian"
}

build() {
    look_for_mpi
    module=build/libstencilgen_mpi.so
    if [ ! -f build/build.ninja ] || { [ "$mpi" = yes ] && [ ! -e "$module" ]; }; then
        say "configuring build/"
        quietly cmake --preset release
    fi
    sources="CMakeLists.txt CMakePresets.json stencilgen.pc.in"
    sources="$sources base bench cli cmake examples gen matrix mpi plans python runtime specs templates tests"
    target=product
    [ "$ci$tests$quick" = nonono ] || target=all
    if [ ! -e build/built.$target ] || [ -n "$(find $sources -newer build/built.$target -print -quit)" ]; then
        say "building"
    fi
    quietly cmake --build --preset release --target $target
    touch build/built.$target
    [ "$with_mpi" = no ] || [ -e "$module" ] || {
        say "CMake finds no MPI for C, so there is no $module"
        return 1
    }
}

has_nvrtc() {
    build/stencilgen doctor | grep -q '^ok *NVRTC'
}

# NVRTC of the driver's CUDA version, so that the driver takes what it compiles.
wheels() {
    if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi 2>/dev/null | grep -q 'CUDA Version: 12'; then
        echo nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12
    else
        echo nvidia-cuda-nvrtc nvidia-cuda-runtime
    fi
}

fetch_nvrtc() {
    if [ ! -e build/cuda/tried ]; then
        mkdir -p build/cuda
        touch build/cuda/tried
        if ! python3 -m pip --version >/dev/null 2>&1; then
            install_packages python3 python3-pip 2>/dev/null || true
        fi
        say "fetching NVRTC into build/cuda/"
        python3 -m pip install --quiet --disable-pip-version-check --no-input --timeout 20 \
            --retries 1 --target build/cuda $(wheels) >build/cuda/log 2>&1 || true
    fi
    has_nvrtc || say "no NVRTC: all works but cubins; to have them, install a CUDA toolkit, or" \
        "remove build/cuda and run ./setup.sh again where PyPI can be reached"
}

# run_tests OPTION…: CTest's, of which tests to run.
run_tests() {
    ctest --preset release "$@" -j "$(nproc)" --output-junit "$PWD/build/tests.xml" \
        --test-output-size-passed 1000000 --test-output-size-failed 1000000
}

tests=no
quick=no
ci=no
with_mpi=no
for option in "$@"; do
    case $option in
    --test) tests=yes ;;
    --quick) quick=yes ;;
    --ci) ci=yes ;;
    --mpi) with_mpi=yes ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done

packages=$(missing_packages)
[ -z "$packages" ] || install_packages $packages
[ "$ci" = no ] || install_for_ci
[ "$tests" = no ] || install_for_python
if [ "$with_mpi" = yes ]; then
    install_mpi
elif [ "$ci$tests" != nono ]; then
    install_mpi || say "there is no MPI: teams of processes will not be tested"
fi
build
has_nvrtc || fetch_nvrtc
if [ "$tests" = yes ]; then
    run_tests
elif [ "$quick" = yes ]; then
    run_tests -L quick
fi
