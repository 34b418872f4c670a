/* Lines of plans files: a head for each device, a comment for each spec, a line for each place. */
#include "cli/report/plans.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static void set(text *t, const char *to) {
    *t = new_text();
    text_add(t, to);
}

/* A name as a driver gives it, without what means something in the file. */
static void add_name(text *out, const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        text_add_bytes(out, (unsigned char)*at < ' ' || *at == '|' ? " " : at, 1);
    if (*name == '\0')
        text_add(out, "unknown");
}

/* At most 15 digits, without an exponent, and '.' in any locale. */
static void add_decimal(text *out, double number, int decimals) {
    int64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    const int64_t all = (int64_t)(number * (double)scale + 0.5);
    text_printf(out, "%" PRId64, all / scale);
    if (decimals > 0)
        text_printf(out, ".%0*" PRId64, decimals, all % scale);
}

static void add_device(text *out, const sg_result *r) {
    static const double gib = 1073741824.0;
    const bool processor = strcmp(r->device, "cpu") == 0;
    text_add(out, processor ? "cpu " : "gpu ");
    add_name(out, r->device_name);
    if (processor) {
        text_printf(out, " cores=%d\n", r->multiprocessors);
        return;
    }
    text_printf(out, " %s multiprocessors=%d memory=", r->arch, r->multiprocessors);
    add_decimal(out, (double)r->memory / gib, 1);
    text_add(out, "GiB\n");
}

static void add_size(text *out, const sg_result *r) {
    for (int i = 0; i < r->size_count; i++)
        text_printf(out, "%s%" PRId64, i == 0 ? "" : "x", r->size[i]);
    if (r->steps > 1)
        text_printf(out, ", %" PRId64 " steps", r->steps);
}

/* 10^9 updates a second, or elements of a list, or entries of a matrix. */
static double rate_of(const sg_result *r) {
    enum { ENTRIES = 2 };
    double points = (double)r->steps;
    if (r->kind == SG_KIND_PRODUCT && r->size_count > ENTRIES)
        points *= (double)r->size[ENTRIES];
    else
        for (int i = 0; i < r->size_count; i++)
            points *= (double)r->size[i];
    return points / r->settled_seconds / 1e9;
}

/* What is too slow or too fast to be written so is not known. */
static void add_rate(text *out, double rate) {
    if (rate >= 100 && rate < 1e9)
        add_decimal(out, rate, 1);
    else if (rate >= 1e-4 && rate < 100)
        add_decimal(out, rate, 6);
    else
        text_add(out, "-");
}

static void write_best(plans *p) {
    if (p->line.length == 0)
        return;
    if (strcmp(p->head.data, p->device.data) != 0) {
        text_printf(p->out, "%s%s", p->head.length > 0 ? "\n" : "", p->device.data);
        set(&p->head, p->device.data);
        p->name = new_text();
    }
    if (strcmp(p->name.data, p->spec.data) != 0)
        text_printf(p->out, "\n# %s\n", p->spec.data);
    set(&p->name, p->spec.data);
    text_add(p->out, p->line.data);
}

static void begin_place(plans *p, text *place, const sg_result *r) {
    write_best(p);
    set(&p->place, place->data);
    p->device = new_text();
    add_device(&p->device, r);
    p->line = new_text();
}

void plans_begin(plans *p, text *out) {
    const text none = new_text();
    *p = (plans){out, none, none, none, none, none, none, 0};
}

/* Plans of another version of the library may mean other kernels: no build takes them. */
void plans_result(plans *p, const sg_result *r) {
    if (strcmp(r->state, "right") != 0 || strcmp(r->generator, sg_version()) != 0)
        return;
    text place = new_text();
    add_device(&place, r);
    text_printf(&place, "%s %s | any | ", r->family, r->key);
    add_size(&place, r);
    if (strcmp(p->place.data, place.data) != 0)
        begin_place(p, &place, r);
    if (p->line.length == 0 || r->settled_seconds < p->best) {
        p->best = r->settled_seconds;
        p->line = new_text();
        p->spec = new_text();
        text_add(&p->spec, r->name);
        text_add(&p->line, strchr(place.data, '\n') + 1);
        text_add(&p->line, " | ");
        add_rate(&p->line, rate_of(r));
        text_printf(&p->line, " | %s\n", r->plan);
    }
}

void plans_end(plans *p) {
    write_best(p);
}
