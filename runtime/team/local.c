/* Transports between threads of one process. A sender shows its messages and waits until they have
   been taken; a receiver copies them from the sender's own memory. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/team/team.h"

/* A message that was shown, in the memory of the thread that waits for it to be taken. */
typedef struct shown shown;
struct shown {
    const sg_message *message;
    int from;
    bool copying, taken; /* one after the other */
    shown *next;
};

typedef struct seat seat;

/* What the ranks share; the last that closes frees it. */
typedef struct table {
    allocator memory;
    pthread_mutex_t lock;
    int ranks, open;
    size_t bytes;
    char abandoned[SG_WHY]; /* by whom and why; "": by nobody */
    seat *seats;
} table;

struct seat {
    table *table;
    int rank;
    int waits; /* for this rank; −1: for none */
    bool closed;
    shown *first; /* messages to this rank, in order for each sender */
    pthread_cond_t changed;
};

enum { MOST_RANKS = 4096 };

static void show(table *t, const sg_message *message, int from, shown *out) {
    *out = (shown){.message = message, .from = from};
    shown **last = &t->seats[message->rank].first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = out;
    pthread_cond_signal(&t->seats[message->rank].changed);
}

static void take_back(table *t, shown *message) {
    shown **at = &t->seats[message->message->rank].first;
    while (*at != NULL && *at != message)
        at = &(*at)->next;
    if (*at != NULL)
        *at = message->next;
}

/* A message that is not taken is so no more; one that is being copied stays until it is. */
static void end_show(seat *mine, shown *message) {
    while (message->copying)
        pthread_cond_wait(&mine->changed, &mine->table->lock);
    if (!message->taken)
        take_back(mine->table, message);
}

/* The oldest message from a rank, taken off the list; NULL: there is none yet. */
static shown *take(seat *mine, int from) {
    for (shown **at = &mine->first; *at != NULL; at = &(*at)->next)
        if ((*at)->from == from) {
            shown *found = *at;
            *at = found->next;
            return found;
        }
    return NULL;
}

typedef struct waiting {
    seat *mine;
    struct timespec until;
    double seconds;
    char *why;
} waiting;

static struct timespec after(double seconds) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const double whole = seconds < 1e9 ? seconds : 1e9;
    at.tv_sec += (time_t)whole;
    at.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

/* Ranks may wait for ranks that wait themselves: late is the one that waits for none. */
static int find_late(const table *t, int rank) {
    for (int i = 0; i < t->ranks && t->seats[rank].waits >= 0; i++)
        rank = t->seats[rank].waits;
    return rank;
}

/* Waits for a change. False where waiting for this rank is in vain. */
static bool wait_for(waiting *w, int rank) {
    table *t = w->mine->table;
    if (t->abandoned[0] != '\0') {
        snprintf(w->why, SG_WHY, "%s", t->abandoned);
        return false;
    }
    if (t->seats[rank].closed) {
        snprintf(w->why, SG_WHY, "rank %d has left the team", rank);
        return false;
    }
    w->mine->waits = rank;
    const bool changed =
        pthread_cond_timedwait(&w->mine->changed, &t->lock, &w->until) != ETIMEDOUT;
    if (changed)
        w->mine->waits = -1;
    else if (t->abandoned[0] != '\0') /* meanwhile, and who said so may have left */
        snprintf(w->why, SG_WHY, "%s", t->abandoned);
    else /* others find here for whom this rank has waited */
        snprintf(w->why, SG_WHY, "rank %d did not answer within %g s", find_late(t, rank),
                 w->seconds);
    return changed;
}

static bool receive(waiting *w, const sg_message *wanted) {
    seat *mine = w->mine;
    shown *found;
    while ((found = take(mine, wanted->rank)) == NULL)
        if (!wait_for(w, wanted->rank))
            return false;
    if (found->message->bytes == wanted->bytes) {
        /* The sender waits, so its memory stays; other ranks need not wait for the copy. */
        found->copying = true;
        pthread_mutex_unlock(&mine->table->lock);
        if (wanted->bytes > 0)
            memcpy(wanted->data, found->message->data, wanted->bytes);
        pthread_mutex_lock(&mine->table->lock);
    }
    const bool same = found->message->bytes == wanted->bytes;
    if (!same)
        snprintf(w->why, SG_WHY, "rank %d sent %zu bytes where %zu were expected", wanted->rank,
                 found->message->bytes, wanted->bytes);
    found->copying = false; /* after this line it is the sender's again */
    found->taken = true;
    pthread_cond_signal(&mine->table->seats[wanted->rank].changed);
    return same;
}

static int exchange(void *user, const sg_message *sends, int send_count, const sg_message *receives,
                    int receive_count, double seconds, char why[SG_WHY]) {
    seat *mine = user;
    table *t = mine->table;
    shown few[2 * PART_FACES];
    shown *all = few;
    bool good = true;
    if (send_count > 2 * PART_FACES)
        all = t->memory.resize(t->memory.user, NULL, 0, (size_t)send_count * sizeof *all);
    if (all == NULL) {
        snprintf(why, SG_WHY, "out of memory");
        return 1;
    }
    waiting w = {mine, after(seconds), seconds, why};
    pthread_mutex_lock(&t->lock);
    if (t->abandoned[0] != '\0') { /* also where there is nothing to say */
        snprintf(why, SG_WHY, "%s", t->abandoned);
        good = false;
    }
    for (int i = 0; i < send_count; i++)
        show(t, &sends[i], mine->rank, &all[i]);
    for (int i = 0; good && i < receive_count; i++)
        good = receive(&w, &receives[i]);
    for (int i = 0; good && i < send_count; i++)
        while (good && !all[i].taken)
            good = wait_for(&w, sends[i].rank);
    for (int i = 0; i < send_count; i++)
        end_show(mine, &all[i]);
    pthread_mutex_unlock(&t->lock);
    if (all != few)
        t->memory.resize(t->memory.user, all, (size_t)send_count * sizeof *all, 0);
    return good ? 0 : 1;
}

static void wake_all(table *t) {
    for (int i = 0; i < t->ranks; i++)
        pthread_cond_broadcast(&t->seats[i].changed);
}

static void abandon(void *user, const char *text) {
    table *t = ((seat *)user)->table;
    pthread_mutex_lock(&t->lock);
    if (t->abandoned[0] == '\0')
        snprintf(t->abandoned, sizeof t->abandoned, "%s", text);
    wake_all(t);
    pthread_mutex_unlock(&t->lock);
}

static void free_table(table *t) {
    const allocator memory = t->memory;
    for (int i = 0; i < t->ranks; i++)
        pthread_cond_destroy(&t->seats[i].changed);
    pthread_mutex_destroy(&t->lock);
    memory.resize(memory.user, t, t->bytes, 0);
}

static void close_seat(void *user) {
    seat *mine = user;
    table *t = mine->table;
    pthread_mutex_lock(&t->lock);
    mine->closed = true;
    const int left = --t->open;
    wake_all(t);
    pthread_mutex_unlock(&t->lock);
    if (left == 0)
        free_table(t);
}

sg_status sg_local_transports(int ranks, sg_transport *out) {
    if (ranks < 1 || ranks > MOST_RANKS || out == NULL)
        return SG_ERROR_USAGE;
    const allocator memory = allocator_libc;
    const size_t bytes = sizeof(table) + (size_t)ranks * sizeof(seat);
    table *t = memory.resize(memory.user, NULL, 0, bytes);
    if (t == NULL)
        return SG_ERROR_MEMORY;
    *t = (table){.memory = memory, .ranks = ranks, .open = ranks, .bytes = bytes};
    t->seats = (seat *)(t + 1);
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    for (int i = 0; i < ranks; i++) {
        t->seats[i] = (seat){.table = t, .rank = i, .waits = -1};
        pthread_cond_init(&t->seats[i].changed, &clock);
        out[i] = (sg_transport){.struct_size = sizeof *out,
                                .name = "copies within the process",
                                .rank = i,
                                .ranks = ranks,
                                .user = &t->seats[i],
                                .exchange = exchange,
                                .abandon = abandon,
                                .close = close_seat};
    }
    pthread_condattr_destroy(&clock);
    return SG_OK;
}
