/* The arrays and the steps of a kernel, for the tests of the gallery; see gallery.h. */
#include "gallery.h"

static void must(const gallery *g, sg_status status) {
    if (status != SG_OK)
        fail_msg("%s", sg_error(g->context));
}

void gallery_open(gallery *g, const char *file) {
    const char *source = getenv("SOURCE");
    const char *device = getenv("GALLERY_DEVICE");
    const sg_options options = {
        .struct_size = sizeof options, .device = device != NULL ? device : "cpu", .threads = 1};
    sg_kernel_info info = {.struct_size = sizeof info};
    char path[4096];
    memset(g, 0, sizeof *g);
    snprintf(path, sizeof path, "%s/%s", source != NULL ? source : ".", file);
    must(g, sg_open(&g->context, &options));
    must(g, sg_build(g->context, path, NULL, &g->kernel));
    must(g, sg_kernel_facts(g->kernel, &info));
    assert_in_range(info.arrays, 1, GALLERY_ARRAYS);
    assert_in_range(info.parameters, 0, GALLERY_PARAMETERS);
    g->array_count = info.arrays;
    g->parameter_count = info.parameters;
    for (int i = 0; i < info.arrays; i++) {
        g->arrays[i].struct_size = sizeof g->arrays[i];
        must(g, sg_kernel_array(g->kernel, i, &g->arrays[i]));
    }
    for (int i = 0; i < info.parameters; i++) {
        sg_parameter_info parameter = {.struct_size = sizeof parameter};
        must(g, sg_kernel_parameter(g->kernel, i, &parameter));
        g->parameters[i] = parameter.value;
    }
}

static void free_grids(gallery *g) {
    for (int i = 0; i < g->array_count; i++) {
        sg_free(g->context, g->grids[i].data);
        g->grids[i].data = NULL;
    }
}

void gallery_close(gallery *g) {
    free_grids(g);
    sg_release(g->kernel);
    sg_close(g->context);
}

double *gallery_cells(const gallery *g) {
    double *cells = calloc((size_t)g->count, sizeof *cells);
    assert_non_null(cells);
    return cells;
}

void gallery_size(gallery *g, int64_t nx, int64_t ny) {
    free_grids(g);
    g->count = nx * ny;
    g->step = 0;
    double *zeros = gallery_cells(g);
    for (int i = 0; i < g->array_count; i++) {
        const size_t bytes = (size_t)g->count * g->arrays[i].element_size;
        g->grids[i] = (sg_grid){.size = {nx, ny}};
        must(g, sg_alloc(g->context, bytes, &g->grids[i].data));
        must(g, sg_upload(g->context, g->grids[i].data, zeros, bytes));
    }
    free(zeros);
}

void gallery_set(gallery *g, const char *parameter, double value) {
    const int index = sg_kernel_find_parameter(g->kernel, parameter);
    assert_in_range(index, 0, GALLERY_PARAMETERS - 1);
    g->parameters[index] = value;
}

void gallery_check(gallery *g) {
    const sg_check_options options = {
        .struct_size = sizeof options, .size = {37, 19}, .parameters = g->parameters};
    sg_check_result result = {.struct_size = sizeof result};
    must(g, sg_check(g->kernel, &options, &result));
    assert_true(result.judged > 0 && result.wrong == 0);
}

static int find(const gallery *g, const char *array) {
    const int index = sg_kernel_find_array(g->kernel, array);
    if (index < 0)
        fail_msg("there is no array '%s'", array);
    return index;
}

void gallery_fill(gallery *g, const char *array, gallery_function value, void *user) {
    const int index = find(g, array);
    const int64_t nx = g->grids[index].size[0];
    const size_t element = g->arrays[index].element_size;
    double *cells = gallery_cells(g);
    for (int64_t i = 0; i < g->count; i++) {
        const double v = value(user, i % nx, i / nx);
        const float narrow = (float)v;
        memcpy((char *)cells + (size_t)i * element,
               element == sizeof v ? (const void *)&v : (const void *)&narrow, element);
    }
    must(g, sg_upload(g->context, g->grids[index].data, cells, (size_t)g->count * element));
    free(cells);
}

void gallery_read(gallery *g, const char *array, double *out) {
    const int index = find(g, array);
    const size_t element = g->arrays[index].element_size;
    must(g, sg_download(g->context, out, g->grids[index].data, (size_t)g->count * element));
    if (element == sizeof(float))
        for (int64_t i = g->count - 1; i >= 0; i--) { /* from the end: they widen in place */
            float narrow;
            memcpy(&narrow, (char *)out + (size_t)i * element, element);
            out[i] = narrow;
        }
}

static void *cell(const gallery *g, int index, int64_t x, int64_t y) {
    const sg_grid *grid = &g->grids[index];
    return (char *)grid->data + (size_t)(y * grid->size[0] + x) * g->arrays[index].element_size;
}

double gallery_at(const gallery *g, const char *array, int64_t x, int64_t y) {
    const int index = find(g, array);
    double wide = 0;
    float narrow = 0;
    if (g->arrays[index].element_size == sizeof wide)
        must(g, sg_download(g->context, &wide, cell(g, index, x, y), sizeof wide));
    else
        must(g, sg_download(g->context, &narrow, cell(g, index, x, y), sizeof narrow));
    return wide + narrow;
}

void gallery_put(gallery *g, const char *array, int64_t x, int64_t y, double value) {
    const int index = find(g, array);
    const float narrow = (float)value;
    const size_t element = g->arrays[index].element_size;
    const void *from = element == sizeof value ? (const void *)&value : (const void *)&narrow;
    must(g, sg_upload(g->context, cell(g, index, x, y), from, element));
}

static sg_arguments arguments_of(const gallery *g) {
    return (sg_arguments){.struct_size = sizeof(sg_arguments),
                          .grids = g->grids,
                          .grid_count = g->array_count,
                          .parameters = g->parameters,
                          .parameter_count = g->parameter_count,
                          .step = g->step};
}

/* The arrays in their roles after so many steps. */
static void turn(gallery *g, int64_t steps, const int *final) {
    sg_grid turned[GALLERY_ARRAYS];
    for (int i = 0; i < g->array_count; i++)
        turned[i] = g->grids[final[i]];
    memcpy(g->grids, turned, sizeof turned);
    g->step += steps;
}

void gallery_steps(gallery *g, int64_t steps) {
    const sg_arguments arguments = arguments_of(g);
    int final[GALLERY_ARRAYS];
    must(g, sg_run(g->kernel, &arguments, steps, NULL, final));
    turn(g, steps, final);
}

void gallery_points(gallery *g, const sg_points *sets, int count, int64_t steps) {
    const sg_arguments arguments = arguments_of(g);
    int final[GALLERY_ARRAYS];
    sg_point_sets *points;
    assert_int_equal(g->arrays[0].element_size, sizeof(double));
    must(g, sg_points_open(g->kernel, g->grids[0].size, sets, count, &points));
    must(g, sg_run_points(points, &arguments, steps, NULL, final));
    turn(g, steps, final);
    sg_points_close(points);
}

double gallery_worse(double worst, double other) {
    return isnan(worst) || other <= worst ? worst : other;
}

void gallery_between(const char *name, double value, double least, double most) {
    print_message("%s: %.6g\n", name, value);
    if (!(value >= least && value <= most))
        fail_msg("%s is %.6g, not between %.6g and %.6g", name, value, least, most);
}
