# Recorded sweeps for bench/replay (bench/sweeps.h says how they are written), from reports of
# bench/stencils and bench/primitives of a sweep: awk -f bench/sweeps.awk 3d.json reduce.json
# and of exhaustive sweeps of the command: stencilgen tune SPEC --search exhaustive --json
# Plans that were refused, left out or wrong do not count; of a plan measured twice the faster time counts. Sweeps of
# fewer than five plans are left out: there is nothing to search.
function field(name,    at, rest) {
    at = index($0, "\"" name "\": ")
    if (at == 0)
        return ""
    rest = substr($0, at + length(name) + 4)
    if (substr(rest, 1, 1) == "\"")
        return substr(rest, 2, index(substr(rest, 2), "\"") - 1)
    if (substr(rest, 1, 1) == "[") {
        rest = substr(rest, 2, index(rest, "]") - 2)
        gsub(/, /, "x", rest)
        return rest
    }
    sub(/[,}].*/, "", rest)
    return rest == "null" ? "" : rest
}
function join_words(a, b) {
    return b == "" ? a : a " " b
}
# Reports of the command have a line for each member; the usual plan is the first evaluation.
function add_tuned() {
    if (!(name in usual)) {
        names[++sweeps] = name
        usual[name] = plan
    }
    plans[name, ++count[name]] = plan
    seconds[name, plan] = time
    estimate[name, plan] = field("estimated_seconds") + 0
}
/"size": \[$/ {
    in_size = 1
    size = ""
    next
}
in_size && /\]/ {
    in_size = 0
}
in_size {
    gsub(/[ ,]/, "")
    size = size == "" ? $0 : size "x" $0
}
/^ *"name": / {
    named = field("name")
}
/^ *"steps": / {
    name = "tune " named " " size " " field("steps")
}
/^ *"plan": / {
    plan = field("plan")
}
/^ *"state": / {
    state = field("state")
}
/^ *"seconds": / {
    time = field("seconds") + 0
}
/^ *"estimated_seconds": / && state == "right" {
    add_tuned()
}
index($0, "\"state\": \"right\"") > 0 && field("plan") != "" {
    if (field("by") != "" && field("by") != "stencilgen")
        next
    name = join_words(field("part"), field("shape") field("kind"))
    name = join_words(join_words(name, field("dtype")), field("size"))
    name = join_words(join_words(name, field("steps")), field("timing"))
    plan = field("plan")
    if (!(name in usual)) {
        if (field("method") != "auto")
            next
        names[++sweeps] = name
        usual[name] = plan
    }
    if (!((name, plan) in seconds))
        plans[name, ++count[name]] = plan
    else if (seconds[name, plan] <= field("seconds") + 0)
        next
    seconds[name, plan] = field("seconds") + 0
    estimate[name, plan] = field("estimated_seconds") + 0
}
END {
    for (i = 1; i <= sweeps; i++) {
        if (count[names[i]] < 5)
            continue
        print "sweep " names[i]
        for (k = 1; k <= count[names[i]]; k++) {
            plan = plans[names[i], k]
            printf "%.5g %.5g %s\n", seconds[names[i], plan], estimate[names[i], plan], plan
        }
    }
}
