# For the tests of the examples: a scratch folder, and checks of one run of a program.
. "$(dirname "$0")/../cases.sh"
EXAMPLES=${EXAMPLES:-$SOURCE/build/examples}
SPOILED=${SPOILED:-$SOURCE/build/tests/spoiled}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cd "$folder" || exit 1
SG_CACHE=$folder/cache # empty, and none of the user's
export SG_CACHE

# exits CODE PROGRAM ARGUMENT…: runs it; its output is then in the files out and err.
exits() {
    wanted=$1
    shift
    "$@" >out 2>err
    code=$?
    [ "$code" = "$wanted" ] || flunk "exit code $code instead of $wanted: $*: $(cat out err)"
}

# says TEXT / prints TEXT: standard error / standard output holds the text.
says() {
    grep -qF -- "$1" err || flunk "standard error does not say '$1': $(cat err)"
}

prints() {
    grep -qF -- "$1" out || flunk "standard output does not hold '$1': $(cat out)"
}

# below NUMBER LIMIT WHAT: the number is there, and not above the limit.
below() {
    awk -v a="${1:-none}" -v b="$2" 'BEGIN { exit !(a ~ /^-?[0-9]/ && (a < 0 ? -a : a) + 0 <= b + 0) }' ||
        flunk "$3 is ${1:-missing}, more than $2: $(cat out)"
}

# refuses NAME ARGUMENT…: a bad command line shows the usage, says what is bad, and ends with 2.
refuses() {
    exits 2 "$@"
    says "usage: ${1##*/}"
    [ ! -s out ] || flunk "it printed $(cat out)"
}

# What every example does with options.
options() {
    begin "$1: --help shows the usage"
    exits 0 "$EXAMPLES/$1" --help
    prints "usage: $1"
    begin "$1: bad options are refused"
    refuses "$EXAMPLES/$1" --colour blue
    says "unknown option '--colour'"
    refuses "$EXAMPLES/$1" --size
    says "bad or missing value of '--size'"
    refuses "$EXAMPLES/$1" --size many
    refuses "$EXAMPLES/$1" --size 0x0x0x0
    refuses "$EXAMPLES/$1" --size 99999999999999999999
    refuses "$EXAMPLES/$1" --steps -5
    refuses "$EXAMPLES/$1" --steps 5x
    refuses "$EXAMPLES/$1" extra
}

# Refusals of the library appear in its own words.
failures() {
    begin "$1: an unknown device is an error"
    exits 1 "$EXAMPLES/$1" --device abacus
    says "$1: error: unknown device 'abacus'"
    begin "$1: a GPU that is not there is an error"
    SG_CUDA_DRIVER=none exits 1 "$EXAMPLES/$1" --device cuda
    says "$1: error: "
    begin "$1: a compiler that is not there is an error"
    SG_CXX="$folder/nothing" SG_CACHE=none exits 1 "$EXAMPLES/$1" --device cpu
    says "$1: error: "
}
