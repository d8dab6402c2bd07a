/* SPDX-License-Identifier: Apache-2.0 */
#include "io/graph/file.h"

#include "core/error.h"
#include "core/file.h"
#include "core/ranks.h"
#include "io/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* In order of detection: formats with a reliable signature first, the edge list last. */
static const sf_graph_format *const formats[] = {
#ifdef SYNFIRE_HAVE_IO
    &sf_graph_hdf5,
#endif
    &sf_graph_matrix_market, &sf_graph_graphml,   &sf_graph_labelled,
    &sf_graph_dot,           &sf_graph_edge_list, &sf_graph_pairs,
};

enum { FORMATS = sizeof formats / sizeof formats[0], PEEK = 4096 };

static bool has_ending(const sf_graph_format *format, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot == NULL || strchr(dot, '/') != NULL) return false;
    size_t length = strlen(dot);
    for (const char *s = format->endings; *s != '\0'; s += *s == ' ') {
        size_t ending = strcspn(s, " ");
        if (ending == length && strncasecmp(s, dot, length) == 0) return true;
        s += ending;
    }
    return false;
}

static bool can_read(const sf_graph_format *format)
{
    return format->parse != NULL || format->read != NULL;
}

static bool can_write(const sf_graph_format *format)
{
    return format->print != NULL || format->write != NULL;
}

/* The first bytes of a regular file without a byte order mark; false where there is none to read. */
static bool peek(char start[PEEK], size_t *size, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    *size = fread(start, 1, PEEK, file);
    fclose(file);
    size_t mark = sf_utf8_mark(start, *size);
    *size -= mark;
    memmove(start, start + mark, *size);
    return true;
}

const sf_graph_format *sf_graph_file_format(const char *path)
{
    char start[PEEK];
    size_t size;
    if (!peek(start, &size, path)) return NULL;
    for (size_t i = 0; i < FORMATS; i++)
        if (can_read(formats[i]) && ((formats[i]->detect != NULL && formats[i]->detect(start, size)) ||
                                     (formats[i]->is_file != NULL && formats[i]->is_file(path))))
            return formats[i];
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->parse != NULL && has_ending(formats[i], path)) return formats[i];
    return NULL;
}

const char *sf_graph_written_only(const char *path)
{
    static const struct {
        const char *start, *what;
    } kinds[] = {{"digraph ", "a Graphviz file"},
                 {"graph synfire", "a Graphviz file"},
                 {"{\"vertices\":", "a graph as JSON"}};
    char start[PEEK];
    size_t size;
    bool found = peek(start, &size, path);
    for (size_t i = 0; found && i < sizeof kinds / sizeof kinds[0]; i++)
        if (size >= strlen(kinds[i].start) && memcmp(start, kinds[i].start, strlen(kinds[i].start)) == 0)
            return kinds[i].what;
    return NULL;
}

/* Approximate bytes of a file per edge, for the progress bar. */
enum { BYTES_OF_AN_EDGE = 12 };

int sf_graph_read(sf_edge_list *list, const char *path, const sf_progress *progress, sf_error *error)
{
    *list = (sf_edge_list){.progress = progress};
    if (access(path, R_OK) != 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    const sf_graph_format *format = sf_graph_file_format(path);
    const char *written_only = format == NULL ? sf_graph_written_only(path) : NULL;
    if (written_only != NULL)
        return sf_fail(error, SF_DATA, path, "is %s, which is only written: write .graphml or .h5 to read it",
                       written_only);
    if (format == NULL)
        return sf_fail(
            error, SF_DATA, path,
            "is no graph: looked for %%%%MatrixMarket, <graphml>, 't VERTICES EDGES', lines of two "
            "vertices, and the root attribute synfire=\"graph\" of an HDF5 file");
    sf_text text = {0};
    int status = SF_OK;
    if (format->read != NULL)
        status = format->read(list, path, error);
    else
        status = sf_file_read(&text, path, error);
    list->expected_edges = text.length / BYTES_OF_AN_EDGE;
    if (status == SF_OK && format->read == NULL)
        status = format->parse(list, path, text.data, text.length, error);
    sf_text_free(&text);
    list->progress = NULL;
    if (status != SF_OK) sf_edge_list_free(list);
    return status;
}

static const sf_graph_format *find_ending(const char *path)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (can_write(formats[i]) && has_ending(formats[i], path)) return formats[i];
    return NULL;
}

int sf_graph_check_ending(const char *path, sf_error *error)
{
    if (find_ending(path) != NULL) return SF_OK;
    sf_text known = {0};
    for (size_t i = 0; i < FORMATS; i++)
        if (can_write(formats[i])) sf_text_printf(&known, " %s", formats[i]->endings);
    int status = sf_fail(error, SF_USAGE, path, "the ending names no format of graphs; known are%s",
                         known.data != NULL ? known.data : "");
    sf_text_free(&known);
    return status;
}

int sf_graph_write(const sf_csr *csr, const char *path, sf_error *error)
{
    int status = sf_graph_check_ending(path, error);
    if (status != SF_OK) return status;
    const sf_graph_format *format = find_ending(path);
    if (format->write != NULL) { /* text formats are written by sf_file_write, which all ranks call */
        status = sf_ranks_agree(SF_OK, error);
        return status == SF_OK && sf_ranks_rank() == 0 ? format->write(csr, path, error) : status;
    }
    sf_text text = {0};
    status = format->print(&text, csr, error);
    if (status == SF_OK) status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

uint64_t sf_graph_most_vertices(uint64_t file_bytes)
{
    uint64_t most = (UINT64_C(1) << 20) + file_bytes;
    return most < SF_NO_VERTEX - 1 ? most : SF_NO_VERTEX - 1;
}

int sf_graph_check_vertices(uint64_t vertices, uint64_t file_bytes, const char *place, sf_error *error)
{
    uint64_t most = sf_graph_most_vertices(file_bytes);
    if (vertices <= most) return SF_OK;
    return sf_fail(error, SF_DATA, place,
                   "declares %" PRIu64 " vertices, expected at most %" PRIu64 " in a file of %" PRIu64
                   " bytes: nearly all of them would have no edge",
                   vertices, most, file_bytes);
}

void sf_graph_print_line(sf_text *out, const char *name)
{
    for (const char *s = name; *s != '\0'; s++)
        sf_text_append(out, (unsigned char)*s < 0x20 ? " " : s, 1);
}
