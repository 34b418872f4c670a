/* What explain says of ranks: their parts, ghost cells, and what exchanges cost on each link. */
#include "cli/session.h"

#include <inttypes.h>
#include <string.h>

enum { LINKS = SG_LINK_HOST + 1, CHOICES = 5 };

static const char *const link_words[LINKS] = {"stores over NVLink", "NCCL over NVLink",
                                              "NCCL over 400 Gb/s", "MPI, host memory"};

/* The numbers of launches between two exchanges that are compared. */
static const int choices[CHOICES] = {1, 2, 4, 8, 16};

typedef struct outlook {
    int count;
    sg_team_part part[LINKS];
    sg_team_forecast links[LINKS];
    sg_team_forecast wider[LINKS][CHOICES]; /* seconds 0: parts are too thin */
} outlook;

static sg_status estimate(session *s, const char *spec, const sg_build_options *how, int count,
                          sg_link link, int launches, sg_team_part *part, sg_team_forecast *out) {
    const options *o = s->options;
    *part = (sg_team_part){.struct_size = sizeof *part, .launches = launches};
    for (int axis = 0; axis < o->rank_axes && o->rank_axes > 1; axis++)
        part->ranks[axis] = (int)o->ranks[axis];
    *out = (sg_team_forecast){.struct_size = sizeof *out};
    return sg_team_estimate(s->context, spec, how, count, link, part, out);
}

static int find_out(session *s, const char *spec, const sg_build_options *how, outlook *u) {
    int64_t count = 1;
    for (int axis = 0; axis < s->options->rank_axes; axis++)
        count *= s->options->ranks[axis];
    u->count = (int)count;
    if (count > 1 << 20)
        return complain(EXIT_USAGE, NULL, "--ranks: %" PRId64 " ranks are too many", count);
    for (int link = 0; link < LINKS; link++) {
        sg_team_part other;
        const int code =
            session_code(s, estimate(s, spec, how, u->count, link, (int)s->options->launches,
                                     &u->part[link], &u->links[link]));
        if (code != EXIT_DONE)
            return code;
        for (int i = 0; i < CHOICES && s->options->launches == 0 && u->part[link].steps == 1; i++)
            if (estimate(s, spec, how, u->count, link, choices[i], &other, &u->wider[link][i]) !=
                SG_OK)
                u->wider[link][i].seconds = 0;
    }
    return EXIT_DONE;
}

static double efficiency(const outlook *u, const sg_team_forecast *f) {
    return f->alone_seconds / f->seconds / u->count;
}

static const char *hiding(const sg_team_forecast *f, int64_t depth) {
    const double left = f->seconds - f->interior_seconds;
    if (f->messages == 0)
        return "nothing to exchange";
    if (!f->hidden)
        return "not hidden";
    return f->exchange_seconds > f->interior_seconds && left * (double)depth > 1e-5
               ? "hidden in part"
               : "hidden";
}

static const char *extents_of(const int64_t begin[3], const int64_t end[3], int dims) {
    int64_t own[3];
    for (int axis = 0; axis < 3; axis++)
        own[axis] = end[axis] - begin[axis];
    return in_extents(own, dims);
}

static void add_parts(const outlook *u, int dims, text *out) {
    const sg_team_part *p = &u->part[SG_LINK_STORES];
    const int64_t ranks[3] = {p->ranks[0], p->ranks[1], p->ranks[2]};
    const int64_t none[3] = {0};
    const char *own = extents_of(p->begin, p->end, dims);
    text_printf(
        out,
        "\n  ranks    %d (%s); a part between others has %s cell%s, with ghost cells %s; %s a "
        "launch\n",
        u->count, in_extents(ranks, dims), own, strcmp(own, "1") == 0 ? "" : "s",
        extents_of(none, p->size, dims), counted(p->steps, "step"));
    text_printf(out, "\n  %-19s %5s  %-17s %-19s %9s %9s  %s\n", "by", "every", "ghost cells",
                "sent by a rank", "interior", "exchange", "a step of all");
}

static void add_link(const outlook *u, int link, int dims, text *out) {
    const sg_team_part *p = &u->part[link];
    const sg_team_forecast *f = &u->links[link];
    const int64_t depth = p->steps * p->launches;
    text wide = new_text();
    for (int axis = 0; axis < dims; axis++)
        text_printf(&wide, "%s%" PRId64 "+%" PRId64, axis > 0 ? " " : "", p->low[axis],
                    p->high[axis]);
    text_printf(out, "  %-19s %5" PRId64 "  %-17s %-19s %9s %9s  %s, %.3f, %s\n", link_words[link],
                depth, wide.data,
                phrase("%s, %s", in_bytes((double)f->bytes), counted(f->messages, "message")),
                in_seconds(f->interior_seconds), in_seconds(f->exchange_seconds),
                in_seconds(f->seconds), efficiency(u, f), hiding(f, depth));
}

/* Wider ghost cells against fewer exchanges, where launches make one step. */
static void add_wider(const outlook *u, int link, text *out) {
    bool any = false;
    for (int i = 0; i < CHOICES; i++) {
        const sg_team_forecast *f = &u->wider[link][i];
        if (f->seconds <= 0)
            continue;
        if (!any)
            text_printf(out, "  %-19s", link_words[link]);
        text_printf(out, " %2d: %-9s", choices[i], in_seconds(f->seconds));
        any = true;
    }
    if (any)
        text_printf(out, " takes %d\n", u->part[link].launches);
}

static void add_text(const outlook *u, int dims, text *out) {
    add_parts(u, dims, out);
    for (int link = 0; link < LINKS; link++)
        add_link(u, link, dims, out);
    if (u->wider[0][0].seconds > 0) {
        text_add(out,
                 "\n  wider ghost cells: launches between two exchanges, and seconds a step\n");
        for (int link = 0; link < LINKS; link++)
            add_wider(u, link, out);
    }
    text_add(
        out,
        "\n  Every: steps between two exchanges. Times are a step's, by the planner and the model "
        "of links in\n  docs/scaling.md, then the efficiency; bench --ranks measures.\n");
}

static void add_json(const outlook *u, int dims, json *j) {
    const sg_team_part *p = &u->part[SG_LINK_STORES];
    const int64_t ranks[3] = {p->ranks[0], p->ranks[1], p->ranks[2]};
    json_add(j, "ranks { count %d grid %s part %s steps %" PRId64 " links [", u->count,
             in_extents(ranks, dims), extents_of(p->begin, p->end, dims), p->steps);
    for (int link = 0; link < LINKS; link++) {
        const sg_team_forecast *f = &u->links[link];
        json_add(j,
                 "{ link %s launches %d latency %g rate %g bytes %" PRId64
                 " messages %d alone_seconds %g "
                 "interior_seconds %g exchange_seconds %g seconds %g hidden %i efficiency %g",
                 link_words[link], u->part[link].launches, f->latency, f->rate, f->bytes,
                 f->messages, f->alone_seconds, f->interior_seconds, f->exchange_seconds,
                 f->seconds, f->hidden, efficiency(u, f));
        json_integers(j, "ghosts_below", u->part[link].low, dims);
        json_integers(j, "ghosts_above", u->part[link].high, dims);
        json_add(j, "wider [");
        for (int i = 0; i < CHOICES; i++)
            if (u->wider[link][i].seconds > 0)
                json_add(j, "{ launches %d seconds %g }", choices[i], u->wider[link][i].seconds);
        json_add(j, "] }");
    }
    json_add(j, "] }");
}

int explain_team(session *s, const char *spec, const sg_build_options *how, int dims, json *j,
                 text *out) {
    outlook u = {0};
    const int code = find_out(s, spec, how, &u);
    if (code != EXIT_DONE)
        return code;
    if (s->options->json)
        add_json(&u, dims, j);
    else
        add_text(&u, dims, out);
    return EXIT_DONE;
}
