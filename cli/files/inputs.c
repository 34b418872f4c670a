/* Which file, or which expression, gives which array of `run` its content at the beginning. */
#include <string.h>

#include "cli/files/arrays.h"

static bool is_level(const array *a) {
    return strcmp(a->info.name, a->info.field) != 0; /* u.prev, u.next */
}

/* Whether a file may give its content at the beginning. */
static bool takes_input(const array *a) {
    return a->info.role == SG_READ || a->info.updated;
}

static const char *input_option(const array *a) {
    return a->is_values ? "--values" : "--input";
}

const char *arrays_names(const arrays *a, bool reads) {
    text known = new_text();
    if (reads && arrays_is(a, SG_KIND_PRODUCT))
        text_add(&known, "A");
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *info = &a->items[i].info;
        if (!(reads ? takes_input(&a->items[i]) : array_is_written(&a->items[i])))
            continue;
        int number, unused;
        const char *name = components_title(reads ? info->name : info->field, &number);
        if (number > 1)
            continue;
        text_printf(&known, "%s%s", known.length > 0 ? ", " : "", name);
        if (!reads && info->previous >= 0)
            text_printf(&known, ", %s",
                        components_title(a->items[info->previous].info.name, &unused));
    }
    return known.length > 0 ? known.data : "nothing";
}

int arrays_unknown(const arrays *a, const char *option, const char *name, bool reads) {
    return complain(EXIT_USAGE, a->spec, "%s '%s': %s %s %s", option, name, a->name,
                    reads ? "reads" : "writes", arrays_names(a, reads));
}

/* The array of an input: the one it names, or the next one without an input. */
static int find_input(const arrays *a, const binding *b) {
    for (int i = 0; i < a->count; i++) {
        const array *item = &a->items[i];
        if (b->name != NULL ? takes_input(item) && strcmp(item->info.name, b->name) == 0
                            : item->info.role == SG_READ && item->input == NULL &&
                                  !is_level(item) && item->is_values == b->is_values)
            return i;
    }
    return -1;
}

/* The component of an array that `b` names, or of the array of the item `at`; −1. */
static int find_component(const arrays *a, const binding *b, int at, int number) {
    int unused;
    const char *whole = b->name;
    if (whole == NULL && at >= 0)
        whole = components_title(a->items[at].info.name, &unused);
    if (whole == NULL || (b->name != NULL && at >= 0))
        return -1;
    return find_input(a, &(binding){.name = (char *)components_name(whole, number)});
}

static int match_components(arrays *a, const binding *b, int at) {
    int count = 0;
    while (find_component(a, b, at, count + 1) >= 0)
        count++;
    for (int number = 1; number <= count; number++) {
        array *item = &a->items[find_component(a, b, at, number)];
        if (array_is_given(item))
            return complain(EXIT_USAGE, a->spec, "--input %s is given twice", item->info.name);
        item->input = b->value;
        item->parts = count;
    }
    return datafile_judge_name(b->value, true);
}

static int match_input(arrays *a, const binding *b) {
    const char *option = b->is_values ? "--values" : "--input";
    const int at = find_input(a, b);
    if (a->is_grid && find_component(a, b, at, 1) >= 0)
        return match_components(a, b, at);
    if (at < 0 && b->name != NULL)
        return arrays_unknown(a, option, b->name, true);
    if (at < 0)
        return complain(EXIT_USAGE, a->spec, "%s %s is one more than %s reads: %s", option,
                        b->value, a->name, arrays_names(a, true));
    if (a->items[at].input != NULL)
        return complain(EXIT_USAGE, a->spec, "%s %s is given twice", option, b->name);
    a->items[at].input = b->value;
    return datafile_judge_name(b->value, true);
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), ending = strlen(end);
    return length >= ending && strcmp(text + length - ending, end) == 0;
}

/* The matrix is the input named A, or the first unnamed one whose file is a .mtx; else −1. */
static int matrix_input(const arrays *a) {
    const bindings *inputs = &a->session->options->inputs;
    int found = -1;
    for (int i = 0; i < inputs->count && arrays_is(a, SG_KIND_PRODUCT); i++) {
        const binding *b = &inputs->items[i];
        if (b->name != NULL && strcmp(b->name, "A") == 0)
            return i;
        if (b->name == NULL && found < 0 && ends_with(b->value, ".mtx"))
            found = i;
    }
    return found;
}

static int match_inputs(arrays *a) {
    const bindings *inputs = &a->session->options->inputs;
    const int matrix = matrix_input(a);
    if (matrix >= 0)
        a->matrix_path = inputs->items[matrix].value;
    else if (arrays_is(a, SG_KIND_PRODUCT))
        return complain(EXIT_USAGE, a->spec, "%s reads a matrix; give it with --input A=FILE.mtx",
                        a->name);
    for (int named = 1; named >= 0; named--)
        for (int i = 0; i < inputs->count; i++) {
            const binding *b = &inputs->items[i];
            if ((b->name != NULL) != named || i == matrix)
                continue;
            const int code = match_input(a, b);
            if (code != EXIT_DONE)
                return code;
        }
    return EXIT_DONE;
}

static int match_initials(arrays *a) {
    const bindings *given = &a->session->options->initials;
    if (given->count > 0 && !a->is_grid)
        return complain(EXIT_USAGE, a->spec, "--init: %s has lists; give them with --input",
                        a->name);
    for (int i = 0; i < given->count; i++) {
        const binding *b = &given->items[i];
        const int at = find_input(a, b);
        int item = at >= 0 ? at : find_component(a, b, at, 1);
        if (item < 0)
            return arrays_unknown(a, "--init", b->name, true);
        for (int number = 2; item >= 0; number++) {
            if (array_is_given(&a->items[item]))
                return complain(EXIT_USAGE, a->spec,
                                "--init %s is given twice, or --input has it too", b->name);
            a->items[item].init = b->value;
            item = find_component(a, b, at, number);
        }
    }
    return EXIT_DONE;
}

/* Whether steps change what the item holds: a level of an inout field that is read. */
static bool is_changed(const arrays *a, int index) {
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *w = &a->items[i].info;
        if (array_is_written(&a->items[i]) && (w->reads == index || w->previous == index))
            return true;
    }
    return false;
}

bool arrays_remains(const arrays *a, int index) {
    const array *item = &a->items[index];
    return is_changed(a, index) || (array_is_written(item) && item->info.reads < 0);
}

/* Fields may begin with an expression as well. */
static int complain_missing(const arrays *a, const array *item) {
    int unused;
    const char *name = components_title(item->info.name, &unused);
    const char *init = a->is_grid ? phrase(", or begin with --init %s=0", name) : "";
    return complain(EXIT_USAGE, a->spec, "%s reads %s; give it with %s %s=FILE.npy%s", a->name,
                    name, input_option(item), name, init);
}

/* With an --init, all other fields begin as 0, which is rarely meant for a speed or a density. */
static void warn_of_zeros(const arrays *a) {
    for (int i = 0; i < a->count; i++) {
        const array *item = &a->items[i];
        if (item->info.role == SG_READ && !is_changed(a, i) && !array_is_given(item))
            warn(a->spec, phrase("%s is 0 everywhere: no step changes it, and neither --input nor "
                                 "--init gives it",
                                 item->info.name));
    }
}

static int default_levels(arrays *a) {
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *w = &a->items[i].info;
        if (array_is_written(&a->items[i]) && w->previous >= 0 &&
            !array_is_given(&a->items[w->previous]))
            a->items[w->previous].copies = w->reads;
    }
    if (a->session->options->initials.count > 0) {
        warn_of_zeros(a);
        return EXIT_DONE;
    }
    for (int i = 0; i < a->count; i++) {
        const array *item = &a->items[i];
        if (item->info.role == SG_READ && item->input == NULL && item->copies < 0 &&
            !(a->session->options->restart != NULL && is_changed(a, i)))
            return complain_missing(a, item);
    }
    return EXIT_DONE;
}

/* The state of --restart has all that steps change. */
static int judge_restart(const arrays *a) {
    for (int i = 0, unused; i < a->count && a->session->options->restart != NULL; i++) {
        const array *item = &a->items[i];
        if (array_is_given(item) && is_changed(a, i))
            return complain(EXIT_USAGE, a->spec,
                            "%s %s: steps change it, and --restart has its values; leave one of "
                            "them out",
                            item->input != NULL ? "--input" : "--init",
                            components_title(item->info.name, &unused));
    }
    return EXIT_DONE;
}

int arrays_match(arrays *a) {
    int code = match_inputs(a);
    if (code == EXIT_DONE)
        code = match_initials(a);
    if (code == EXIT_DONE)
        code = judge_restart(a);
    if (code == EXIT_DONE)
        code = default_levels(a);
    return code == EXIT_DONE ? arrays_match_outputs(a) : code;
}
