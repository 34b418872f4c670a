/* Lines of plans files: a head for each device, a comment for each spec, a line for each place. */
#include "cli/report/plans.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static void set(buffer *b, const buffer *to) {
    buffer_free(b);
    *b = (buffer){0};
    buffer_add(b, buffer_text(to));
}

/* A name as a driver gives it, without what means something in the file. */
static void add_name(buffer *out, const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        buffer_add_bytes(out, (unsigned char)*at < ' ' || *at == '|' ? " " : at, 1);
    if (*name == '\0')
        buffer_add(out, "unknown");
}

/* At most 15 digits, without an exponent, and '.' in any locale. */
static void add_decimal(buffer *out, double number, int decimals) {
    int64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    const int64_t all = (int64_t)(number * (double)scale + 0.5);
    buffer_printf(out, "%" PRId64, all / scale);
    if (decimals > 0)
        buffer_printf(out, ".%0*" PRId64, decimals, all % scale);
}

static void add_device(buffer *out, const sg_result *r) {
    static const double gib = 1073741824.0;
    const bool processor = strcmp(r->device, "cpu") == 0;
    buffer_add(out, processor ? "cpu " : "gpu ");
    add_name(out, r->device_name);
    if (processor) {
        buffer_printf(out, " cores=%d\n", r->multiprocessors);
        return;
    }
    buffer_printf(out, " %s multiprocessors=%d memory=", r->arch, r->multiprocessors);
    add_decimal(out, (double)r->memory / gib, 1);
    buffer_add(out, "GiB\n");
}

static void add_size(buffer *out, const sg_result *r) {
    for (int i = 0; i < r->size_count; i++)
        buffer_printf(out, "%s%" PRId64, i == 0 ? "" : "x", r->size[i]);
    if (r->steps > 1)
        buffer_printf(out, ", %" PRId64 " steps", r->steps);
}

/* 10^9 updates a second, or elements of a list, or entries of a matrix. */
static double rate_of(const sg_result *r) {
    enum { ENTRIES = 2 };
    double points = (double)r->steps;
    if (strcmp(r->family, "spmv") == 0 && r->size_count > ENTRIES)
        points *= (double)r->size[ENTRIES];
    else
        for (int i = 0; i < r->size_count; i++)
            points *= (double)r->size[i];
    return points / r->settled_seconds / 1e9;
}

/* What is too slow or too fast to be written so is not known. */
static void add_rate(buffer *out, double rate) {
    if (rate >= 100 && rate < 1e9)
        add_decimal(out, rate, 1);
    else if (rate >= 1e-4 && rate < 100)
        add_decimal(out, rate, 6);
    else
        buffer_add(out, "-");
}

static void write_best(plans *p) {
    if (p->line.length == 0)
        return;
    if (strcmp(buffer_text(&p->head), buffer_text(&p->device)) != 0) {
        buffer_printf(p->out, "%s%s", p->head.length > 0 ? "\n" : "", p->device.data);
        set(&p->head, &p->device);
        set(&p->name, &(buffer){0});
    }
    if (strcmp(buffer_text(&p->name), p->spec.data) != 0)
        buffer_printf(p->out, "\n# %s\n", p->spec.data);
    set(&p->name, &p->spec);
    buffer_add(p->out, p->line.data);
}

static void begin_place(plans *p, buffer *place, const sg_result *r) {
    write_best(p);
    set(&p->place, place);
    set(&p->device, &(buffer){0});
    add_device(&p->device, r);
    set(&p->line, &(buffer){0});
}

/* Plans of another version of the library may mean other kernels: no build takes them. */
void plans_result(plans *p, const sg_result *r) {
    if (strcmp(r->state, "right") != 0 || strcmp(r->generator, sg_version()) != 0)
        return;
    buffer place = {0};
    add_device(&place, r);
    buffer_printf(&place, "%s %s | any | ", r->family, r->key);
    add_size(&place, r);
    if (strcmp(buffer_text(&p->place), place.data) != 0)
        begin_place(p, &place, r);
    if (p->line.length == 0 || r->settled_seconds < p->best) {
        p->best = r->settled_seconds;
        set(&p->line, &(buffer){0});
        set(&p->spec, &(buffer){0});
        buffer_add(&p->spec, r->name);
        buffer_add(&p->line, strchr(place.data, '\n') + 1);
        buffer_add(&p->line, " | ");
        add_rate(&p->line, rate_of(r));
        buffer_printf(&p->line, " | %s\n", r->plan);
    }
    buffer_free(&place);
}

void plans_end(plans *p) {
    write_best(p);
    buffer *const all[] = {&p->head, &p->name, &p->device, &p->place, &p->spec, &p->line};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        buffer_free(all[i]);
}
