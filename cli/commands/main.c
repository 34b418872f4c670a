/* stencilgen, the command. Takes: arguments. Makes: what the command they name makes.
   Uses the library through stencilgen.h alone, like any application. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"

/* A file opened while a standard stream is closed would take its number, and get its text. Reading
   from or writing to these replacements fails, as on the closed stream. */
static void occupy_standard_streams(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        while (fcntl(file, F_GETFD) < 0 &&
               open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_DEVICE);
}

static int run(const options *o) {
    static int (*const commands[COMMAND_COUNT])(const options *) = {
        [COMMAND_BUILD] = command_build,   [COMMAND_RUN] = command_run,
        [COMMAND_BENCH] = command_build,   [COMMAND_EXPLAIN] = command_explain,
        [COMMAND_TUNE] = command_tune,     [COMMAND_REPORT] = command_report,
        [COMMAND_DOCTOR] = command_doctor, [COMMAND_CACHE] = command_cache,
    };
    text out = new_text();
    if (!o->help && !o->version)
        return commands[o->command](o);
    if (o->help)
        options_help(&out);
    else
        text_add(&out, "stencilgen " SG_VERSION "\n");
    return say(&out);
}

int main(int count, char **arguments) {
    options o;
    if (count == 2 && strcmp(arguments[1], "tune-worker") == 0)
        return sg_tune_worker(); /* asked by tune through a socket, by nobody else */
    occupy_standard_streams();
    output_guard_signals();
    const int code = options_parse(&o, count - 1, arguments + 1) ? run(&o) : EXIT_USAGE;
    progress_end();
    forget_everything();
    return code;
}
