/* One line to whoever listens. */
#include "runtime/cache/logger.h"

#include "base/text.h"

void logger_say(const logger *l, job *j, sg_log_level level, const char *format, ...) {
    if (l == NULL || l->call == NULL)
        return;
    text line = text_new(j);
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&line, format, arguments);
    va_end(arguments);
    l->call(l->user, level, line.data);
}
