/* stencilgen, the command. Takes: arguments. Makes: what the command they name makes.
   Uses the library through stencilgen.h alone, like any application. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands/commands.h"

/* A file opened while a standard stream is closed would take its number, and get its text. Reading
   from or writing to these replacements fails, as on the closed stream. */
static void occupy_standard_streams(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        while (fcntl(file, F_GETFD) < 0 &&
               open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_DEVICE);
}

static int run(const options *o) {
    text out = new_text();
    if (o->help || o->version) {
        if (o->help)
            options_help(&out);
        else
            text_add(&out, "stencilgen " SG_VERSION "\n");
        return say(&out);
    }
    switch (o->command) {
    case COMMAND_RUN:
        return command_run(o);
    case COMMAND_EXPLAIN:
        return command_explain(o);
    case COMMAND_TUNE:
        return command_tune(o);
    case COMMAND_REPORT:
        return command_report(o);
    case COMMAND_DOCTOR:
        return command_doctor(o);
    case COMMAND_CACHE:
        return command_cache(o);
    case COMMAND_BUILD:
    case COMMAND_BENCH:
    case COMMAND_COUNT:
        break;
    }
    return command_build(o);
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
