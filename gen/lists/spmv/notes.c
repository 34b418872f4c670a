/* What requests for one matrix need to find out only once. Takes: a matrix and a storage. Makes:
   what format_choose and format_refusal say, remembered. A space of candidates asks hundreds of
   times, of few storages. */
#include "gen/lists/spmv/spmv.h"

#include <string.h>

enum { MOST_NOTES = 128 };

typedef struct note {
    bool choice;         /* of format_choose, or a refusal */
    storage given, made; /* made: by a choice */
    const char *text;    /* NULL: it is not refused */
} note;

struct spmv_notes {
    job *job;
    int count;
    note list[MOST_NOTES];
};

spmv_notes *spmv_notes_new(job *j) {
    spmv_notes *n = job_alloc(j, sizeof *n);
    n->job = j;
    return n;
}

static bool same(const storage *a, const storage *b) {
    return a->format == b->format && a->index_bytes == b->index_bytes &&
           a->value_bytes == b->value_bytes && a->slice == b->slice && a->sigma == b->sigma &&
           a->block_rows == b->block_rows && a->block_cols == b->block_cols &&
           a->packet == b->packet && a->diagonals == b->diagonals &&
           a->diagonal_count == b->diagonal_count;
}

static const note *find(const spmv_notes *n, bool choice, const storage *given) {
    for (int i = 0; n != NULL && i < n->count; i++)
        if (n->list[i].choice == choice && same(&n->list[i].given, given))
            return &n->list[i];
    return NULL;
}

/* NULL where there is no room. Diagonals that were found are the request's, and so copied. */
static const note *keep(spmv_notes *n, bool choice, const storage *given, const storage *made,
                        const char *text) {
    if (n == NULL || n->count == MOST_NOTES)
        return NULL;
    note *to = &n->list[n->count];
    *to = (note){.choice = choice, .given = *given, .made = *made};
    if (made->diagonals != given->diagonals && made->diagonal_count > 0) {
        diagonal *list = job_array(n->job, (size_t)made->diagonal_count, sizeof *list);
        memcpy(list, made->diagonals, (size_t)made->diagonal_count * sizeof *list);
        to->made.diagonals = list;
    }
    to->text = text != NULL ? job_copy(n->job, text, strlen(text)) : NULL;
    n->count++;
    return to;
}

const char *spmv_choose(job *j, spmv_notes *n, const matrix *a, storage *s) {
    const storage given = *s;
    const note *known = find(n, true, &given);
    if (known == NULL) {
        const char *reason = format_choose(j, a, NULL, s);
        known = keep(n, true, &given, s, reason);
        if (known == NULL)
            return reason;
    }
    *s = known->made;
    return known->text;
}

const char *spmv_refusal(job *j, spmv_notes *n, const matrix *a, const storage *s) {
    const note *known = find(n, false, s);
    if (known != NULL)
        return known->text;
    packed_matrix measured;
    format_measure(j, a, s, &measured);
    const char *refusal = format_refusal(j, a, &measured, FORMAT_LIMIT);
    keep(n, false, s, s, refusal);
    return refusal;
}
