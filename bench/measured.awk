# Writes the lines of stencils of a plans file (docs/tuning.md), from what bench/stencils has measured.
# Takes: JSON files of it, with rows of many steps and of one, of sweeps and of `auto`. Makes: lines on standard output;
# the head, which names the GPU, and the lines of lists are written by hand.
#   awk -f bench/measured.awk sweep.json … >h100.plans
#   awk -v word=weights -f bench/measured.awk distinct.json …     of weights of which no two are alike
# For each shape, precision and size it keeps the plans within a twelfth of the best (a fiftieth for one
# step a launch), and those that the model thinks as good as the best, so that the planner learns that
# they are not. What it keeps at one size it keeps at all, because rates of one size correct the others. If a kernel was measured twice, the faster figure counts: a GPU may be throttled, but is
# never too fast.

function field(name,    at, rest) {
    at = index($0, "\"" name "\": ")
    if (at == 0)
        return ""
    rest = substr($0, at + length(name) + 4)
    if (substr(rest, 1, 1) == "\"") {
        rest = substr(rest, 2)
        return substr(rest, 1, index(rest, "\"") - 1)
    }
    if (substr(rest, 1, 1) == "[")
        return substr(rest, 2, index(rest, "]") - 2)
    match(rest, /^[^,}]*/)
    return substr(rest, 1, RLENGTH)
}

BEGIN {
    split("1d3 1d5 1d7 2d5 2d9 2d9box 2d13 2d17 2d25box 2d49box 3d7 3d13 3d19 3d19cube 3d25 3d27 3d125box", names)
    split("3 5 7 5 9 9 13 17 25 49 7 13 19 19 25 27 125", points)
    split("1 2 3 1 2 1 3 4 2 3 1 2 3 1 4 1 2", radius)
    for (i in names)
        number[names[i]] = i
}

/^  "stencilgen": |^  "stencilgen"/ {
    version = field("stencilgen")
    device = field("device")
}

/"state": "right"/ {
    plan = field("plan")
    one = field("part") == "one-step"
    if (plan !~ (one ? "^(streamed|bulk) " : "^(temporal|resident) "))
        next
    group = field("part") SUBSEP field("shape") SUBSEP field("dtype") SUBSEP field("size")
    key = group SUBSEP plan
    rate = field("points") / 1e9
    if (!(key in rates)) {
        order[++count] = key
        groups[key] = group
        share[key] = one ? 0.98 : 0.92
        plans[key] = plan
    }
    if (rate > rates[key])
        rates[key] = rate
    if (rate > best[group])
        best[group] = rate
    # The model's rate, in updates a second: points over its seconds for a step.
    expected[key] = field("points") * field("seconds") / field("estimated_seconds") / 1e9
}

# Whether a plan is worth a line at its own size.
function is_good(key) {
    return rates[key] >= share[key] * best[groups[key]] || expected[key] >= best[groups[key]]
}

# A plan at any size.
function everywhere(key,    part) {
    split(key, part, SUBSEP)
    return part[1] SUBSEP part[2] SUBSEP part[3] SUBSEP plans[key]
}

END {
    for (i = 1; i <= count; i++)
        if (is_good(order[i]))
            good[everywhere(order[i])] = 1
    printf "# Stencils: written by bench/measured.awk from runs of bench/stencils, stencilgen %s on %s.\n", version, device
    for (i = 1; i <= count; i++) {
        key = order[i]
        group = groups[key]
        if (!(everywhere(key) in good))
            continue
        split(group, part, SUBSEP)
        shape = part[2]
        n = number[shape]
        split(part[4], size, ", *")
        extent = size[1]
        for (axis = 2; axis <= substr(shape, 1, 1); axis++)
            extent = extent "x" size[axis]
        printf "stencil %dD %d %s radius %d | %s | %s | %.1f | %s\n", substr(shape, 1, 1), points[n],
            word == "" ? "points" : word, radius[n], part[3], extent, rates[key], plans[key]
    }
}
