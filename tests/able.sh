#!/bin/sh
# Whether this machine can build and run what a preset makes. Takes: fuzz or thread. Makes: nothing,
# or a sentence that says what is missing, and fails.
set -u
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT

case ${1-} in
fuzz)
    command -v clang >/dev/null 2>&1 || {
        echo "there is no clang; install Debian's packages clang and libclang-rt-dev"
        exit 1
    }
    echo 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b == 0 && n > 0; }' \
        >"$place/a.c"
    clang -fsanitize=fuzzer,address,undefined "$place/a.c" -o "$place/a" >"$place/log" 2>&1 &&
        "$place/a" -runs=1 >>"$place/log" 2>&1 && exit 0
    echo "clang has no libFuzzer that works; install Debian's package libclang-rt-dev"
    ;;
thread)
    echo 'int main(void) { return 0; }' >"$place/a.c"
    cc -fsanitize=thread "$place/a.c" -o "$place/a" >"$place/log" 2>&1 &&
        setarch -R "$place/a" >>"$place/log" 2>&1 && exit 0
    echo "programs with ThreadSanitizer do not run here"
    ;;
*)
    echo "usage: able.sh fuzz|thread"
    exit 2
    ;;
esac
cat "$place/log"
exit 1
