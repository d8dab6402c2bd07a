/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

#include "run/tool.h"

#include <string.h>

static const char *const levels[] = {"good", "advice", "bad"};

static size_t count_of(const sf_tool_checks *checks, sf_tool_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++)
        count += checks->items[i].level == level;
    return count;
}

static void add_json(sf_text *text, const app_call *call, const sf_tool_checks *checks)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_bool(&json, "ok", count_of(checks, SF_TOOL_BAD) == 0);
    sf_json_array(&json, "checks");
    for (size_t i = 0; i < checks->count; i++) {
        const sf_tool_check *check = &checks->items[i];
        sf_json_object(&json, NULL);
        sf_json_string(&json, "name", check->name);
        sf_json_bool(&json, "ok", check->level != SF_TOOL_BAD);
        sf_json_string(&json, "level", levels[check->level]);
        sf_json_string(&json, "detail", check->found);
        sf_json_string(&json, "advice", check->advice[0] != '\0' ? check->advice : NULL);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

static void add_lines(sf_text *text, const sf_tool_checks *checks)
{
    static const char *const signs[] = {"  ", "? ", "! "};
    for (size_t i = 0; i < checks->count; i++) {
        const sf_tool_check *check = &checks->items[i];
        sf_text_printf(text, "%s%-14s %s\n", signs[check->level], check->name, check->found);
        if (check->advice[0] != '\0')
            sf_text_printf(text, "%17s-> %s\n", "", check->advice);
    }
    size_t bad = count_of(checks, SF_TOOL_BAD), advised = count_of(checks, SF_TOOL_ADVICE);
    sf_text_printf(text, "%zu good, %zu that could be better (?), %zu that a run would fail by (!)",
                   checks->count - advised - bad, advised, bad);
}

static int run(app_call *call, sf_error *error)
{
    sf_tool_checks checks;
    sf_text text = {0};
    sf_tool_doctor(&checks, app_value(call, "folder", "."), "");
    call->wanting = count_of(&checks, SF_TOOL_BAD) > 0;
    if (call->json)
        add_json(&text, call, &checks);
    else
        add_lines(&text, &checks);
    return app_print(&text, error);
}

static const app_option options[] = {
    {"folder", "DIR",
     "where recordings are to go (default: here); it is written to for a second, and nothing stays"},
    {NULL, NULL, NULL},
};

const app_command app_command_doctor = {
    .name = "doctor",
    .group = "live",
    .summary = "what a live run on this machine depends on, and what to do about it",
    .arguments = "",
    .least_arguments = 0,
    .most_arguments = 0,
    .example = "synfire doctor --folder .",
    .notes =
        "Cores and their frequency, real-time rights, locked memory, clocks, buffers of sockets, ports, "
        "serial "
        "lines, GPUs with their driver, HDF5's locks, and the disk. Exit code 0, or 1 where a run would fail "
        "or lose (!); what is only advised (?) leaves it 0. docs/operations.md explains each line.",
    .options = {options},
    .run = run,
};
