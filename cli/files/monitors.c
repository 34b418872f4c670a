#include "cli/files/records.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ_TOGETHER = 8 };

/* ---- matching -------------------------------------------------------------------------------- */

/* The op of a monitor of the kernel; NULL with an error. */
static const char *find_op(const monitors *m, const sg_kernel *kernel, const char *option,
                           const char *name) {
    text known = new_text();
    const int count = m->arrays->info.monitors;
    for (int i = 0; i < count; i++) {
        sg_monitor_info info = {.struct_size = sizeof info};
        if (sg_kernel_monitor(kernel, i, &info) != SG_OK)
            break;
        if (strcmp(info.name, name) == 0)
            return info.op;
        text_printf(&known, "%s%s", i > 0 ? ", " : "", info.name);
    }
    complain(EXIT_USAGE, m->arrays->spec, "%s '%s': %s has %s%s", option, name, m->arrays->name,
             count > 0 ? "the monitors " : "no monitors", known.data);
    return NULL;
}

static int find(const monitors *m, const char *name) {
    int i = 0;
    while (i < m->count && strcmp(m->list[i].name, name) != 0)
        i++;
    return i < m->count ? i : -1;
}

static int add(monitors *m, const sg_kernel *kernel, const char *option, const char *name,
               const char *path) {
    const char *op = find_op(m, kernel, option, name);
    if (op == NULL)
        return EXIT_USAGE;
    if (find(m, name) >= 0)
        return complain(EXIT_USAGE, m->arrays->spec, "%s %s is given twice", option, name);
    m->list = longer_list(m->list, m->count, sizeof *m->list);
    m->list[m->count++] = (monitored){.name = name, .op = op, .path = path};
    if (path == NULL)
        return EXIT_DONE;
    if (datafile_kind_of(path) != DATAFILE_NPY)
        return complain(EXIT_USAGE, path, "samples of a monitor are no grid; give a .npy file");
    return datafile_judge_name(path, false);
}

/* NAME<NUMBER, and the other relations. */
static int read_until(monitors *m, const sg_kernel *kernel) {
    const char *given = m->arrays->session->options->until;
    if (given == NULL)
        return EXIT_DONE;
    const char *begin = given + strspn(given, " ");
    const size_t length = strcspn(begin, "<>");
    const bool equal = begin[length] != '\0' && begin[length + 1] == '=';
    const char *number = begin + length + (begin[length] != '\0') + equal;
    char *end, *name = new_copy(begin);
    m->limit = strtod(number, &end);
    end += strspn(end, " ");
    for (name[length] = '\0'; length > 0 && name[strlen(name) - 1] == ' ';)
        name[strlen(name) - 1] = '\0';
    if (begin[length] == '\0' || end == number || *end != '\0' || isnan(m->limit) || *name == '\0')
        return complain(EXIT_USAGE, NULL,
                        "--until '%s': a monitor, a relation and a number are needed, as in "
                        "'r<1e-8'; relations are <, <=, > and >=",
                        given);
    m->relation = begin[length] == '<' ? (equal ? 'l' : '<') : (equal ? 'g' : '>');
    m->until = find(m, name);
    if (m->until >= 0)
        return EXIT_DONE;
    m->until = m->count;
    return add(m, kernel, "--until", name, NULL);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void make_room(const monitors *m, monitored *one) {
    const options *o = m->arrays->session->options;
    const int64_t most = o->steps / options_every(o, EVERY_MONITOR);
    one->steps = must_alloc((size_t)most + 1, sizeof *one->steps);
    one->values = must_alloc((size_t)most + 1, sizeof *one->values);
}

sg_build_options monitors_map(const monitored *one, const sg_build_options *how) {
    sg_build_options own = *how;
    own.monitor = one->name;
    own.schedule = NULL; /* that of the options is the update's */
    return own;
}

int monitors_prepare(monitors *m, arrays *a, const sg_kernel *kernel, bool writes) {
    const bindings *given = &a->session->options->monitors;
    int code = EXIT_DONE;
    *m = (monitors){.arrays = a, .until = -1};
    for (int i = 0; i < given->count && code == EXIT_DONE; i++) {
        const binding *b = &given->items[i];
        code = add(m, kernel, "--monitor", b->name,
                   b->value[0] != '\0' ? output_path(NULL, b->value, "") : NULL);
    }
    if (code == EXIT_DONE)
        code = read_until(m, kernel);
    for (int i = 0; i < m->count && code == EXIT_DONE; i++) {
        make_room(m, &m->list[i]);
        if (m->list[i].path != NULL && writes)
            code = output_begin(&m->list[i].file, &a->output_set, m->list[i].path);
    }
    return code;
}

int monitors_open(monitors *m, arrays *a, const sg_kernel *kernel, const sg_build_options *how) {
    int code = monitors_prepare(m, a, kernel, true);
    for (int i = 0; i < m->count && code == EXIT_DONE; i++) {
        monitored *one = &m->list[i];
        const sg_build_options own = monitors_map(one, how);
        code = session_build(a->session, a->spec, &own, &one->map);
        if (code == EXIT_DONE)
            code =
                session_code(a->session, sg_monitor_open(kernel, one->map, a->size, &one->monitor));
    }
    return code;
}

void monitors_close(monitors *m) {
    for (int i = 0; i < m->count; i++) {
        sg_monitor_close(m->list[i].monitor);
        sg_release(m->list[i].map);
        output_drop(m->list[i].file);
        free(m->list[i].steps);
        free(m->list[i].values);
    }
}

/* ---- sampling -------------------------------------------------------------------------------- */

bool monitors_hold(const monitors *m, double value) {
    return m->relation == '<'   ? value < m->limit
           : m->relation == 'l' ? value <= m->limit
           : m->relation == '>' ? value > m->limit
                                : value >= m->limit;
}

static int read_one(monitors *m, int index) {
    monitored *one = &m->list[index];
    int taken = 0;
    const int code = session_code(m->arrays->session,
                                  sg_monitor_read(one->monitor, one->steps + one->count,
                                                  one->values + one->count, one->waiting, &taken));
    for (int i = one->count; i < one->count + taken && index == m->until && !m->ended; i++)
        if (monitors_hold(m, one->values[i])) {
            m->ended = true;
            m->ended_step = one->steps[i];
        }
    one->count += taken;
    one->waiting -= taken;
    return code;
}

int monitors_sample(monitors *m, const sg_arguments *arguments, int64_t made) {
    int code = EXIT_DONE;
    sg_arguments now = *arguments;
    now.step = made;
    if (m->count == 0 || made % options_every(m->arrays->session->options, EVERY_MONITOR) != 0)
        return EXIT_DONE;
    for (int i = 0; i < m->count && code == EXIT_DONE; i++) {
        code = session_code(m->arrays->session, sg_monitor_sample(m->list[i].monitor, &now, NULL));
        m->list[i].waiting++;
        if (code == EXIT_DONE && m->list[i].waiting == READ_TOGETHER)
            code = read_one(m, i);
    }
    return code;
}

int monitors_read(monitors *m) {
    int code = EXIT_DONE;
    for (int i = 0; i < m->count && code == EXIT_DONE; i++)
        code = read_one(m, i);
    return code;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int save(monitored *one) {
    const int64_t size[NPY_DIMS] = {one->count, 1, 1};
    text head = new_text();
    output *file = one->file;
    one->file = NULL;
    npy_header(&head, DTYPE_DOUBLE, 1, size);
    if (!output_write(file, head.data, head.length)) {
        output_drop(file);
        return EXIT_DATA;
    }
    return output_finish(file, one->values, (size_t)one->count * sizeof *one->values) ? EXIT_DONE
                                                                                      : EXIT_DATA;
}

static void describe(const monitored *one, json *j, text *out) {
    const int last = one->count - 1;
    json_open(j, one->name, '{');
    json_add(j, "op %s samples %d", one->op, one->count);
    if (last >= 0) {
        json_add(j, "step %" PRId64, one->steps[last]);
        element_json(j, "value", DTYPE_DOUBLE, &one->values[last]);
    }
    json_string(j, "file", one->path);
    json_add(j, "}");
    text_printf(out, "  monitor  %s: ", one->name);
    if (last >= 0)
        text_printf(out, "%s after step %" PRId64 ", ",
                    element_text(DTYPE_DOUBLE, &one->values[last]), one->steps[last]);
    text_printf(out, "%s%s%s\n", counted(one->count, "sample"), one->path != NULL ? " in " : "",
                one->path != NULL ? one->path : "");
}

int monitors_save(monitors *m, json *j, text *out) {
    int code = EXIT_DONE;
    json_add(j, "monitors {");
    for (int i = 0; i < m->count; i++) {
        const int now = m->list[i].file != NULL ? save(&m->list[i]) : EXIT_DONE;
        code = first_failure(code, now);
        if (now == EXIT_DONE)
            describe(&m->list[i], j, out);
    }
    json_add(j, "}");
    const char *until = m->arrays->session->options->until;
    if (until != NULL && m->ended) {
        json_add(j, "until { condition %s step %" PRId64 " }", until, m->ended_step);
        text_printf(out, "  until    %s: since step %" PRId64 "\n", until, m->ended_step);
    } else if (until != NULL) {
        json_add(j, "until { condition %s step %+d }", until, -1);
        text_printf(out, "  until    %s: at no sample\n", until);
    }
    return code;
}
