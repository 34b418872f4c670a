# Small arrays for the tests of the command, whose bytes are made by hand.

# encode TYPE NUMBER…: numbers as little endian f4, f8, i4, i8 or u4 on standard output.
encode() {
    type=$1
    shift
    printf "$(echo "$@" | LC_ALL=C awk -v type="$type" '
        function whole(n, bytes,  i, byte, text) { # two complement by floor division
            for (i = 0; i < bytes; i++) {
                byte = n % 256
                if (byte < 0) byte += 256
                n = (n - byte) / 256
                text = text sprintf("\\%03o", byte)
            }
            return text
        }
        function real(n, bits,  bias, sign, e, m, limit, high) {
            bias = bits == 23 ? 127 : 1023
            limit = 2 ^ bits
            sign = 0
            if (n == "nan") { e = 2 * bias + 1; m = limit / 2 }
            else if (n == "inf" || n == "-inf") { e = 2 * bias + 1; m = 0; sign = n == "-inf" }
            else if (n + 0 == 0) { e = 0; m = 0; sign = n ~ /^-/ }
            else {
                n += 0
                if (n < 0) { sign = 1; n = -n }
                e = bias
                while (n >= 2) { n /= 2; e++ }
                while (n < 1) { n *= 2; e-- }
                m = int((n - 1) * limit + 0.5)
            }
            if (bits == 23)
                return whole(m + e * limit + (sign ? 2 ^ 31 : 0), 4)
            high = int(m / 2 ^ 32)
            return whole(m % 2 ^ 32, 4) whole(high + e * 2 ^ 20 + (sign ? 2 ^ 31 : 0), 4)
        }
        {
            for (i = 1; i <= NF; i++) {
                if (type == "f4") printf "%s", real($i, 23)
                else if (type == "f8") printf "%s", real($i, 52)
                else printf "%s", whole($i, substr(type, 2) + 0)
            }
        }')"
}

# npy TYPE FILE SHAPE NUMBER…: a .npy file with a header as NumPy pads it; SHAPE as in "5," or "2, 3".
npy() {
    type=$1
    file=$2
    shape=$3
    shift 3
    {
        printf '\223NUMPY\001\000\166\000'
        printf "%-117s\n" "{'descr': '<$type', 'fortran_order': False, 'shape': ($shape), }"
        encode "$type" "$@"
    } >"$file"
}

# list TYPE FILE NUMBER…: one of one dimension.
list() {
    type=$1
    file=$2
    shift 2
    npy "$type" "$file" "$#," "$@"
}

# same WANTED FILE: the bytes are equal.
same() {
    cmp -s "$1" "$2" || flunk "$2 is not as expected: $(od -An -tx1 -j128 "$2" | tr -s ' \n' ' ' | head -c 300)
        $(head -c 128 "$2" | tr -d '\000-\037' | head -c 80)"
}

# documented NAME…: docs/json.md has every key of $out but these.
documented() {
    for key in $(grep -o '"[A-Za-z_0-9.]*":' "$out" | sort -u | tr -d '":'); do
        case " $* " in
        *" $key "*) continue ;;
        esac
        grep -q "\`$key\`" docs/json.md || flunk "docs/json.md does not say what $key is"
    done
}
