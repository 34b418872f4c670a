/* The outputs of `run`: which file gets which array. They are opened before the work, so that a
   typing error does not cost it, and written after it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/files/arrays.h"

/* After a run the newest values of an inout field are where its current ones were read. */
static int newest(const arrays *a, int written) {
    const int reads = a->items[written].info.reads;
    return reads >= 0 ? reads : written;
}

/* ---- matching -------------------------------------------------------------------------------- */

int arrays_find_output(const arrays *a, const char *name) {
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *info = &a->items[i].info;
        if (!array_is_written(&a->items[i]))
            continue;
        if (strcmp(info->field, name) == 0 || strcmp(info->name, name) == 0)
            return newest(a, i);
        if (info->previous >= 0 && strcmp(a->items[info->previous].info.name, name) == 0)
            return info->previous;
    }
    return -1;
}

/* The item of an output that shows all components, by the name of these; −1. */
static int take_whole(const arrays *a, array_output *o, const char *whole) {
    const int first = arrays_find_output(a, components_name(whole, 1));
    if (first < 0)
        return -1;
    o->whole = whole;
    o->part = new_array((size_t)a->count, sizeof *o->part);
    for (int item = first; item >= 0 && o->parts < a->count;
         item = arrays_find_output(a, components_name(whole, o->parts + 1)))
        o->part[o->parts++] = item;
    return first;
}

/* The item of an output that names none: with all components, if the item is the first of them. */
static int take_all(const arrays *a, array_output *o, int item) {
    int number = 0;
    const char *whole = item >= 0 ? components_title(a->items[item].info.name, &number) : NULL;
    return number > 0 ? take_whole(a, o, whole) : item;
}

static bool is_further_component(const arrays *a, int item) {
    int number;
    components_title(a->items[item].info.name, &number);
    return number > 1;
}

/* The `skip`th written array, several components together, or −1. */
static int find_written(const arrays *a, bool is_values, int skip) {
    for (int i = 0; i < a->count; i++)
        if (array_is_written(&a->items[i]) && a->items[i].is_values == is_values &&
            !is_further_component(a, i) && skip-- == 0)
            return newest(a, i);
    return -1;
}

static int match_named(arrays *a) {
    const bindings *given = &a->session->options->outputs;
    int unnamed[2] = {0};
    for (int i = 0; i < given->count; i++) {
        const binding *b = &given->items[i];
        const char *option = b->is_values ? "--output-values" : "--output";
        const int code = datafile_judge_name(b->value, false);
        if (code != EXIT_DONE)
            return code;
        array_output *o = &a->outputs[a->output_count];
        o->item = b->name != NULL
                      ? arrays_find_output(a, b->name)
                      : take_all(a, o, find_written(a, b->is_values, unnamed[b->is_values]++));
        if (o->item < 0 && b->name != NULL)
            o->item = take_whole(a, o, b->name);
        if (o->item < 0 && b->name != NULL)
            return arrays_unknown(a, option, b->name, false);
        if (o->item < 0)
            return complain(EXIT_USAGE, a->spec, "%s %s is one more than %s writes: %s", option,
                            b->value, a->name, arrays_names(a, false));
        o->path = output_path(NULL, b->value, "");
        o->has_range = b->has_range;
        o->range = (pgm_scale){b->low, b->high};
        a->output_count++;
    }
    return EXIT_DONE;
}

static bool is_file(const char *path, const struct stat *file) {
    struct stat other;
    return path != NULL && stat(path, &other) == 0 && file->st_dev == other.st_dev &&
           file->st_ino == other.st_ino;
}

/* A default output must not replace an input. */
static int protect_inputs(const arrays *a, const char *path, const char *field) {
    struct stat there;
    if (stat(path, &there) != 0)
        return EXIT_DONE;
    for (int i = 0; i < a->count; i++)
        if (is_file(a->items[i].input, &there))
            return complain(EXIT_USAGE, path,
                            "the result would replace the input; name a file with --output "
                            "%s=FILE.npy",
                            field);
    return EXIT_DONE;
}

static int match_default(arrays *a) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++) {
        if (!array_is_written(&a->items[i]) || is_further_component(a, i))
            continue;
        int unused;
        const char *field = components_title(a->items[i].info.field, &unused);
        array_output *o = &a->outputs[a->output_count++];
        o->item = take_all(a, o, newest(a, i));
        o->path = output_path(a->session->options->folder, field, ".npy");
        code = protect_inputs(a, o->path, field);
    }
    return code;
}

int arrays_match_outputs(arrays *a) {
    const int given = a->session->options->outputs.count;
    a->outputs = new_array((size_t)(given + a->count), sizeof *a->outputs);
    if (given == 0 && !arrays_is(a, SG_KIND_REDUCE))
        return match_default(a);
    return match_named(a);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void describe(const arrays *a, const array_output *o, datafile_array *out) {
    arrays_describe(a, o->item, out);
    out->parts = o->parts;
    if (o->whole != NULL)
        out->name = o->whole;
}

/* Whether the file can hold its array. */
static int judge(const arrays *a, const array_output *o) {
    datafile_array about;
    describe(a, o, &about);
    if (!a->is_grid && datafile_kind_of(o->path) != DATAFILE_NPY)
        return complain(EXIT_USAGE, o->path, "%s of %s is no grid; give a .npy file", about.name,
                        a->name);
    return datafile_suits(o->path, &about);
}

int arrays_open_outputs(arrays *a) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->output_count && code == EXIT_DONE; i++)
        code = judge(a, &a->outputs[i]);
    for (int i = 0; i < a->output_count && code == EXIT_DONE; i++)
        code = output_begin(&a->outputs[i].file, &a->output_set, a->outputs[i].path);
    return code;
}

void arrays_close_outputs(arrays *a) {
    for (int i = 0; i < a->output_count; i++)
        output_drop(a->outputs[i].file);
}

/* ---- from the device ------------------------------------------------------------------------ */

int arrays_download(void *reading, uint64_t first, size_t count, void *out) {
    const array_reading *r = reading;
    if (r->whole != NULL)
        return components_download(r, first, count, out);
    const arrays *a = r->arrays;
    const size_t bytes = dtype_words[a->items[r->item].type].bytes;
    const char *from = (const char *)a->grids[r->item].data + first * bytes;
    return session_code(a->session, sg_download(a->session->context, out, from, count * bytes));
}

void arrays_describe(const arrays *a, int index, datafile_array *out) {
    const array *item = &a->items[index];
    *out = (datafile_array){
        .name = item->info.field, .type = item->type, .dims = item->dims, .maxval = a->maxval};
    memcpy(out->size, a->grids[index].size, sizeof out->size);
}

int arrays_find_nan(const arrays *a, bool began, int *item) {
    *item = -1;
    for (int i = 0; i < a->count && *item < 0; i++) {
        const sg_array_info *info = &a->items[i].info;
        const int at = info->reads >= 0 ? info->reads : i;
        if (info->role != SG_WRITE || (!began && info->reads < 0))
            continue;
        datafile_array about;
        values found;
        arrays_describe(a, at, &about);
        const int code =
            datafile_look(&about, arrays_download, &(array_reading){a, at, NULL}, &found);
        if (code != EXIT_DONE)
            return code;
        if (found.nan > 0 || found.infinite > 0)
            *item = i;
    }
    return EXIT_DONE;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static int save(arrays *a, array_output *o) {
    datafile_array about;
    describe(a, o, &about);
    about.scale = o->has_range   ? DATAFILE_SCALE_GIVEN
                  : a->has_image ? DATAFILE_SCALE_IMAGE
                                 : DATAFILE_SCALE_DATA;
    about.given = o->range;
    output *file = o->file;
    o->file = NULL;
    return datafile_write(file, o->path, &about, arrays_download,
                          &(array_reading){a, o->item, o->whole}, &o->written);
}

static const char *name_of(const arrays *a, const array_output *o) {
    return o->whole != NULL ? o->whole : a->items[o->item].info.name;
}

static void describe_text(const arrays *a, const array_output *o, text *out) {
    const datafile_written *w = &o->written;
    text_printf(out, "  output   %s: %s\n           %s\n", name_of(a, o), o->path,
                values_text(&w->values));
    if (!w->is_image)
        return;
    text_printf(out, "           %s .. %s -> 0..%d\n", element_text(DTYPE_DOUBLE, &w->scale.low),
                element_text(DTYPE_DOUBLE, &w->scale.high), a->maxval);
    if (w->values.nan > 0)
        warn(o->path, phrase("%" PRId64 " NaN %s written as black", w->values.nan,
                             w->values.nan == 1 ? "is" : "are"));
}

static void describe_json(const arrays *a, const array_output *o, json *j) {
    const datafile_written *w = &o->written;
    json_open(j, name_of(a, o), '{');
    values_json(&w->values, j);
    if (w->is_image)
        json_add(j, "black %g white %g", w->scale.low, w->scale.high);
    json_add(j, "}");
}

/* Whether an output writes this item. */
static bool arrays_is_shown(const arrays *a, int index) {
    for (int i = 0; i < a->output_count; i++) {
        const array_output *o = &a->outputs[i];
        if (o->item == index ||
            (o->whole != NULL && component_number(a->items[index].info.name, o->whole) > 0))
            return true;
    }
    return false;
}

static bool is_left_out(const arrays *a, int index) {
    return array_is_written(&a->items[index]) && !arrays_is_shown(a, newest(a, index));
}

/* One line for all components of a field that are left out. */
static void name_left_out(const arrays *a, int index, text *out) {
    int unused, before = 0, left = 0, all = 0;
    const char *field = a->items[index].info.field, *whole = components_title(field, &unused);
    for (int i = 0; i < a->count; i++) {
        if (!array_is_written(&a->items[i]) ||
            strcmp(components_title(a->items[i].info.field, &unused), whole) != 0)
            continue;
        all++;
        left += is_left_out(a, i);
        before += i < index && is_left_out(a, i);
    }
    const bool together = left > 1 || left == all;
    const char *some = left < all && together ? phrase("%d components ", left) : "";
    if (before == 0)
        text_printf(out, "  output   %s: %snot written; name a file with --output %s=FILE\n",
                    together ? whole : field, some, together ? whole : field);
}

/* Names the written fields without an --output. */
static void name_the_rest(const arrays *a, json *j, text *out) {
    json_add(j, "not_written [");
    for (int i = 0; i < a->count && !arrays_is(a, SG_KIND_REDUCE); i++)
        if (is_left_out(a, i)) {
            name_left_out(a, i, out);
            json_string(j, NULL, a->items[i].info.field);
        }
    json_add(j, "]");
}

const char *arrays_frame(const arrays *a, array_output *o, uint64_t *offset) {
    datafile_array about;
    text head = new_text(), tail = new_text();
    describe(a, o, &about);
    datafile_frame(o->path, &about, &head, &tail);
    *offset = head.length;
    const uint64_t end = head.length + datafile_file_bytes(o->path, &about);
    return output_write(o->file, head.data, head.length)
               ? output_stretch(o->file, end, tail.data, tail.length)
               : NULL;
}

/* Files that name others have no file any more: they were ended with these. */
static int commit(array_output *o) {
    output *file = o->file;
    if (file == NULL)
        return EXIT_DONE;
    o->file = NULL;
    return output_commit(file) ? EXIT_DONE : EXIT_DATA;
}

/* If one file cannot be written, the others still are. */
int arrays_save(arrays *a, bool has_elements, json *j, text *out) {
    int code = EXIT_DONE;
    json_add(j, "outputs {");
    for (int i = 0; i < a->output_count && (code == EXIT_DONE || code == EXIT_DATA); i++) {
        array_output *o = &a->outputs[i];
        const int now = has_elements ? commit(o) : save(a, o);
        o->saved = now == EXIT_DONE;
        code = first_failure(code, now);
        if (!o->saved)
            continue;
        json_string(j, name_of(a, o), o->path);
        describe_text(a, o, out);
    }
    json_add(j, "} values {");
    for (int i = 0; i < a->output_count; i++)
        if (a->outputs[i].saved)
            describe_json(a, &a->outputs[i], j);
    json_add(j, "}");
    name_the_rest(a, j, out);
    return code;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* In JSON a single result is a number, and results of segments are a list. */
static int print(arrays *a, int index, bool is_lone, json *j, text *out) {
    const array *item = &a->items[index];
    const uint64_t count = (uint64_t)a->grids[index].size[0];
    const size_t bytes = dtype_words[item->type].bytes;
    unsigned char *elements = must_alloc((size_t)count, bytes);
    const int code =
        count > 0 ? arrays_download(&(array_reading){a, index, NULL}, 0, (size_t)count, elements)
                  : EXIT_DONE;
    if (!is_lone)
        json_open(j, item->info.name, '[');
    for (uint64_t i = 0; i < count && code == EXIT_DONE; i++) {
        text_printf(out, "  %-8s %s\n", i == 0 ? item->info.name : "",
                    element_text(item->type, elements + i * bytes));
        element_json(j, is_lone ? item->info.name : NULL, item->type, elements + i * bytes);
    }
    if (!is_lone)
        json_add(j, "]");
    free(elements);
    return code;
}

int arrays_print(arrays *a, json *j, text *out) {
    int code = EXIT_DONE;
    for (int i = 0; i < a->count && code == EXIT_DONE; i++)
        if (array_is_written(&a->items[i]) && !arrays_is_shown(a, i))
            code = print(a, i, arrays_find(a, "offsets") < 0, j, out);
    return code;
}
