# For the tests of the command: a scratch folder, and checks of one run of the command.
. "$(dirname "$0")/../cases.sh"
cd "$SOURCE" || exit 1
folder=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
out=$folder/out
err=$folder/err

# exits CODE ARGUMENT…: runs the command, whose output is then in $out and $err.
exits() {
    wanted=$1
    shift
    "$STENCILGEN" "$@" >"$out" 2>"$err"
    code=$?
    [ "$code" = "$wanted" ] || flunk "exit code $code instead of $wanted: stencilgen $*: $(cat "$err")"
}

# says TEXT / reports TEXT: standard error / standard output holds the text.
says() {
    grep -qF -- "$1" "$err" || flunk "standard error does not say '$1': $(cat "$err")"
}

reports() {
    grep -qF -- "$1" "$out" || flunk "standard output does not say '$1': $(cat "$out")"
}

# Nothing was left in a folder but these files.
holds() {
    in=$1
    shift
    left=$(cd "$in" && find . -type f | sed 's|^\./||' | sort | tr '\n' ' ')
    [ "$left" = "$*${*:+ }" ] || flunk "$in holds '$left' instead of '$*'"
}
