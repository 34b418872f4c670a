/* The host's compiler: finding it, asking its predefined macros for its family and version and
   whether it knows -march=native, and compiling with it. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "runtime/compile/compilers.h"
#include "runtime/files/paths.h"

/* Sources say themselves where a product and a sum are one instruction; signed integers wrap; no
   errno, so that sqrt is one instruction. CUDA's pragmas are unknown here. */
static const char *const always[] = {
    "-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
    "-Wno-unknown-pragmas", "-fopenmp-simd", /* loops that say so become vectors */
    /* A plan may leave a parameter or a variable unused. */
    "-Wno-unused-parameter", "-Wno-unused-but-set-parameter", "-Wno-unused-variable",
    "-Wno-unused-but-set-variable",
#if defined(SG_SANITIZE)
    "-Og", /* compiles in 0.6 of the time of -O1, with the same checks */
    "-g1", ("-fsanitize=" SG_SANITIZE), "-fno-sanitize-recover=all", "-fno-omit-frame-pointer",
    "-Werror", "-Dalways_inline=unused", /* compiles in half of the time; the checks are the same */
#if defined(__clang__)
    "-fno-sanitize=function,vptr", /* their part of the runtime is in C++ programs only */
#else
    "-Wno-maybe-uninitialized", /* guesses, and guesses worse in instrumented code */
#endif
#else
    "-O2", "-nodefaultlibs",
#endif
};
/* The linker reads the symbols of every library that it is given. Those of C++, which no kernel
   uses, take it 20 ms of the 100 that a short kernel takes. */
static const char *const libraries[] = {"-Wl,--as-needed", "-lm", "-lc"};
static const char native[] = "-march=native";
/* Compilers take vectors of 32 bytes where there are longer ones. With those a Xeon makes stencils
   1.0 to 1.18 times as fast (one takes 1.09 times as long), sums 1.13, filters of 7x7 1.5. */
static const char wide[] = "-mprefer-vector-width=512";
enum { HOST_FLAGS = 28 }; /* the most flags of a compilation */

static_assert(sizeof always / sizeof always[0] < HOST_FLAGS, "there is room for all flags");

/* Sanitizers' runtimes do not mix: a library built with clang's needs kernels built with it. */
static const char *const candidates[] = {
#if defined(SG_SANITIZE) && defined(__clang__)
    "clang++",
#endif
    "c++",
    "g++",
    "clang++",
};

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_program(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

static const char *in_path(job *j, const char *name) {
    const char *rest = getenv("PATH");
    if (rest == NULL)
        rest = COMMAND_PATH;
    for (;;) {
        const size_t length = strcspn(rest, ":");
        const char *path = length == 0 ? job_print(j, "./%s", name)
                                       : job_print(j, "%.*s/%s", (int)length, rest, name);
        if (is_program(path))
            return path;
        if (rest[length] == '\0')
            return NULL;
        rest += length + 1;
    }
}

host_program host_find(job *j, const char **why) {
    host_program p = {.reason = "named by SG_CXX"};
    const char *named = getenv("SG_CXX");
    if (named != NULL && named[0] != '\0') {
        p.path = strchr(named, '/') != NULL ? job_print(j, "%s", named) : in_path(j, named);
        if (p.path == NULL || !is_program(p.path)) {
            p.path = NULL;
            *why = job_print(j,
                             "SG_CXX names %s, which is no program that can be run; install g++ or "
                             "set SG_CXX to a C++ compiler",
                             named);
        }
        return p;
    }
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0] && p.path == NULL; i++) {
        p.path = in_path(j, candidates[i]);
        p.reason = job_print(j, "%s in PATH", candidates[i]);
    }
    if (p.path == NULL)
        *why = "there is no C++ compiler (c++, g++ or clang++) in PATH; install g++ or set SG_CXX "
               "to one";
    return p;
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* Adds the flags of every compilation to a command of n words; returns the new count. */
static int host_flags(const char **command, int n, bool with_native, bool with_wide) {
    memcpy(command + n, always, sizeof always);
    n += (int)(sizeof always / sizeof always[0]);
    if (with_native)
        command[n++] = native;
    if (with_wide)
        command[n++] = wide;
    return n;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The value of a macro in a list of #define lines, or 0. */
static long macro(const char *macros, job *j, const char *name) {
    const char *line = strstr(macros, job_print(j, "#define %s ", name));
    return line == NULL ? 0 : strtol(line + strlen("#define ") + strlen(name), NULL, 10);
}

static const char *version(job *j, const char *macros) {
    if (strstr(macros, "#define __clang__ ") != NULL)
        return job_print(j, "clang++ %ld.%ld.%ld", macro(macros, j, "__clang_major__"),
                         macro(macros, j, "__clang_minor__"),
                         macro(macros, j, "__clang_patchlevel__"));
    if (strstr(macros, "#define __GNUC__ ") != NULL)
        return job_print(j, "g++ %ld.%ld.%ld", macro(macros, j, "__GNUC__"),
                         macro(macros, j, "__GNUC_MINOR__"),
                         macro(macros, j, "__GNUC_PATCHLEVEL__"));
    return "a C++ compiler of unknown make";
}

static const char limited[] = "cannot run: raise the file-size limit (ulimit -f)";

/* The predefined macros; NULL with *trouble: what happened instead. */
static const char *ask_macros(job *j, const char *path, bool with_native, const char **trouble) {
    const char *command[HOST_FLAGS + 8] = {path};
    int n = host_flags(command, 1, with_native, false);
    command[n++] = "-x";
    command[n++] = "c++";
    command[n++] = "-dM";
    command[n++] = "-E";
    command[n++] = "/dev/null";

    const char *printed;
    int error;
    const int code =
        host_command(j, &(command_setting){.words = command, .held = -1}, &printed, &error);
    if (code == 0 && strstr(printed, "#define ") != NULL)
        return printed;
    if (code < 0)
        *trouble = job_print(j, "It cannot be run: %s", strerror(error));
    else if (host_command_room(code, printed) == EFBIG)
        *trouble = limited;
    else if (printed[0] != '\0')
        *trouble = job_print(j, "It ends with exit code %d and says: %s", code, printed);
    else
        *trouble = job_print(j, "It ends with exit code %d and says nothing", code);
    return NULL;
}

const host_answer *host_ask(job *j, host_program p, const char **why) {
    const char *trouble = NULL;
    bool with_native = true;
    const char *macros = ask_macros(j, p.path, true, &trouble);
    if (macros == NULL) {
        with_native = false;
        macros = ask_macros(j, p.path, false, &trouble);
    }
    if (macros == NULL) {
        *why = trouble == limited
                   ? job_print(j, "the C++ compiler %s (%s) %s", p.path, p.reason, limited)
                   : job_print(j,
                               "the C++ compiler %s (%s) does not work; install g++ or set SG_CXX "
                               "to another. %s",
                               p.path, p.reason, trouble);
        return NULL;
    }
    host_answer *a = job_alloc(j, sizeof *a);
    a->program = p;
    a->native = with_native;
    a->gnu =
        strstr(macros, "#define __clang__ ") == NULL && strstr(macros, "#define __GNUC__ ") != NULL;
    enum { GCC_KNOWS = 8, CLANG_KNOWS = 6 }; /* versions, of the flag */
    a->wide = strstr(macros, "#define __AVX512F__ ") != NULL &&
              (a->gnu ? macro(macros, j, "__GNUC__") >= GCC_KNOWS
                      : macro(macros, j, "__clang_major__") >= CLANG_KNOWS);
    strncpy(a->name, version(j, macros), sizeof a->name - 1);
    return a;
}

extern const char cpu_cuda_header[], cpu_arch_header[], cpu_copies_header[], cpu_narrow_header[];

/* GCC's combine pass takes more than quadratic time in the length of a block: a minute for a
   shape of 700 points. Long kernels do without it. */
enum { LONG_SOURCE = 40 * 1024 };
static const char long_kernels[] = "-fdisable-rtl-combine";

static const char *command_line(job *j, const char *const *command) {
    text t = text_new(j);
    for (int i = 0; command[i] != NULL; i++)
        text_printf(&t, "%s%s", i > 0 ? " " : "", command[i]);
    return t.data;
}

/* ---- what a binary depends on ---------------------------------------------------------------- */

/* Variables that choose headers, libraries and parts of GCC and Clang. */
static const char *const variables[] = {"CPATH",         "CPLUS_INCLUDE_PATH",   "LIBRARY_PATH",
                                        "COMPILER_PATH", "CCC_OVERRIDE_OPTIONS", "GCC_EXEC_PREFIX"};

/* The program's path and its file, because one program may have several names. NULL: there is
   none. */
static const char *identity_of(job *j, host_program p) {
    const char *file = p.path != NULL ? file_identity(j, p.path) : NULL;
    return file != NULL ? job_print(j, "%s = %s", p.path, file) : NULL;
}

static const char *identity(compiler *base, job *j, binary_kind kind) {
    (void)base;
    assert(kind == BINARY_HOST);
    (void)kind;
    const char *why;
    const char *file = identity_of(j, host_find(j, &why)), *machine = host_machine(j);
    if (file == NULL || machine == NULL)
        return NULL;
    const blob pieces[] = {digest_piece(cpu_cuda_header), digest_piece(cpu_arch_header),
                           digest_piece(cpu_copies_header), digest_piece(cpu_narrow_header)};
    const digest header = digest_of(pieces, sizeof pieces / sizeof pieces[0]);
    char hexadecimal[DIGEST_TEXT];
    digest_print(&header, hexadecimal);
    text t = text_new(j);
    text_printf(&t, "%s\nheader %s\n", file, hexadecimal);
    const char *flags[HOST_FLAGS + 1] = {NULL};
    host_flags(flags, 0, true, true);
    text_printf(&t, "%s, %s beyond %d\n", command_line(j, flags), long_kernels, LONG_SOURCE);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i]) != NULL)
            text_printf(&t, "%s=%s\n", variables[i], getenv(variables[i]));
    text_add(&t, machine);
    return t.data;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static int count_lines(const char *begin, const char *end) {
    int count = 0;
    for (; begin < end; begin++)
        count += *begin == '\n';
    return count;
}

/* The emitted text under its own name, without the operations of a GPU. */
static void add_source(text *t, const char *name, const char *source, size_t arch_begin,
                       size_t arch_end) {
    text_printf(t, "#line 1 \"%s.cu\"\n", name);
    text_add_bytes(t, source, arch_begin);
    text_printf(t, "\n#line %d\n", 1 + count_lines(source, source + arch_end));
    text_add(t, source + arch_end);
}

/* The namespace of the spares, which repeat most names of the program. */
static const char spares[] = "sg_cpu_spares";

/* The file to compile: headers, emitted texts, table of kernels. */
static void write_source(job *j, const program *p, const scratch *s) {
    text t = text_new(j);
    text_add(&t, cpu_cuda_header);
    text_printf(&t, "#line 1 \"cpu_arch.h\"\n%s", cpu_arch_header);
    text_printf(&t, "#line 1 \"cpu_copies.h\"\n%s", cpu_copies_header);
    text_printf(&t, "#line 1 \"cpu_narrow.h\"\n%s", cpu_narrow_header);
    add_source(&t, p->name, p->source, p->arch_begin, p->arch_end);
    if (program_spare_source(p) != NULL) {
        text_printf(&t, "\nnamespace %s {\n", spares);
        add_source(&t, p->name, p->grid.spare_source, p->grid.spare_arch_begin,
                   p->grid.spare_arch_end);
        text_add(&t, "\n}\n");
    }
    text_printf(&t, "\n#line 1 \"%s.kernels\"\n", p->name);
    for (int i = 0; i < p->launch_count; i++) {
        const bool spare = i >= program_own_launches(p);
        text_printf(&t, "%s(%d, %s%s, %s)\n",
                    p->launches[i].barriers ? "SG_CPU_THREAD" : "SG_CPU_BLOCK", i,
                    spare ? spares : "", spare ? "::" : "", p->launches[i].entry);
    }
    text_add(&t, "SG_CPU_MODULE(");
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&t, "%ssg_cpu_kernel_%d", i > 0 ? ", " : "", i);
    text_add(&t, ")\n");
    const scratch_piece piece = {t.data, t.length};
    scratch_write(j, s, SCRATCH_SOURCE, &piece, 1);
}

/* The compiler's temporary files go to the same folder and are removed with it. */
static void run_compiler(job *j, const host_answer *with, const program *p, const scratch *s) {
    enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };
    const char *words[HOST_FLAGS + 8 + LIBRARIES] = {with->program.path};
    int n = host_flags(words, 1, with->native, with->wide);
    if (strlen(p->source) > LONG_SOURCE && with->gnu)
        words[n++] = long_kernels;
    words[n++] = "-shared";
    words[n++] = "-o";
    words[n++] = scratch_at(j, s, SCRATCH_OBJECT);
    words[n++] = scratch_at(j, s, SCRATCH_SOURCE);
    memcpy(words + n, libraries, sizeof libraries);

    const command_setting command = {.words = words, .temporary = s->folder, .held = s->inside};
    const char *printed;
    int error;
    const int code = host_command(j, &command, &printed, &error);
    if (code < 0)
        job_fail(j, FAULT_COMPILER, NULL, 0, "%s cannot be run: %s; install g++ or set SG_CXX",
                 with->program.path, strerror(error));
    if (code == 0 && faccessat(s->inside, SCRATCH_OBJECT, R_OK, 0) == 0)
        return;
    scratch_demand_room(j, s, code, printed);
    job_fail(j, FAULT_COMPILER, NULL, 0, "the host compiler failed (exit code %d):\n%s\n%s", code,
             command_line(j, words), printed);
}

static binary make_binary(job *j, const host_answer *with, const program *p, scratch_place *place) {
    scratch *s = scratch_open(j, place);
    write_source(j, p, s);
    const double start = clock_seconds();
    run_compiler(j, with, p, s);
    binary b = {.kind = BINARY_HOST, .registers = -1, .shared_bytes = -1, .local_bytes = -1};
    b.data.data = scratch_read(j, s, SCRATCH_OBJECT, &b.data.size);
    b.seconds = clock_seconds() - start;
    b.compiler = job_print(j, "%s", with->name);
    scratch_close(j, s);
    return b;
}

/* ---- the compiler ---------------------------------------------------------------------------- */

typedef struct host_maker {
    compiler base;
    scratch_place place;
    pthread_mutex_t lock; /* guards what follows */
    bool asked;
    digest identity; /* of the program that was asked */
    host_answer answer;
} host_maker;

static void unlock(void *lock) {
    pthread_mutex_unlock(lock);
}

/* Asks if nobody has, or if the answer was another program's. */
static host_answer know(host_maker *m, job *j, host_program p, const char *identity) {
    const char *why = NULL;
    const blob piece = digest_piece(identity);
    const digest now = digest_of(&piece, 1);
    pthread_mutex_lock(&m->lock);
    job_defer(j, unlock, &m->lock);
    if (!m->asked || !digest_equal(&m->identity, &now)) {
        const host_answer *a = host_ask(j, p, &why);
        if (a == NULL)
            job_fail(j, FAULT_COMPILER, NULL, 0, "%s", why);
        m->answer = *a;
        m->identity = now;
        m->asked = true;
    }
    host_answer with = m->answer;
    with.program = p;
    job_undo(j, &m->lock);
    return with;
}

static binary compile(compiler *base, job *j, const program *p, const char *arch,
                      binary_kind kind) {
    host_maker *m = (host_maker *)base;
    assert(kind == BINARY_HOST);
    (void)kind;
    (void)arch;
    const char *why = "the C++ compiler is gone";
    const host_program found = host_find(j, &why);
    const char *identity_now = identity_of(j, found);
    if (identity_now == NULL)
        job_fail(j, FAULT_COMPILER, NULL, 0, "%s", why);
    const host_answer with = know(m, j, found, identity_now);
    return make_binary(j, &with, p, &m->place);
}

static void close_maker(compiler *base) {
    host_maker *m = (host_maker *)base;
    pthread_mutex_destroy(&m->lock);
}

compiler *host_compiler(job *j) {
    static const compiler_ops ops = {identity, compile, close_maker};
    host_maker *m = job_alloc(j, sizeof *m);
    m->base.ops = &ops;
    atomic_init(&m->place.swept, false);
    pthread_mutex_init(&m->lock, NULL);
    return &m->base;
}

scratch_place *host_compiler_place(compiler *base) {
    return &((host_maker *)base)->place;
}
