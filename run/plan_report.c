/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an algorithm, as lines or JSON. */
#include "core/provenance.h"
#include "plan/analysis.h"
#include "run/plan_file.h"
#include "run/tool.h"

static void write_element(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_element *element)
{
    sf_plan_element_write(text, element, &algorithm->trees, &algorithm->variables, &algorithm->parameters);
}

/* ---- JSON ---- */

/* The elements of a set, each once. */
static void print_elements(sf_json *json, const char *key, const sf_plan_algorithm *algorithm,
                           const sf_plan_dependencies *set)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < set->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !sf_plan_element_same(&set->items[k].element, &set->items[i].element);
        sf_text name = {0};
        write_element(&name, algorithm, &set->items[i].element);
        if (first)
            sf_json_string(json, NULL, name.data);
        sf_text_free(&name);
    }
    sf_json_end_array(json);
}

static void print_operations(sf_json *json, const char *set_name, const sf_plan_algorithm *algorithm,
                             const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const sf_plan_dependency *found = &set->items[i];
        sf_text name = {0};
        write_element(&name, algorithm, &found->element);
        sf_json_object(json, NULL);
        sf_json_string(json, "set", set_name);
        sf_json_string(json, "element", name.data);
        sf_json_string(json, "first", sf_plan_operation_name(found->first));
        sf_json_string(json, "second", sf_plan_operation_name(found->second));
        sf_json_bool(json, "commute", found->commute);
        sf_json_string(json, "aggregation", found->aggregation);
        sf_json_end_object(json);
        sf_text_free(&name);
    }
}

static void print_verdict(sf_json *json, const sf_plan_algorithm *algorithm, const sf_plan_verdict *verdict)
{
    print_elements(json, "flow", algorithm, &verdict->flow);
    print_elements(json, "anti", algorithm, &verdict->anti);
    print_elements(json, "output", algorithm, &verdict->output);
    print_elements(json, "decided_by", algorithm, &verdict->decided);
    sf_json_array(json, "operations");
    print_operations(json, "flow", algorithm, &verdict->flow);
    print_operations(json, "anti", algorithm, &verdict->anti);
    print_operations(json, "output", algorithm, &verdict->output);
    sf_json_end_array(json);
    sf_json_bool(json, "shared", verdict->shared);
    sf_json_bool(json, "distributed", verdict->distributed);
    sf_json_bool(json, "bernstein", verdict->bernstein);
    sf_json_string(json, "answer", sf_plan_answer_name(verdict->answer));
}

static void print_json(sf_text *text, const char *path, const sf_plan_algorithm *algorithm,
                       const sf_plan_analysis *analysis, const char *form, const sf_provenance *made_by)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "file", path);
    sf_json_string(&json, "algorithm", algorithm->name);
    sf_json_array(&json, "pairs");
    for (size_t i = 0; i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        sf_json_object(&json, NULL);
        sf_json_string(&json, "first", algorithm->steps[pair->first].name);
        sf_json_string(&json, "second", algorithm->steps[pair->second].name);
        print_verdict(&json, algorithm, &pair->verdict);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "loops");
    for (size_t i = 0; i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE)
            continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        sf_json_object(&json, NULL);
        sf_json_string(&json, "loop", loop->name);
        sf_json_string(&json, "variable", algorithm->variables.items[loop->variable]);
        sf_json_array(&json, "body");
        for (size_t k = 0; k < loop->body_count; k++)
            sf_json_string(&json, NULL, algorithm->steps[loop->body[k]].name);
        sf_json_end_array(&json);
        print_verdict(&json, algorithm, &level->verdict);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_string(&json, "form", form);
    sf_provenance_json(&json, "provenance", made_by);
    sf_json_end_object(&json);
}

/* ---- text ---- */

/* One line for each element and its two operations: "flow    m[2]  add, then extract: do not commute". */
static void write_set(sf_text *text, const char *name, const sf_plan_algorithm *algorithm,
                      const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const sf_plan_dependency *found = &set->items[i];
        sf_text element = {0};
        write_element(&element, algorithm, &found->element);
        sf_text_printf(text, "    %-7s %-14s %s, then %s: %s", name, element.data != NULL ? element.data : "",
                       sf_plan_operation_name(found->first), sf_plan_operation_name(found->second),
                       found->commute ? "they commute" : "do not commute");
        if (!found->commute && found->aggregation != NULL)
            sf_text_printf(text, ", changes joined by %s", found->aggregation);
        sf_text_printf(text, "\n");
        sf_text_free(&element);
    }
}

static void write_verdict(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_verdict *verdict)
{
    static const char *const answers[] = {"one after the other", "at once, on one model (parallels)",
                                          "at once, on a copy each, changes joined (paralleld)"};
    sf_text_printf(text, "%s", answers[verdict->answer]);
    for (size_t i = 0; i < verdict->decided.count; i++) {
        sf_text_printf(text, i > 0                                   ? ", "
                             : verdict->answer == SF_PLAN_SEQUENTIAL ? ", by "
                                                                     : ", because of ");
        write_element(text, algorithm, &verdict->decided.items[i].element);
    }
    if (verdict->bernstein)
        sf_text_printf(text, "; they have nothing in common");
    else if (verdict->answer != SF_PLAN_SEQUENTIAL)
        sf_text_printf(text, "; by Bernstein's condition not");
    sf_text_printf(text, "\n");
    write_set(text, "flow", algorithm, &verdict->flow);
    write_set(text, "anti", algorithm, &verdict->anti);
    write_set(text, "output", algorithm, &verdict->output);
}

static void write_report(sf_text *text, const char *path, const sf_plan_algorithm *algorithm,
                         const sf_plan_analysis *analysis, const char *form)
{
    sf_text_printf(text, "%s: %s, %zu functions and loops\n\nneighbours\n", path, algorithm->name,
                   algorithm->step_count);
    for (size_t i = 0; i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        sf_text_printf(text, "  %s, %s: ", algorithm->steps[pair->first].name,
                       algorithm->steps[pair->second].name);
        write_verdict(text, algorithm, &pair->verdict);
    }
    sf_text_printf(text, "\nloops, one round and the next\n");
    for (size_t i = 0; i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE)
            continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        sf_text_printf(text, "  %s over %s: ", loop->name, algorithm->variables.items[loop->variable]);
        write_verdict(text, algorithm, &level->verdict);
    }
    sf_text_printf(text, "\nparallel form (what runs first stands last)\n  %s", form);
}

/* ---- the whole ---- */

static void report(sf_text *text, const char *path, const sf_plan_algorithm *algorithm,
                   const sf_plan_analysis *analysis, const sf_provenance *made_by)
{
    sf_text form = {0};
    sf_plan_write_form(&form, algorithm, analysis);
    const char *written = form.data != NULL ? form.data : "";
    if (made_by != NULL)
        print_json(text, path, algorithm, analysis, written, made_by);
    else
        write_report(text, path, algorithm, analysis, written);
    sf_text_free(&form);
}

int sf_tool_plan(sf_text *text, const char *path, const sf_provenance *made_by, sf_error *error)
{
    sf_plan_algorithm algorithm;
    int status = sf_plan_read(&algorithm, path, error);
    if (status != SF_OK)
        return status;
    sf_plan_analysis analysis;
    status = sf_plan_analyse(&analysis, &algorithm, error);
    if (status == SF_OK)
        report(text, path, &algorithm, &analysis, made_by);
    sf_plan_analysis_free(&analysis);
    sf_plan_algorithm_free(&algorithm);
    return status;
}
