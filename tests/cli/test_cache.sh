#!/bin/sh
# `stencilgen cache`: what runs leave in the cache, how it is listed, verified and cleared; and that
# nothing that is wrong with it changes what a run does.
. "$(dirname "$0")/common.sh"
cache=$folder/cache
export SG_CACHE="$cache"
unset XDG_CACHE_HOME
spec=$folder/probe.lua
cat >"$spec" <<'EOF'
return stencil { name = "probe", shape = star(2, 1), coefficients = { 1, 1, 1, 1, 1 } }
EOF

# The run that everything is about. Its report says what was compiled, or found.
use() {
    exits 0 "$spec" --device cpu --size 16x16 -o "$folder"
    reports 'check    right'
}

# entries NUMBER: so many files are in the cache, and nothing else.
entries() {
    count=$(cd "$cache" && find . -type f | wc -l)
    [ "$count" -eq "$1" ] || flunk "there are $count files instead of $1 in the cache: $(ls "$cache")"
    exits 0 cache list
    reports "$cache: $1 entr"
}

# There is one of the kernel for a GPU, and one of that for the processor: the same one each time.
host_entry() {
    find "$cache" -name '*.so' | sort | head -n 1
}

begin 'an empty cache'
exits 0 cache list
reports "$cache: 0 entries, 0 B of at most 537 MB"
exits 0 cache verify
exits 0 cache clear
reports "$cache: 0 entries, 0 B removed"
[ ! -e "$cache" ] || flunk 'looking at the cache made it'

begin 'a run fills it, and the next one uses it'
use
[ -e "$(host_entry)" ] || flunk "nothing was kept: $(ls "$cache")"
exits 0 cache list
reports 'probe, host object for sm_90, '
number=$(find "$cache" -type f | wc -l)
entries "$number"
before=$(stat -c %i "$(host_entry)")
touch -d '2 days ago' "$cache"/*
use
entries "$number"
[ "$before" = "$(stat -c %i "$(host_entry)")" ] || flunk 'it was compiled again'
[ -z "$(find "$cache" -name '*.so' -mtime +1)" ] || flunk 'it was not marked as used'
[ "$(stat -c %a "$cache" "$(host_entry)" | tr '\n' ' ')" = '700 600 ' ] ||
    flunk 'others may look at it'

begin 'verify'
exits 0 cache verify
reports 'all of them are whole'
printf X | dd of="$(host_entry)" bs=1 seek=500 conv=notrunc 2>/dev/null
exits 0 cache list
exits 1 cache verify
says "$(host_entry): error: it is damaged: its checksum is not that of its content"
exits 1 cache verify --json
reports '"trouble": "it is damaged: its checksum is not that of its content"'
reports '"exit": 1'
[ -e "$(host_entry)" ] || flunk 'verify removed it'

begin 'a damaged entry is compiled anew'
use
exits 0 cache verify
reports 'all of them are whole'
: >"$(host_entry)"
exits 0 cache list
reports 'not used: it is too short to be an entry'
use
exits 0 cache verify

begin 'list in JSON'
exits 0 cache list --json
for key in '"command": "cache"' '"action": "list"' "\"folder\": \"$cache\"" '"trouble": null' \
    '"most_bytes": 536870912' '"text": "probe, host object for sm_90, ' '"used": ' '"exit": 0' \
    "\"file\": \"$(basename "$(host_entry)")\""; do
    reports "$key"
done
begin 'the JSON is JSON'
if has python3; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$out" || flunk 'it is not JSON'
fi

begin 'clear removes entries, and nothing else'
echo mine >"$cache/notes"
bytes=$(cat "$cache"/*.so "$cache"/*.cubin 2>/dev/null | wc -c)
exits 0 cache clear --json
reports "\"removed\": $number,"
reports "\"removed_bytes\": $bytes,"
holds "$cache" notes
exits 0 cache clear
reports "$cache: 0 entries, 0 B removed"
rm "$cache/notes"
use
entries "$number"
exits 0 cache clear
reports " entr"
reports " removed"

begin 'without a cache'
SG_CACHE=none
use
exits 0 cache list
reports 'there is no cache: it is switched off by SG_CACHE'
exits 0 cache verify
exits 0 cache clear
reports 'there is no cache: it is switched off by SG_CACHE'
exits 0 doctor
reports 'cache            it is switched off by SG_CACHE'
holds "$cache"

begin 'an empty environment'
env -i SG_CACHE=none SG_DATABASE=none "$STENCILGEN" "$spec" --device cpu --size 16x16 -o "$folder" >"$out" 2>"$err" ||
    flunk "exit code $?: $(cat "$err")"
reports 'check    right'

begin 'where the user has it'
unset SG_CACHE
mkdir "$folder/home" "$folder/xdg"
XDG_CACHE_HOME=$folder/xdg HOME=$folder/home use
[ -d "$folder/xdg/stencilgen" ] || flunk 'XDG_CACHE_HOME was ignored'
HOME=$folder/home use
[ -d "$folder/home/.cache/stencilgen" ] || flunk 'HOME was ignored'
HOME=$folder/home
export HOME
exits 0 doctor
reports "$folder/home/.cache/stencilgen"
reports "in the home folder, $number entr"

begin 'a folder that cannot be trusted, or made'
SG_CACHE=$folder/open
export SG_CACHE
mkdir -m 777 "$SG_CACHE"
chmod 777 "$SG_CACHE"
use
holds "$SG_CACHE"
exits 0 cache list
reports 'nothing is stored there: others may write to it; chmod go-w cures that'
exits 3 cache clear
says "$SG_CACHE: error: the cache cannot be cleared: others may write to it"
exits 0 doctor
reports '-    cache'
SG_CACHE=$spec/cache
use
exits 0 cache list
reports 'Not a directory'

begin 'its word'
exits 2 cache
says 'cache takes one word: list, verify or clear'
exits 2 cache list clear
exits 2 cache lst
says "cache 'lst': list, verify or clear is needed; did you mean list?"
exits 2 cache list --device cpu
says '--device is no option of cache'
exits 0 cache --help
finish
