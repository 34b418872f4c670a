/* What a spec says of its tuning: `tune = { tile = { { x = 32, y = 8 }, … }, time = { 1, 4 } }`.
   Takes: nothing (gen/spec/tune.c makes it). Each value is a word of a schedule's line, so that
   every family reads it as it reads its schedules. */
#ifndef SG_GEN_MODEL_TUNING_H
#define SG_GEN_MODEL_TUNING_H

enum { TUNING_KEYS = 20, TUNING_VALUES = 64, TUNING_COMBINATIONS = 1024 };

typedef struct tuning_key {
    const char *name;          /* as the spec spells it: "tile" */
    const char *const *values; /* "tile=32x8"; at least one, no two alike */
    int count;
} tuning_key;

/* A candidate has one of the values of every key; keys that are not here are the planner's. */
typedef struct tuning {
    tuning_key keys[TUNING_KEYS];
    int key_count;
} tuning;

#endif
