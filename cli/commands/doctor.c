/* doctor: what is used on this machine, and why. Takes: options. Makes: a finding a line. */
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/session.h"

typedef struct findings {
    text text;
    json json;
} findings;

static void add(void *user, const char *what, int usable, const char *text) {
    enum { INDENT = 22, WIDTH = 100 };
    findings *f = user;
    text_printf(&f->text, "%-4s %-16s ", usable ? "ok" : "-", what);
    add_wrapped(&f->text, text, INDENT, WIDTH);
    text_add(&f->text, "\n");
    json_object(&f->json, NULL);
    json_string(&f->json, "what", what);
    json_bool(&f->json, "usable", usable != 0);
    json_string(&f->json, "text", text);
    json_end_object(&f->json);
}

int command_doctor(const options *o) {
    text json_text = new_text();
    findings f = {.text = new_text(), .json = {.out = &json_text}};
    const sg_options wanted = {
        .struct_size = sizeof wanted, .device = o->device, .database = o->database};
    json_object(&f.json, NULL);
    json_string(&f.json, "stencilgen", SG_VERSION);
    json_string(&f.json, "command", command_name(o->command));
    json_array(&f.json, "findings");
    const sg_status status = sg_doctor(&wanted, add, &f);
    int code = exit_code(status);
    if (status != SG_OK)
        complain(code, NULL, "the diagnosis itself failed");
    json_end_array(&f.json);
    json_integer(&f.json, "exit", code);
    json_end_object(&f.json);
    code = first_failure(code, say(o->json ? &json_text : &f.text));
    return code;
}
