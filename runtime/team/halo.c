/* Exchanges of ghost cells: one message for each neighbour, with the cells of all arrays. Cells
   that lie in one piece of memory go from where they are, and arrive where they belong. */
#include <string.h>

#include "base/clock.h"
#include "runtime/team/team.h"

size_t faces_bytes(const program *p, const face *faces, int face_count, const int *arrays,
                   int count) {
    size_t cells = 0, bytes = 0;
    for (int i = 0; i < face_count; i++)
        cells += (size_t)(faces[i].size[0] * faces[i].size[1] * faces[i].size[2]);
    for (int a = 0; a < count; a++)
        bytes += cells * program_grid_bytes(p, arrays[a]);
    return bytes;
}

/* Whether messages are read and written where the device has them. */
static bool is_direct(const sg_team *t) {
    return t->nccl != NULL || t->transport.device_memory || t->context->device->ops->host_memory;
}

void team_make_room(job *j, sg_team *t, struct team_buffer *b, size_t bytes, bool messages) {
    device *d = t->context->device;
    if (bytes <= b->room)
        return;
    team_free(t, b);
    b->device = d->ops->alloc(d, j, bytes);
    b->room = bytes;
    if (is_direct(t) || !messages)
        return;
    const allocator *memory = &t->context->memory;
    b->host = memory->resize(memory->user, NULL, 0, bytes);
    if (b->host == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
}

void halo_prepare(job *j, const halo *h, const int *arrays, int count) {
    const program *p = h->kernel->program;
    if (h->team->stores != NULL)
        return;
    team_make_room(j, h->team, &h->team->outgoing,
                   faces_bytes(p, h->sends, h->send_count, arrays, count), true);
    team_make_room(j, h->team, &h->team->incoming,
                   faces_bytes(p, h->receives, h->receive_count, arrays, count), true);
}

/* The cells of a face in an array. */
static launch_grid cells_of(const launch_grid *whole, const face *f, size_t element) {
    launch_grid cells = *whole;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        cells.data += f->begin[axis] * whole->stride[axis] * (int64_t)element;
    return cells;
}

static launch_grid dense(unsigned char *data, const int64_t size[3]) {
    return (launch_grid){.data = data, .stride = {1, size[0], size[0] * size[1]}};
}

static bool is_dense(const launch_grid *cells, const int64_t size[3]) {
    int64_t run = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        if (size[axis] > 1 && cells->stride[axis] != run)
            return false;
        run *= size[axis];
    }
    return true;
}

typedef struct transfer {
    const halo *halo;
    const launch *launch;
    const int *arrays;
    int count;
    void *stream;
    const launch_grid *sources; /* what is sent, as halo_send has it; NULL: the launch's arrays */
    bool apart;                 /* what comes stays in the buffer until it is unpacked */
} transfer;

static launch_grid find_cells(const transfer *t, const face *faces, int i, int array) {
    const int which = t->arrays[array];
    return t->sources != NULL ? t->sources[i * t->count + array]
                              : cells_of(&t->launch->grids[which], &faces[i],
                                         program_grid_bytes(t->halo->kernel->program, which));
}

/* The message of each face: the cells themselves, or their place in the buffer. With `pack`, cells
   are copied there; with `unpack`, from there. */
static void lay_messages(job *j, const transfer *t, const face *faces, int face_count,
                         unsigned char *buffer, bool pack, bool unpack, sg_message *out) {
    const sg_kernel *k = t->halo->kernel;
    const program *p = k->program;
    for (int i = 0; i < face_count; i++) {
        const face *f = &faces[i];
        const launch_grid first = find_cells(t, faces, i, 0);
        const bool in_place =
            t->count == 1 && !t->apart && is_direct(t->halo->team) && is_dense(&first, f->size);
        out[i] = (sg_message){f->rank, in_place ? first.data : buffer,
                              faces_bytes(p, f, 1, t->arrays, t->count)};
        for (int a = 0; a < t->count && !in_place && (pack || unpack); a++) {
            const launch_grid cells = find_cells(t, faces, i, a);
            const launch_grid packed = dense(buffer + faces_bytes(p, f, 1, t->arrays, a), f->size);
            launch_copy(j, k, program_grid_bytes(p, t->arrays[a]), f->size, pack ? &cells : &packed,
                        pack ? &packed : &cells, t->stream);
        }
        buffer += out[i].bytes;
    }
}

size_t messages_bytes(const sg_message *messages, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += messages[i].bytes;
    return bytes;
}

/* Moves messages' addresses from one buffer to another. */
static void rebase(sg_message *messages, int count, unsigned char *to, const unsigned char *from) {
    for (int i = 0; i < count; i++)
        messages[i].data = to + ((unsigned char *)messages[i].data - from);
}

/* A message of `bytes` to or from each neighbour; what goes out is the same for all. */
static int list_neighbours(const face *faces, int count, void *data, size_t bytes, bool same,
                           sg_message *out) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || faces[k].rank == faces[i].rank;
        if (!again) {
            out[found] = (sg_message){
                faces[i].rank, (unsigned char *)data + (same ? 0 : (size_t)found * bytes), bytes};
            found++;
        }
    }
    return found;
}

/* An exchange, and before each neighbour's messages what it was given. */
static void exchange_given(job *j, const halo *h, const sg_message *sends, int send_count,
                           const sg_message *receives, int receive_count) {
    sg_team *team = h->team;
    sg_message out[2 * PART_FACES], in[2 * PART_FACES];
    alike mine = h->given, theirs[PART_FACES];
    int outs = 0, ins = 0;
    if (h->compares) {
        outs = list_neighbours(h->sends, h->send_count, &mine, sizeof mine, true, out);
        ins = list_neighbours(h->receives, h->receive_count, theirs, sizeof mine, false, in);
    }
    memcpy(out + outs, sends, (size_t)send_count * sizeof *out);
    memcpy(in + ins, receives, (size_t)receive_count * sizeof *in);
    team_exchange(j, team, out, outs + send_count, in, ins + receive_count);
    for (int i = 0; i < ins; i++)
        alike_compare(j, h->kernel, team->transport.rank, &mine, in[i].rank, &theirs[i]);
}

void halo_compare(job *j, const halo *h) {
    const sg_message none = {0, NULL, 0};
    exchange_given(j, h, &none, 0, &none, 0);
}

/* Through the transport: what it reads must be there, and what it wrote is there. */
static void speak(job *j, const transfer *t, sg_message *sends, sg_message *receives) {
    const halo *h = t->halo;
    sg_team *team = h->team;
    device *d = team->context->device;
    const bool staged = !is_direct(team);
    d->ops->synchronize(d, j, t->stream);
    const double begun = clock_seconds();
    if (staged) {
        d->ops->download(d, j, team->outgoing.host, team->outgoing.device,
                         messages_bytes(sends, h->send_count));
        rebase(sends, h->send_count, team->outgoing.host, team->outgoing.device);
        rebase(receives, h->receive_count, team->incoming.host, team->incoming.device);
    }
    exchange_given(j, h, sends, h->send_count, receives, h->receive_count);
    if (staged)
        d->ops->upload(d, j, team->incoming.device, team->incoming.host,
                       messages_bytes(receives, h->receive_count));
    team->exchange_seconds += clock_seconds() - begun;
}

/* The cells themselves are looked at after all ranks have told whether they reach them. */
static void show_new(job *j, const halo *h, const launch *l) {
    sg_team *t = h->team;
    device *d = t->context->device;
    const int ranks = t->transport.ranks, arrays = h->kernel->program->array_count;
    stores_array *mine = job_array(j, (size_t)arrays, sizeof *mine);
    stores_array *all = job_array(j, (size_t)ranks * (size_t)arrays, sizeof *all);
    int32_t *good = job_array(j, (size_t)ranks, sizeof *good), own;
    for (int i = 0; i < arrays; i++) {
        mine[i].place = d->ops->peer_place(d, l->grids[i].data);
        memcpy(mine[i].stride, l->grids[i].stride, sizeof mine[i].stride);
    }
    team_gather(j, t, mine, (size_t)arrays * sizeof *mine, all);
    own = stores_prepare(t->stores, l, all, ranks, arrays);
    team_gather(j, t, &own, sizeof own, good);
    for (int i = 0; i < ranks; i++)
        if (!good[i])
            job_fail(j, FAULT_DEVICE, NULL, 0,
                     "rank %d cannot reach the arrays of '%s' of other ranks: take them from "
                     "sg_alloc or cuMemAlloc, or set SG_TEAM_STORES=none",
                     i, h->kernel->program->name);
}

/* What a rank tells first. */
typedef struct showing {
    alike given;
    int64_t known; /* which set of arrays these are; −1: a new one */
} showing;

void halo_show(job *j, const halo *h, const launch *l) {
    sg_team *t = h->team;
    const int ranks = t->transport.ranks;
    if (t->stores == NULL)
        return;
    const showing mine = {h->given, stores_find(t->stores, l, h->kernel->program->array_count)};
    showing *all = job_array(j, (size_t)ranks, sizeof *all);
    team_gather(j, t, &mine, sizeof mine, all);
    bool known = mine.known >= 0;
    for (int i = 0; i < ranks; i++) {
        known = known && all[i].known == mine.known;
        alike_compare(j, h->kernel, 0, &all[0].given, i, &all[i].given);
    }
    if (known)
        stores_recall(t->stores, (int)mine.known);
    else
        show_new(j, h, l);
}

/* Sends all faces, and receives into the arrays themselves or the buffer. */
static void move(job *j, const transfer *t, const transfer *arriving) {
    sg_message sends[PART_FACES], receives[PART_FACES];
    const halo *h = t->halo;
    sg_team *team = h->team;
    times_begin(j, team, t->stream);
    lay_messages(j, t, h->sends, h->send_count, team->outgoing.device, true, false, sends);
    lay_messages(j, arriving, h->receives, h->receive_count, team->incoming.device, false, false,
                 receives);
    team->exchanges++;
    team->bytes += (int64_t)messages_bytes(sends, h->send_count);
    if (team->nccl != NULL)
        nccl_exchange(j, team->nccl, sends, h->send_count, receives, h->receive_count, t->stream);
    else
        speak(j, t, sends, receives);
}

static void unpack(job *j, const transfer *t) {
    sg_message receives[PART_FACES];
    lay_messages(j, t, t->halo->receives, t->halo->receive_count, t->halo->team->incoming.device,
                 false, true, receives);
}

void halo_send(job *j, const halo *h, const launch *l, const int *arrays, int count,
               const launch_grid *sources, void *stream) {
    const transfer arriving = {h, l, arrays, count, stream, NULL, true};
    const transfer leaving = {h, l, arrays, count, stream, sources, false};
    move(j, &leaving, &arriving);
    times_end(j, h->team, stream);
}

void halo_take(job *j, const halo *h, const launch *l, const int *arrays, int count, void *stream) {
    const transfer t = {h, l, arrays, count, stream, NULL, true};
    unpack(j, &t);
}

void halo_exchange(job *j, const halo *h, const launch *l, const int *arrays, int count,
                   const int *final, bool written, void *stream) {
    sg_team *team = h->team;
    const transfer t = {h, l, arrays, count, stream, NULL, false};
    if (count == 0 || h->send_count + h->receive_count == 0)
        return;
    if (team->stores == NULL) {
        move(j, &t, &t);
        unpack(j, &t);
        times_end(j, team, stream);
        return;
    }
    int origins[LAUNCH_ARRAYS];
    for (int i = 0; i < count; i++)
        origins[i] = final[arrays[i]];
    team->exchanges++;
    team->bytes += (int64_t)faces_bytes(h->kernel->program, h->sends, h->send_count, arrays, count);
    times_begin(j, team, stream);
    stores_exchange(j, team->stores, h->kernel, h->sends, h->send_count, h->receives,
                    h->receive_count, l, arrays, origins, count, written, h->crowded, stream);
    times_end(j, team, stream);
}
