/* The page as a whole: heading, style, script, sections in order, source of the best plan. */
#include "cli/report/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

/* ---- words --------------------------------------------------------------------------------- */

static void add_text(text *b, const char *string) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (const char *at = string; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        const char *found = strchr(special, *at);
        if (found != NULL)
            text_add(b, entities[found - special]);
        else if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            text_add(b, "\xef\xbf\xbd");
        else
            text_add_bytes(b, at, 1);
    }
}

void html_add(text *b, const char *markup, ...) {
    va_list texts;
    va_start(texts, markup);
    for (const char *next; (next = strstr(markup, "%s")) != NULL; markup = next + 2) {
        text_add_bytes(b, markup, (size_t)(next - markup));
        add_text(b, va_arg(texts, const char *));
    }
    va_end(texts);
    text_add(b, markup);
}

/* ---- what is in it ------------------------------------------------------------------------- */

void page_look(page *p) {
    p->best = p->usual_row = -1;
    for (int i = 0; i < p->count; i++) {
        const sg_result *r = &p->rows[i];
        if (page_is_right(r) && (p->best < 0 || page_is_faster(r, &p->rows[p->best])))
            p->best = i;
        if (p->usual != NULL && strcmp(r->plan, p->usual) == 0)
            p->usual_row = i;
    }
    page_kinds_find(p);
}

static int count_state(const page *p, const char *state) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += strcmp(p->rows[i].state, state) == 0;
    return count;
}

/* ---- heading ------------------------------------------------------------------------------- */

static void add_fact(text *out, const char *name, const char *value) {
    if (value[0] != '\0')
        html_add(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static const char *day_of(int64_t milliseconds) {
    const time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    char string[sizeof "2026-11-21 12:34 UTC and more"];
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(string, sizeof string, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        return "";
    return new_copy(string);
}

static const char *counts_of(const page *p) {
    static const char *const states[] = {"right",        "wrong",  "refused",
                                         "not compiled", "failed", "hung"};
    text out = new_text();
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        const int count = count_state(p, states[i]);
        if (count > 0)
            text_printf(&out, "%s%d %s", out.length > 0 ? ", " : "", count, states[i]);
    }
    return out.data;
}

static void add_facts(const page *p, text *out) {
    const sg_result *r = &p->rows[0], *last = &p->rows[p->count - 1];
    const words *w = words_of_kind(r->kind);
    const bool bare = w->is_grid || result_is_of_matrix(r);
    const bool moment = last->taken / 60000 == r->taken / 60000;
    text_add(out, "<dl class=\"facts\">\n");
    add_fact(out, "Spec", p->spec);
    add_fact(out, "Computes", p->shape);
    add_fact(out, "Type", p->dtype);
    add_fact(out, "Device",
             phrase("%s, %s, %d %s", r->device_name, r->arch, r->multiprocessors,
                    strcmp(r->device, "cpu") == 0 ? "cores" : "multiprocessors"));
    add_fact(out, "Size",
             phrase("%s%s%s%s", size_of_result(r), bare ? "" : " ", bare ? "" : w->points,
                    r->steps > 1 ? phrase(", %" PRId64 " steps at a time", r->steps) : ""));
    add_fact(out, "Candidates", counts_of(p));
    add_fact(out, "Measured",
             phrase("%s%s%s", day_of(r->taken), moment ? "" : " to ",
                    moment ? "" : day_of(last->taken)));
    add_fact(out, "With",
             phrase("stencilgen %s%s%s%s", r->generator, r->compiler[0] != '\0' ? ", " : "",
                    r->compiler,
                    r->driver > 0
                        ? phrase(", driver for CUDA %d.%d", r->driver / 1000, r->driver % 1000 / 10)
                        : ""));
    text_add(out, "</dl>\n");
}

static void add_tile(text *out, const char *number, const char *name, const char *more) {
    html_add(out, "<div class=\"tile\"><b>%s</b><span>%s</span><small>%s</small></div>\n", number,
             name, more);
}

static void add_gain(const page *p, text *out) {
    const sg_result *usual = p->usual_row >= 0 ? &p->rows[p->usual_row] : NULL;
    const bool known = usual != NULL && page_is_right(usual);
    const char *more = "which plan is the default is not known";
    if (known && p->usual_row == p->best)
        more = "the default is the best plan";
    else if (p->usual != NULL)
        more = phrase("%s, %s", p->usual,
                      known ? in_seconds(page_time(usual)) : "which was not measured");
    add_tile(out, known ? phrase("%.3g×", page_time(usual) / page_time(&p->rows[p->best])) : "—",
             "speed over the default plan", more);
}

static int count_finals(const page *p) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += p->rows[i].final_seconds > 0 && p->rows[i].sweep == p->rows[p->best].sweep;
    return count;
}

static void add_tiles(const page *p, text *out) {
    const sg_result *best = &p->rows[p->best];
    const char *how;
    if (best->final_seconds > 0)
        how = phrase("by the finals, in turns with the %d next; %s before", count_finals(p) - 1,
                     in_seconds(best->median));
    else
        how = phrase(
            "median of %d%s", best->repeats,
            isfinite(best->spread) ? phrase(", quartiles %.2g %% apart", 100 * best->spread) : "");
    text_add(out, "<div class=\"tiles\">\n");
    add_tile(out, in_seconds(page_time(best)),
             best->steps > 1 ? "a run of all steps" : words_of_kind(best->kind)->step, how);
    add_gain(p, out);
    if (isfinite(page_of_copy(best)))
        add_tile(out, phrase("%.3g", page_of_copy(best)), "of the speed of a copy",
                 "the same bytes, in the same run");
    text_add(out, "</div>\n");
}

static void add_heading(const page *p, text *out) {
    const int wrong = count_state(p, "wrong");
    html_add(out, "<header>\n<h1>%s</h1>\n", p->name);
    if (p->best >= 0) {
        html_add(out, "<p class=\"plan\"><code>%s</code></p>\n", p->rows[p->best].plan);
        add_tiles(p, out);
    } else {
        text_add(out, "<p class=\"bad\">No candidate was right and timed.</p>\n");
    }
    if (wrong > 0)
        text_printf(out,
                    "<p class=\"bad\">%s computed wrong values: a defect to report; "
                    "see the table.</p>\n",
                    counted(wrong, "candidate"));
    add_facts(p, out);
    text_add(out, "</header>\n");
}

/* ---- looks ---------------------------------------------------------------------------------- */

/* The colours follow Okabe and Ito's set for all kinds of colour vision ("Color Universal Design",
   2008), darker on white and lighter on black: marks have a contrast of 3 : 1 and text 4.5 : 1. */
static const char page_style[] =
    ":root{color-scheme:light dark;--back:#ffffff;--card:#f6f7f9;--text:#1a1c20;--soft:#555b66;"
    "--line:#d5d9e0;--axis:#757c88;--k0:#0072b2;--k1:#c04a00;--k2:#007a57;--k3:#a8487f;"
    "--k4:#4b5666;--k5:#8a6100;--accent:#0063a0;--bad:#b00020}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#121417;--card:#1c1f24;--text:#eceef1;"
    "--soft:#aab1bd;--line:#343a43;--axis:#8a93a1;--k0:#56b4e9;--k1:#f28a4b;--k2:#2fc499;"
    "--k3:#e199c3;--k4:#b9bec6;--k5:#e6b800;--accent:#7cc4f5;--bad:#ff8a8a}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--back);color:var(--text);font:16px/1.45 system-ui,sans-serif}\n"
    "main{max-width:1240px;margin:0 auto;padding:16px;display:grid;gap:16px;"
    "grid-template-columns:minmax(0,1fr)}\n"
    ".charts{display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),"
    "1fr))}\n"
    "section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px;"
    "min-width:0}\n"
    "h1{margin:0;font-size:1.7rem}h2{margin:0 0 6px;font-size:1.1rem}\n"
    "p{margin:0 0 10px}section>p{color:var(--soft);font-size:.9rem}\n"
    "code,th[scope=row]{font:.88rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}\n"
    ".plan code{color:var(--text);font-size:1rem}\n"
    ".tiles{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,220px),"
    "1fr));margin:12px 0}\n"
    ".tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px}\n"
    ".tile b,.tile span,.tile small{display:block}.tile b{font-size:1.6rem;line-height:1.2}\n"
    ".tile small{color:var(--soft);overflow-wrap:anywhere}\n"
    ".facts{display:grid;gap:4px 24px;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),"
    "1fr));margin:0}\n"
    ".facts div{display:flex;gap:8px}dt{color:var(--soft);flex:0 0 6.2em}\n"
    "dd{margin:0;min-width:0;overflow-wrap:anywhere}.bad{color:var(--bad);font-weight:600}\n"
    "figure{margin:0;width:100%;max-width:520px}figcaption{font-size:.9rem;font-weight:600}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "text{font:12.5px system-ui,sans-serif;fill:var(--text)}.tick{fill:var(--soft)}\n"
    ".note{font-size:12px}.grid{stroke:var(--line);stroke-width:.7}\n"
    ".axis{fill:none;stroke:var(--axis)}.roof{stroke:var(--text);stroke-width:1.5;"
    "stroke-dasharray:6 3}\n"
    ".line{fill:none;stroke:var(--accent);stroke-width:1.8}\n"
    ".m{fill-opacity:.75}.halo{fill:none;stroke:var(--text);"
    "stroke-width:1.6}\n"
    ".k0{fill:var(--k0);stroke:var(--k0)}.k1{fill:var(--k1);stroke:var(--k1)}"
    ".k2{fill:var(--k2);stroke:var(--k2)}.k3{fill:var(--k3);stroke:var(--k3)}"
    ".k4{fill:var(--k4);stroke:var(--k4)}.k5{fill:var(--k5);stroke:var(--k5)}\n"
    ".k0,.k1,.k2,.k3,.k4,.k5{stroke-width:.4}"
    ".k6{fill:none;stroke:var(--bad);stroke-width:1.5}\n"
    ".m:hover,.m.on{fill-opacity:1;stroke:var(--text);stroke-width:2}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:2px 16px}.key{display:inline-block;width:14px;"
    "height:14px;vertical-align:-2px}\n"
    "summary{cursor:pointer;padding:4px 0}\n"
    "pre{margin:8px 0 0;max-height:70vh;overflow:auto;white-space:pre-wrap;"
    "overflow-wrap:anywhere}\n"
    "table{border-collapse:collapse;width:100%;font-size:.88rem}\n"
    "th,td{padding:5px 8px;text-align:right;border-bottom:1px solid var(--line)}\n"
    "thead th{color:var(--soft);font-weight:600;vertical-align:bottom}\n"
    "th:first-child{text-align:left;font-weight:400}.best th,.best td{font-weight:700}\n"
    ".lost td{text-align:left;color:var(--bad);overflow-wrap:anywhere}\n"
    "em{color:var(--accent);font-style:normal;font-weight:700}\n"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:2px}\n"
    ".tip{position:fixed;z-index:1;max-width:min(330px,94vw);padding:6px 9px;border-radius:6px;"
    "background:var(--text);color:var(--back);font-size:.84rem;pointer-events:none;"
    "overflow-wrap:anywhere}\n"
    "@media (max-width:700px){main{padding:10px;gap:10px}section{padding:10px}"
    "thead{display:none}tr,tbody,table{display:block}tr{padding:8px 0;"
    "border-bottom:1px solid var(--line)}th,td{border:0;padding:0}th:first-child{display:block}"
    "td{display:inline-block;margin-right:14px}td[data-name]::before{content:attr(data-name) ' ';"
    "color:var(--soft);font-weight:400}}\n";

/* Shows the title of a mark next to it at once, for touch and keys too. Without the script,
   browsers show titles as they do anywhere. */
static const char page_script[] =
    "(function(){'use strict';\n"
    "var tip=document.createElement('div');tip.className='tip';tip.hidden=true;\n"
    "tip.setAttribute('role','status');document.body.appendChild(tip);\n"
    "var shown=null;\n"
    "function text(m){var t=m.querySelector('title');if(t){m.setAttribute('aria-label',"
    "t.textContent);t.remove();}return m.getAttribute('aria-label');}\n"
    "function hide(){if(shown)shown.classList.remove('on');shown=null;tip.hidden=true;}\n"
    "function show(m){hide();shown=m;m.classList.add('on');tip.textContent=text(m);\n"
    "tip.hidden=false;var b=m.getBoundingClientRect(),w=tip.offsetWidth,h=tip.offsetHeight;\n"
    "tip.style.left=Math.max(4,Math.min(innerWidth-w-4,b.left+b.width/2-w/2))+'px';\n"
    "tip.style.top=(b.top>h+8?b.top-h-6:b.bottom+6)+'px';}\n"
    "document.addEventListener('pointerover',function(e){var m=e.target.closest&&"
    "e.target.closest('.m');if(m)show(m);else hide();});\n"
    "document.addEventListener('scroll',hide,true);\n"
    "document.querySelectorAll('svg[role=img]').forEach(function(s){\n"
    "var list=Array.from(s.querySelectorAll('.m')),at=-1;if(!list.length)return;\n"
    "s.setAttribute('tabindex','0');s.addEventListener('blur',hide);\n"
    "s.addEventListener('focus',function(){if(s.matches(':focus-visible')){if(at<0)at=Math.max(0,"
    "list.findIndex(function(m){return m.classList.contains('best');}));show(list[at]);}});\n"
    "s.addEventListener('keydown',function(e){var d={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,"
    "ArrowUp:-1}[e.key];if(e.key==='Escape')hide();if(!d)return;e.preventDefault();\n"
    "at=(at+d+list.length)%list.length;show(list[at]);});});})();\n";

/* ---- the whole ----------------------------------------------------------------------------- */

static void add_source(const page *p, text *out) {
    if (p->best < 0)
        return;
    text_add(out, "<section id=\"source\">\n<h2>The best plan</h2>\n");
    if (p->source != NULL)
        html_add(out,
                 "<details>\n<summary>Its source</summary>\n<pre><code>%s</code></pre>\n"
                 "</details>\n",
                 p->source);
    else
        html_add(out, "<p>Its source could not be made: %s</p>\n",
                 p->source_trouble != NULL ? p->source_trouble : "unknown");
    text_add(out, "</section>\n");
}

void page_write(const page *p, text *out) {
    /* The policy keeps browsers from fetching anything. */
    html_add(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<title>%s, %s, %s</title>\n<style>\n",
             p->name, size_of_result(&p->rows[0]), p->rows[0].device_name);
    text_add(out, page_style);
    text_add(out, "</style>\n</head>\n<body>\n<main>\n");
    add_heading(p, out);
    text_add(out, "<div class=\"charts\">\n");
    page_write_roofline(p, out);
    page_write_progress(p, out);
    page_write_drift(p, out);
    text_add(out, "</div>\n");
    add_source(p, out);
    page_write_table(p, out);
    text_printf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", page_script);
}
