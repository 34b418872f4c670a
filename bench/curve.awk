# Draws what bench/replay --curve prints: build/bench/replay --curve FILES | awk -f bench/curve.awk >search.svg
# Across: the share of a space's candidates that were measured, by its logarithm. Up: how many times as long as the
# best of all the best of them takes, the median over sweeps, and dashed what a tenth of the sweeps exceed.
BEGIN {
    width = 640; height = 360; left = 56; right = 16; top = 16; bottom = 44
    least = 1; most = 50; high = 1.3
    split("1 2 5 10 20 50", across, " ")
    split("1.00 1.05 1.10 1.15 1.20 1.25 1.30", up, " ")
    names[1] = "guided"; colour[1] = "#0063a6"; column[1] = 2
    names[2] = "random"; colour[2] = "#bf4b00"; column[2] = 4
}
function x(percent) {
    return left + (width - left - right) * log(percent / least) / log(most / least)
}
function y(ratio) {
    ratio = ratio < high ? ratio : high
    return height - bottom - (height - top - bottom) * (ratio - 1) / (high - 1)
}
function text(at_x, at_y, anchor, what) {
    printf "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>\n", at_x, at_y, anchor, what
}
function line(x1, y1, x2, y2, paint) {
    printf "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, paint
}
function curve(which, dashes,    i, path) {
    for (i = 1; i <= rows; i++)
        path = path sprintf("%s%.1f %.1f", i == 1 ? "M" : "L", x(value[i, 1]), y(value[i, which]))
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", path, colour[line_of],
           dashes ? " stroke-dasharray=\"5 4\"" : ""
}
$1 + 0 > 0 {
    rows++
    for (i = 1; i <= NF; i++)
        value[rows, i] = $i + 0
}
END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ", width, height, width, height
    print "font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    printf "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height
    for (i = 1; i in across; i++) {
        line(x(across[i]), top, x(across[i]), height - bottom, "#ddd")
        text(x(across[i]), height - bottom + 16, "middle", across[i] " %")
    }
    for (i = 1; i in up; i++) {
        line(left, y(up[i]), width - right, y(up[i]), "#ddd")
        text(left - 6, y(up[i]) + 4, "end", up[i])
    }
    line(left, y(1.03), width - right, y(1.03), "#333")
    text(left + 4, y(1.03) - 4, "start", "3 %")
    text((left + width - right) / 2, height - 8, "middle", "of the candidates measured")
    printf "<text x=\"14\" y=\"%.0f\" text-anchor=\"middle\" transform=\"rotate(-90 14 %.0f)\">best found / best of all</text>\n",
           (top + height - bottom) / 2, (top + height - bottom) / 2
    for (line_of = 1; line_of <= 2; line_of++) {
        curve(column[line_of], 0)
        curve(column[line_of] + 1, 1)
        line(width - 296, top + 16 * line_of, width - 266, top + 16 * line_of, colour[line_of])
        text(width - 260, top + 16 * line_of + 4, "start", names[line_of] ", median; dashed: a tenth is worse")
    }
    print "</svg>"
}
