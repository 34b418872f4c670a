#!/bin/sh
# report in a browser: that its pages open without an error, fit a phone and a screen, can be read in light and in
# dark, show what the pointer is at, and fetch nothing. Needs Chromium.
. "$(dirname "$0")/common.sh"
browser=
for name in ${CHROMIUM-chromium chromium-browser google-chrome}; do
    [ -n "$browser" ] || browser=$(command -v "$name")
done
if [ -z "$browser" ]; then
    echo 'there is no Chromium here'
    exit 77
fi
alone=
[ "$(id -u)" != 0 ] || alone=--no-sandbox # which root cannot have

# browse FLAG… URL: the page's elements as they end up, in $out; messages, the console's too, in $err.
browse() {
    HOME=$folder timeout 60 "$browser" --headless=new $alone --disable-gpu --disable-extensions --no-first-run \
        --user-data-dir="$folder/profile" --allow-file-access-from-files --enable-logging=stderr --dump-dom "$@" \
        >"$out" 2>"$err" || flunk "$browser failed: $(tail -3 "$err")"
}

console_is_silent() {
    ! grep -F ':CONSOLE' "$err" >"$folder/console" || flunk "$(cat "$folder/console")"
}

echo 'return scan { name = "sums" }' >"$folder/sums.lua"
cp specs/heat2d5.lua "$folder"
"$FILL_RESULTS" "$folder/db" specs/heat13.lua cuda 128x128x128 10 &&
    "$FILL_RESULTS" "$folder/db" specs/heat13.lua cuda 512x512x512 150 &&
    "$FILL_RESULTS" "$folder/db" "$folder/sums.lua" cuda 1000000 80 || exit 1
begin 'pages are made'
exits 0 report specs/heat13.lua --database "$folder/db" -o "$folder/grid.html"
exits 0 report "$folder/sums.lua" --database "$folder/db" -o "$folder/list.html"
url=file://$SOURCE/tests/browser/look.html?$folder/grid.html,$folder/list.html
right=$(grep -o 'data-seconds=' "$folder/grid.html" | wc -l)

# looked_well SCHEME: both pages, at both widths.
looked_well() {
    ! grep '^bad: ' "$out" >"$folder/bad" || flunk "$(head -5 "$folder/bad")"
    [ "$(grep -c "looked at .*, $1\$" "$out")" = 4 ] || flunk "$(grep 'looked at' "$out")"
    grep -q "looked at grid.html at 360: $right times" "$out" || flunk "$right times: $(grep 'looked at' "$out")"
    console_is_silent
}

begin 'in light'
browse --blink-settings=preferredColorScheme=1 "$url"
looked_well light

begin 'in dark'
browse --blink-settings=preferredColorScheme=0 "$url"
looked_well dark

begin 'without scripts the pictures and their titles are there'
sed '/^<script>/,/^<\/script>/d' "$folder/list.html" >"$folder/still.html"
browse "file://$folder/still.html"
[ "$(grep -c '<g class="m' "$out")" -ge 80 ] || flunk 'there are no marks'
[ "$(grep -o '<g class="m[^>]*>' "$out" | wc -l)" = "$(grep -o '<g class="m[^>]*><title>' "$out" | wc -l)" ] ||
    flunk 'there are marks without a title'

begin 'what is wrong with a page is seen'
sed 's|</main>|<p style="width:500px;color:#888">wide</p></main><script>nothing()</script>|' "$folder/list.html" >"$folder/bad.html"
browse "file://$SOURCE/tests/browser/look.html?$folder/bad.html"
for what in 'at 360: it is 5' 'over the edge: wide' 'text has a contrast of 3.5'; do
    grep -q "^bad: bad.html.*$what" "$out" || flunk "nobody said '$what': $(grep bad: "$out")"
done
grep -q ':CONSOLE.*nothing is not defined' "$err" || flunk 'the console was not heard'
finish
