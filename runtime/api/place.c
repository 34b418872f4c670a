/* The place of a request. Needs both sides: the family's canonical text, and the device. */
#include "runtime/api/place.h"

#include <string.h>

#include "gen/model/family.h"
#include "runtime/matrix/matrix.h"

static result_size size_of(job *j, const build_request *r) {
    result_size s = {.count = r->subject->family->dims(r->subject)};
    memcpy(s.number, r->size, sizeof r->size);
    if (r->matrix == NULL)
        return s;
    const matrix_facts f = matrix_facts_of(j, r->options.matrix);
    return (result_size){
        6,
        {r->matrix->rows, r->matrix->columns, r->matrix->entries, f.longest, f.empty, f.diagonals}};
}

/* A GPU runs what was planned for its own architecture; the cpu device runs anything. */
static bool is_planned_for(const build_request *r, const device_facts *f) {
    return strcmp(f->device, "cpu") == 0 || strcmp(f->arch, r->gpu->arch) == 0;
}

void results_place_of_spec(job *j, const build_request *r, result_place *out) {
    text model = text_new(j);
    r->subject->family->print(r->subject, MODEL_MEANING, &model);
    *out = (result_place){.family = r->subject->family->name,
                          .name = r->subject->name,
                          .model = model.data,
                          .generator = SG_VERSION,
                          .size = size_of(j, r),
                          .steps = r->options.steps > 1 ? r->options.steps : 1};
}

bool results_place_of(job *j, const build_request *r, result_place *out) {
    const device *d = r->context->device;
    const device_facts *f = d != NULL ? d->ops->facts(d) : NULL;
    if (f == NULL || !is_planned_for(r, f))
        return false;
    results_place_of_spec(j, r, out);
    out->device = results_device(j, f);
    return true;
}
