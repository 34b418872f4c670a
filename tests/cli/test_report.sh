#!/bin/sh
# report: which results it shows, where the page goes, and what it says where there are none.
. "$(dirname "$0")/common.sh"
database=$folder/results.db
at="--database $database"

cat >"$folder/star.lua" <<'LUA'
return stencil {
  name = "star", shape = star(2, 1), coefficients = { 0.6, 0.1, 0.1, 0.1, 0.1 },
}
LUA
sed 's/0\.6/0.5/' "$folder/star.lua" >"$folder/other.lua"
sed 's/coefficients/schedule = { vector = 1 }, coefficients/' "$folder/star.lua" >"$folder/scheduled.lua"
echo 'return scan { name = "sums" }' >"$folder/sums.lua"
echo 'return reduce { name = "total", dtype = "float" }' >"$folder/total.lua"
echo 'return reduce { name = "total", dtype = "float", segmented = true }' >"$folder/segments.lua"
echo 'return { scan { name = "one" }, scan { name = "two" } }' >"$folder/both.lua"

fill() {
    "$FILL_RESULTS" "$database" "$@" || flunk "fill_results $*"
}

# holds_text TEXT / lacks TEXT: the page does.
holds_text() {
    grep -qF -- "$1" "$folder/page.html" || flunk "the page does not hold '$1'"
}
lacks() {
    ! grep -qF -- "$1" "$folder/page.html" || flunk "the page holds '$1'"
}

page() {
    exits 0 report "$@" $at -o "$folder/page.html"
}

begin 'where nothing was tuned it says what to do'
exits 2 report "$folder/star.lua" $at -o "$folder/page.html"
says 'there are no tuning results of star; make some with stencilgen tune'
[ ! -e "$folder/page.html" ] || flunk 'there is a page'
[ ! -e "$database" ] || flunk 'a database was made'

fill "$folder/star.lua" cuda 256x128 12
fill "$folder/star.lua" cuda 1024x512 12
fill "$folder/star.lua" cpu 64x32 3
fill "$folder/sums.lua" cuda 100000 4
fill "$folder/total.lua" cuda 100000 2

begin 'the size and the device that were asked for'
page "$folder/star.lua" --size 256x128
reports 'candidates of star at 256x128 on Example'
holds_text '<title>star, 256x128, Example &lt;&quot;GPU&quot;&gt; &amp; &#39;co&#39; &lt;/script&gt;</title>'
holds_text '<section id="roofline"'
holds_text '__global__' # of the source
lacks 'Its source could not be made'
cp "$folder/page.html" "$folder/first.html"
page "$folder/star.lua" --device cpu
holds_text '<title>star, 64x32,'
page "$folder/star.lua" # the last
holds_text '<title>star, 64x32,'
page "$folder/star.lua" --device cuda --size 1024x512
holds_text '<title>star, 1024x512,'
page "$folder/sums.lua"
lacks '<section id="roofline"' # a list has no operations a byte
holds_text '>copy</text>'

begin 'the same results make the same page, also under another schedule'
page "$folder/star.lua" --size 256x128
cmp -s "$folder/first.html" "$folder/page.html" || flunk 'the pages differ'
page "$folder/scheduled.lua" --size 256x128
holds_text '<title>star, 256x128,'

begin 'drift and finals are in it'
page "$folder/star.lua" --size 256x128
holds_text '<section id="drift"'
holds_text 'was timed again 1 time during the sweep'
holds_text 'after evaluation 8: '
holds_text 'by the finals, in turns with the 1 next'
[ "$(grep -c 'data-final="' "$folder/page.html")" = 2 ] || flunk 'not two took part in the finals'
page "$folder/total.lua"
lacks '<section id="drift"'

begin 'a spec that is called otherwise, or has other values of parameters, has its results'
sed 's/"star"/"renamed"/' "$folder/star.lua" >"$folder/renamed.lua"
page "$folder/renamed.lua" --size 256x128
holds_text '<title>renamed, 256x128,'

begin 'its numbers are those of the database'
page "$folder/star.lua" --size 256x128
grep -o 'data-seconds="[^"]*"' "$folder/page.html" | sed 's/.*="//; s/"//' | sort -g >"$folder/shown"
"$STENCILGEN" tune export star $at --size 256x128 >"$folder/export.json"
tr -d '\n' <"$folder/export.json" | grep -o '"name": *"time", *"value": *[^,]*' | sed 's/.*: *//' | sort -g >"$folder/kept"
[ "$(wc -l <"$folder/shown")" -ge 8 ] || flunk "there are $(wc -l <"$folder/shown") numbers"
paste "$folder/shown" "$folder/kept" | awk 'NF != 2 || $1 * 1000 / $2 - 1 > 1e-12 || 1 - $1 * 1000 / $2 > 1e-12 { bad = 1 } END { exit bad }' ||
    flunk "$(paste "$folder/shown" "$folder/kept")"

begin 'what was not tuned'
exits 2 report "$folder/star.lua" $at --size 32x32
says 'there are those of cuda 256x128 (12), cuda 1024x512 (12), cpu 64x32 (3); choose with --size'
exits 2 report "$folder/sums.lua" $at --device cpu
says 'there are those of cuda 100000'
exits 2 report "$folder/other.lua" $at
says 'of a spec of this name that computes something else'

exits 2 report "$folder/segments.lua" $at
says 'of a spec of this name that computes something else'

begin 'nothing that was right makes no page'
failures="--database $folder/failures.db"
SG_CXX=$folder/none SG_CACHE=$folder/cache "$STENCILGEN" tune "$folder/star.lua" --device cpu --size 100x100 \
    --evaluations 1 $failures >/dev/null 2>&1
[ $? = 4 ] || flunk 'a sweep without a compiler measured something'
exits 2 report "$folder/star.lua" $failures -o "$folder/failures.html"
says 'no tuning result of star at 100x100 on '
says ' was right, of 1; there is nothing to show ('
[ ! -e "$folder/failures.html" ] || flunk 'there is a page'

begin 'a number of steps that is given is meant'
exits 2 report "$folder/star.lua" $at --steps 4
says 'for this size and device'
page "$folder/star.lua" --steps 1

begin 'where the page goes'
mkdir "$folder/here" && cd "$folder/here" || exit 1
exits 0 report "$folder/star.lua" $at
holds "$folder/here" star.html
cd "$SOURCE" || exit 1
exits 3 report "$folder/star.lua" $at -o "$folder/nowhere/page.html"
says 'nowhere/page.html: error: cannot write'
exits 2 report "$folder/both.lua" $at -o "$folder/page.html"
says '-o names one file, but this one has 2 specs'

begin 'a page has the results of its own spec alone'
mkdir "$folder/pair" && cd "$folder/pair" || exit 1
echo 'return { scan { name = "sums" }, scan { name = "again" } }' >"$folder/pair.lua"
exits 0 report "$folder/pair.lua" $at
reports 'sums.html: 4 candidates of sums'
reports 'again.html: 4 candidates of again'
cd "$SOURCE" || exit 1

begin 'two pages that are one file do not replace each other'
echo 'return { scan { name = "sums" }, scan { name = "more" } }' >"$folder/twice.lua"
mkdir "$folder/twice" && cd "$folder/twice" || exit 1
ln -s sums.html more.html
exits 2 report "$folder/twice.lua" $at
says 'more.html: error: two outputs go to this file'
holds "$folder/twice" sums.html
cd "$SOURCE" || exit 1

begin 'usage'
exits 2 report $at
says 'no spec is given'
exits 2 report "$folder/star.lua" "$folder/sums.lua" $at
says 'one spec at a time'
exits 2 report "$folder/star.lua" --json
says '--json is no option of report'
exits 2 cache list $at
says '--database is no option of cache'
exits 2 report "$folder/none.lua" $at
says 'none.lua'
echo noise >"$folder/noise.db"
exits 3 report "$folder/star.lua" --database "$folder/noise.db"
says 'it is no database'

begin 'a page that would replace its spec'
cp "$folder/star.lua" "$folder/kept.lua"
exits 2 report "$folder/kept.lua" $at -o "$folder/kept.lua"
says 'kept.lua: error: this is the spec, which the output would replace'
cmp -s "$folder/star.lua" "$folder/kept.lua" || flunk 'the spec is gone'

begin 'rows that are not valid are passed over, and it says so'
if has sqlite3; then
    cp "$database" "$folder/rows.db"
    sqlite3 "$folder/rows.db" "UPDATE result SET median = 1e300 WHERE evaluation = 1" || flunk 'it was not changed'
    timeout 60 "$STENCILGEN" report "$folder/star.lua" --database "$folder/rows.db" -o "$folder/page.html" \
        >"$out" 2>"$err"
    code=$?
    [ $code = 0 ] || flunk "exit code $code: $(cat "$err")"
    says "stencilgen: warning: the database of tuning results $folder/rows.db has rows that are not valid"
fi
finish
