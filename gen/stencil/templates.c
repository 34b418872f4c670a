/* The table of templates. Takes: a template's number. Makes: its file, and whether its threads wait
   for each other. */
#include "gen/stencil/plan.h"

const plan_template plan_templates[TEMPLATE_COUNT] = {
    [TEMPLATE_NAIVE] = {"naive.cu", false},
    [TEMPLATE_PACKS] = {"packs.cu", false},
    [TEMPLATE_TILED] = {"tiled.cu", true},
    [TEMPLATE_COARSENED] = {"coarsened.cu", true},
    [TEMPLATE_REGISTER] = {"register.cu", true},
    [TEMPLATE_SUMS] = {"sums.cu", true},
    [TEMPLATE_WINDOW] = {"window.cu", true},
    [TEMPLATE_CONSTANT] = {"constant.cu", false},
    [TEMPLATE_CACHED_HALO] = {"cached_halo.cu", true},
    [TEMPLATE_STREAMED] = {"streamed.cu", false},
    [TEMPLATE_STREAMED_SUMS] = {"streamed_sums.cu", false},
    [TEMPLATE_LINE] = {"line.cu", true},
    [TEMPLATE_PIPELINE] = {"pipeline.cu", true},
    [TEMPLATE_LEVELS] = {"levels.cu", true},
    [TEMPLATE_RESIDENT] = {"resident.cu", true},
};
