#!/bin/sh
# A wheel of the package: `pip wheel .` builds it, it has what it needs and nothing else, and what is installed from it
# computes, finds the command, and finds an NVRTC among its neighbours. Takes: the stand-in for NVRTC. Exits with 77 where
# pip cannot get what it builds with.
. "$(dirname "$0")/cases.sh"
nvrtc=$(realpath "$1")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
unset STENCILGEN_LIBRARY PYTHONPATH VIRTUAL_ENV SG_NVRTC

unable() {
    echo "skipped: $*"
    exit 77
}

case " ${PARTS-wheel} " in
*' wheel '*) ;;
*) unable "PARTS has no wheel: $PARTS" ;;
esac

# The machine's own pip serves the environment, where it is new enough: to install one there takes 4 s of a core. Nothing
# is compiled ahead (--no-compile), since little of it runs.
pip="python3 -m pip --python $folder/venv/bin/python --disable-pip-version-check --no-input -q"
if ! python3 -m venv --without-pip "$folder/venv" >"$folder/log" 2>&1 || ! $pip --version >"$folder/log" 2>&1; then
    python3 -m venv --clear "$folder/venv" >"$folder/log" 2>&1 || unable 'python3 -m venv makes no environment here (python3-venv)'
    pip="$folder/venv/bin/pip --disable-pip-version-check --no-input -q"
fi
$pip install --no-compile --timeout 20 --retries 1 'scikit-build-core>=0.10' numpy >"$folder/log" 2>&1 ||
    unable "pip gets neither scikit-build-core nor NumPy here: $(tail -n 1 "$folder/log")"

begin 'pip builds a wheel' # unoptimised, which takes half the time; Debian 12's pip has no -C
mkdir "$folder/empty"
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-2} $pip wheel --no-build-isolation --no-deps \
    --config-settings=cmake.define.CMAKE_C_FLAGS_RELWITHDEBINFO=-O0 \
    -w "$folder/wheels" "$SOURCE" >"$folder/log" 2>&1 || {
    flunk "$(tail -n 20 "$folder/log")"
    finish
}
wheel=$(ls "$folder"/wheels/*.whl)
case $(basename "$wheel") in
stencilgen-*-py3-none-linux_*.whl) ;;
*) flunk "it is called $wheel" ;;
esac

begin 'pip installs it'
$pip install "$wheel" >"$folder/log" 2>&1 || flunk "$(cat "$folder/log")"
package=$(cd "$folder/empty" && "$folder/venv/bin/python" -c \
    'import stencilgen, os; print(os.path.dirname(stencilgen.__file__))')
[ -n "$package" ] || finish

begin 'the libraries that it needs are its own, or those of the C library'
for file in "$package"/lib/*.so* "$package/bin/stencilgen"; do
    strange=$(ldd "$file" | grep '=>' | grep -vE "=> $package/|/lib(c|m|dl|rt|pthread)\.so" | grep -v linux-vdso)
    [ -z "$strange" ] || flunk "$file: $strange"
done

begin 'it computes'
(cd "$folder/empty" && SG_CACHE=none SG_DATABASE=none "$folder/venv/bin/python" - "$SOURCE/specs/heat2d5.lua") <<'END' || flunk
import sys
import numpy as np
import stencilgen as sg
heat = sg.build(sys.argv[1], size=(32, 32), device="cpu")
assert np.allclose(heat.run(np.ones((32, 32), "float32"), steps=3), 1)
assert sg.__version__ == sg.version()
END

begin 'the command is there, by both names'
for command in "$folder/venv/bin/python -m stencilgen" "$folder/venv/bin/stencilgen"; do
    (cd "$folder/empty" && $command --version) >"$folder/log" 2>&1 || flunk "$command: $(cat "$folder/log")"
done

begin 'its types hold, and are those of programs that use it'
if $pip install --no-compile --timeout 20 --retries 1 mypy >/dev/null 2>&1; then
    printf '%s\n' 'import stencilgen as sg' 'context = sg.Context("cpu", cache="none")' 'wrong: int = context.info.name' \
        'where: sg.Part = sg.forecast(text="", ranks=2).part' >"$folder/empty/typed.py"
    (cd "$folder/empty" && "$folder/venv/bin/python" -m mypy --strict -p stencilgen) >"$folder/log" 2>&1 || flunk "$(cat "$folder/log")"
    (cd "$folder/empty" && "$folder/venv/bin/python" -m mypy --strict typed.py) >"$folder/log" 2>&1
    grep -q 'typed.py:3: error.*"str".*"int"' "$folder/log" && grep -q 'Found 1 error' "$folder/log" || flunk "$(cat "$folder/log")"
else
    skip 'pip gets no mypy here'
fi

# Nothing else finds NVRTC here: no toolkit, and a home without packages.
begin 'an NVRTC next to the package is found'
lib=$(dirname "$package")/nvidia/cuda_nvrtc/lib
mkdir -p "$lib" && cp "$nvrtc" "$lib/libnvrtc.so.12"
printf '%s\n' 'import stencilgen' 'print(*stencilgen.doctor(), sep="\n")' >"$folder/empty/doctor.py"
for command in "$folder/venv/bin/stencilgen doctor" "$folder/venv/bin/python doctor.py"; do
    (cd "$folder/empty" && env -u CUDA_PATH -u CUDA_HOME HOME="$folder/empty" $command) >"$folder/log" 2>&1
    # The command breaks what it says of a long path into lines.
    found=$(sed -n '/NVRTC/,/host compiler/p' "$folder/log" | tr -s '[:space:]' ' ')
    case $found in
    *'by the system'* | *'usual folder of the CUDA toolkit'* | *'among the system'*)
        skip 'the system has an NVRTC, which comes first'
        break
        ;;
    *'among the Python packages next to stencilgen'*) ;;
    *) flunk "$command: $(cat "$folder/log")" ;;
    esac
done

begin 'auditwheel gives it a manylinux tag'
if [ -x "$(command -v auditwheel)" ] || $pip install --no-compile --timeout 20 --retries 1 auditwheel >/dev/null 2>&1; then
    PATH="$folder/venv/bin:$PATH" auditwheel show "$wheel" >"$folder/log" 2>&1 || flunk "$(cat "$folder/log")"
    grep -q 'manylinux_2_[0-9]*_' "$folder/log" || flunk "$(cat "$folder/log")"
else
    skip 'pip gets no auditwheel here'
fi
finish
