# Writes the table of measured rates that the planner reads, from what bench/stencils has measured.
# Takes: JSON files of it, with rows of many steps and of one, of sweeps and of `auto`. Makes: C on standard output.
#   awk -f bench/measured.awk sweep.json … >gen/stencil/measured_rates.c
# Of each shape, precision and size it keeps what comes within a twelfth of the best (a fiftieth where
# a launch makes one step), and what the model takes to be as good as the best, so that the planner
# learns that it is not. Of a kernel that was measured twice the faster figure counts: a GPU may be
# throttled, but is never too fast.

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
    split("1d3 1d5 1d7 2d5 2d9 2d9box 3d7 3d13 3d27", names)
    split("3 5 7 5 9 9 7 13 27", points)
    split("1 2 3 1 2 1 1 2 1", radius)
    for (i in names)
        number[names[i]] = i
}

/^  "stencilgen": |^  "stencilgen"/ {
    version = field("stencilgen")
    device = field("device")
    arch = field("arch")
}

/"state": "right"/ {
    plan = field("plan")
    one = field("part") == "one-step"
    if (plan !~ (one ? "^streamed " : "^(temporal|resident) "))
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

END {
    print "/* What kernels of several steps were measured at. Written by bench/measured.awk from runs of"
    printf "   bench/stencils: stencilgen %s on %s. */\n", version, device
    print "#include \"gen/stencil/measured.h\"\n\n/* clang-format off */\nconst measured_rate measured_rates[] = {"
    for (i = 1; i <= count; i++) {
        key = order[i]
        group = groups[key]
        if (rates[key] < share[key] * best[group] && expected[key] < best[group])
            continue
        split(group, part, SUBSEP)
        shape = part[2]
        n = number[shape]
        split(part[4], size, ", *")
        for (axis = 1; axis <= 3; axis++)
            if (axis > substr(shape, 1, 1))
                size[axis] = 1
        printf "    {\"%s\", %d, %d, %d, DTYPE_%s, \"%s\", {%d, %d, %d}, %.1f},\n", arch,
            substr(shape, 1, 1), points[n], radius[n], part[3] == "float" ? "FLOAT" : "DOUBLE",
            plans[key], size[1], size[2], size[3], rates[key]
    }
    print "};\n/* clang-format on */\nconst int measured_rate_count = sizeof measured_rates / sizeof measured_rates[0];"
}
