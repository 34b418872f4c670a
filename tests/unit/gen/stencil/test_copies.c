/* Kernels on GPUs with bulk copies: the rows and planes that copies bring, and where weights lie.
 */
#include "tests/unit/gen/stencil/planning.h"

#include "tests/unit/group.h"

static void bulk_copies_bring_the_rows_of_a_pipeline(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *arch, *dtype, *storage;
        int multiple; /* of the rows that they bring; 0: they do not */
    } cases[] = {
        {"temporal time=8 lane=10 stages=4", "sm_90", "double", "double", 2},
        {"temporal time=8 lane=10 stages=4", "sm_120", "float", "float", 4},
        {"temporal time=8 lane=10 stages=4", "sm_80", "double", "double", 0},
        {"temporal time=9 lane=9 stages=3", "sm_90", "double", "double", 0}, /* an odd halo */
        {"temporal time=8 lane=10 stages=4", "sm_90", "float", "half", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "return stencil { name = 's', shape = star(2, 1), coefficients = { 1/2, 1/8, 1/8, "
                 "1/8, 1/9 }, dtype = '%s', storage = '%s' }",
                 cases[i].dtype, cases[i].storage);
        loaded l = the_spec(text);
        planning p = make(&l, cases[i].schedule, cases[i].arch);
        assert_false(job_failed(p.job));
        const program_launch *many = &p.program->launches[0];
        assert_int_equal(many->grid.spare > 0, cases[i].multiple > 0);
        assert_int_equal(strstr(p.program->source, "cp.async.bulk.global") != NULL,
                         cases[i].multiple > 0);
        if (cases[i].multiple > 0) {
            assert_int_equal(many->grid.needs.multiple, cases[i].multiple);
            /* the packs of rows that begin anywhere too */
            assert_non_null(strstr(program_spare_source(p.program), "cp.async.bulk.global"));
        }
        job_end(p.job);
        job_end(l.job);
    }
}

/* The kernel for rows that begin anywhere: its maps, and the planes that it has room for. */
static void bulk_copies_bring_every_row_of_a_pack(void **state) {
    (void)state;
    static const struct {
        const char *schedule, *spec;
        int arrays, maps, box[2], planes; /* maps of each */
    } cases[] = {
        {"bulk tile=128x24 coarsen=z171,y2 vec=4",
         "shape = star(3, 1), coefficients = star7",
         1,
         4,
         {136, 7},
         7},
        {"bulk tile=32x8 coarsen=z64,y2",
         "shape = star(3, 1), coefficients = star7",
         1,
         4,
         {40, 3},
         5},
        {"bulk tile=128 coarsen=y32",
         "shape = star(2, 1), coefficients = { 1, 1/2, 1/3, 1/4, 1/5 }, dtype = 'double'",
         1,
         2,
         {132, 17},
         1},
        {"bulk tile=64x8 coarsen=z64,y2",
         "shape = star(3, 1), coefficients = star7, storage = 'half'",
         1,
         8,
         {80, 2},
         6},
        {"bulk tile=64x8",
         "shape = points { {0, 1, 0}, {0, -1, 0} }, coefficients = { 1/2, 1/3 }",
         1,
         4,
         {68, 3},
         3},
        {"bulk tile=64x8", /* a sum that is scaled, by two arrays */
         "fields = { u = 'inout', c = 'in' }, dims = 3, update = function(f) return { u = "
         "f.u(0,0,0) + f.c(0,0,0) * (f.u(1,0,0) + f.u(0,1,0) / 3) } end",
         3,
         4,
         {68, 3},
         3},
        {"bulk tile=128 coarsen=y32",
         "fields = { u = 'inout', c = 'in' }, dims = 2, update = function(f) return { u = "
         "f.u(0,0) + f.c(0,0) * (f.u(1,0) + f.u(0,1) / 3) } end",
         1,
         0,
         {0},
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400], planes[40];
        snprintf(text, sizeof text,
                 "local star7 = { 1, 1/2, 1/3, 1/4, 1/5, 1/6, 1/7 } "
                 "return stencil { name = 's', %s }",
                 cases[i].spec);
        snprintf(planes, sizeof planes, "\nconstexpr int ring = %d;", cases[i].planes);
        loaded l = the_spec(text);
        planning p = make(&l, cases[i].schedule, "sm_90");
        assert_false(job_failed(p.job));
        const program_launch *spare = &p.program->launches[p.program->launches[0].grid.spare];
        assert_int_equal(spare->grid.map_count, cases[i].arrays * cases[i].maps);
        for (int m = 0; m < cases[i].maps; m++) {
            const program_map *map = &spare->grid.maps[m];
            assert_int_equal(map->every, cases[i].maps);
            assert_int_equal(map->first, m);
            assert_memory_equal(map->box, cases[i].box, sizeof cases[i].box);
        }
        assert_int_equal(strstr(program_spare_source(p.program), planes) != NULL,
                         cases[i].maps > 0);
        job_end(p.job);
        job_end(l.job);
    }
}

/* As numbers in the text the weights of long rows of doubles are loaded anew for each row; no more
   than 28 fit into uniform registers, and those that are given at launch lie in constant memory. */
static void long_rows_of_doubles_have_a_table_of_weights(void **state) {
    (void)state;
    static const struct {
        int radius;
        const char *dtype, *arch, *weights;
        bool table;
    } cases[] = {
        {2, "double", "sm_90", "i / 400", true},  {2, "double", "sm_80", "i / 400", false},
        {2, "float", "sm_90", "i / 400", false},  {1, "double", "sm_90", "i / 400", false},
        {3, "double", "sm_90", "i / 400", false}, {2, "double", "sm_90", "param('c')", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int side = 2 * cases[i].radius + 1;
        char text[300];
        snprintf(text, sizeof text,
                 "local w = {} for i = 1, %d do w[i] = %s end return stencil { name = 's', shape = "
                 "box(2, %d), coefficients = w, dtype = '%s', parameters = { c = 1/8 } }",
                 side * side, cases[i].weights, cases[i].radius, cases[i].dtype);
        loaded l = the_spec(text);
        planning p = make(&l, "temporal time=4 lane=8 stages=4", cases[i].arch);
        assert_false(job_failed(p.job));
        assert_int_equal(strstr(p.program->source, "__constant__ Real weights[25]") != NULL,
                         cases[i].table);
        assert_int_equal(strstr(p.program->source, "weights[24]") != NULL, cases[i].table);
        job_end(p.job);
        job_end(l.job);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bulk_copies_bring_the_rows_of_a_pipeline),
    cmocka_unit_test(bulk_copies_bring_every_row_of_a_pack),
    cmocka_unit_test(long_rows_of_doubles_have_a_table_of_weights),
};

TEST_GROUP(copies, NULL, NULL)
