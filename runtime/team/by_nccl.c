/* NCCL as the only way to speak: a team of the application's communicator, or of NCCL's identity,
   has no transport. Messages of host memory go by way of the GPU's. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/team/team.h"

typedef struct speech {
    sg_team *team;
    const sg_message *sends, *receives;
    int send_count, receive_count;
    double seconds;
} speech;

static size_t bytes_of(const sg_message *messages, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += messages[i].bytes;
    return bytes;
}

/* Memory that is free once nobody sends from it or receives there. */
typedef struct room {
    sg_team *team;
    void *memory;
    bool under_way;
} room;

static void end_room(void *argument) {
    const room *r = argument;
    device *d = r->team->context->device;
    if (r->under_way) /* freeing it would wait for the other ranks: it goes with the team */
        r->team->left = r->memory;
    else
        d->ops->free(d, r->memory);
}

/* A rank that has failed sends nothing any more, so this looks at the clock. */
static void settle(job *j, const speech *s) {
    device *d = s->team->context->device;
    const double begun = clock_seconds();
    for (double now = begun; !d->ops->idle(d, j, NULL); now = clock_seconds()) {
        if (now - begun > s->seconds)
            job_fail(j, FAULT_DEVICE, NULL, 0, "the other ranks did not answer by NCCL within %g s",
                     s->seconds);
        if (now - begun < 0.002)
            continue;
        nccl_look(j, s->team->nccl);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static void speak(job *j, void *argument) {
    const speech *s = argument;
    device *d = s->team->context->device;
    const size_t out = bytes_of(s->sends, s->send_count);
    const size_t in = bytes_of(s->receives, s->receive_count);
    room *r = job_alloc(j, sizeof *r);
    *r = (room){s->team, d->ops->alloc(d, j, out + in), false};
    job_defer(j, end_room, r);
    sg_message *sends = job_array(j, (size_t)s->send_count + 1, sizeof *sends);
    sg_message *receives = job_array(j, (size_t)s->receive_count + 1, sizeof *receives);
    unsigned char *at = r->memory;
    for (int i = 0; i < s->send_count; at += s->sends[i++].bytes) {
        sends[i] = (sg_message){s->sends[i].rank, at, s->sends[i].bytes};
        d->ops->upload(d, j, at, s->sends[i].data, s->sends[i].bytes);
    }
    for (int i = 0; i < s->receive_count; at += s->receives[i++].bytes)
        receives[i] = (sg_message){s->receives[i].rank, at, s->receives[i].bytes};
    r->under_way = true;
    nccl_exchange(j, s->team->nccl, sends, s->send_count, receives, s->receive_count, NULL);
    settle(j, s);
    r->under_way = false;
    for (int i = 0; i < s->receive_count; i++)
        d->ops->download(d, j, s->receives[i].data, receives[i].data, receives[i].bytes);
    job_keep(j, r);
    end_room(r);
}

int speak_by_nccl(void *user, const sg_message *sends, int send_count, const sg_message *receives,
                  int receive_count, double seconds, char why[SG_WHY]) {
    speech s = {user, sends, receives, send_count, receive_count, seconds};
    job *own = NULL;
    if (send_count + receive_count == 0)
        return 0;
    const fault f = job_run(&s.team->context->memory, speak, &s, &own);
    if (f != FAULT_NONE)
        snprintf(why, SG_WHY, "%s", own != NULL ? job_error_text(own) : "out of memory");
    job_end(own);
    return f == FAULT_NONE ? 0 : 1;
}
