/* SPDX-License-Identifier: Apache-2.0 */
/* Subgraph matching, engine auto: depth-first search over sorted lists of candidates, by warps.
 *
 * A warp holds at most 32 partial embeddings of each size, one level of the search above the other, entries
 * that point to the level before as in a prefix tree. It takes the candidates of the next step of all of them
 * as one sequence, so that every lane has one to try, and fills the next level with those that fit: lists are
 * never stored, memory does not depend on the graph, and lanes idle only where a level does not fill up. What
 * comes after the core is not searched but counted for 32 embeddings at once.
 *
 * Work is shared out in rounds of one cooperative kernel. A round has a list of tasks, partial embeddings
 * with the candidates that are left of one step, or embeddings of the core, which warps take in batches. Once
 * all are taken, a warp that still searches hands out what it has left, in pieces, as tasks of the next
 * round. So no warp waits for a subtree that others could help with, and the list is bounded by what all
 * warps hold. */
#include "gpu/device.cuh"

extern "C" {
#include "core/backend_match.h"
#include "core/clock.h"
}

#include <cooperative_groups.h>
#include <string.h>
#include <time.h>

enum {
    LANES = 32,
    WARPS = 8, /* of a block */
    MOST = SF_BACKEND_MATCH_MOST,
    CLASSES = SF_BACKEND_MATCH_GROUP,
    PIECES = LANES, /* a level is handed out in about so many tasks */
    PATIENCE = 2,   /* times that every lane of a warp tries a candidate before it hands out what is left */
    REPORTING = 64, /* such times between two reports where there is a limit */
    NOT_JOINED = MOST
};

#define ALL_LANES 0xffffffffu
#define MOST_CANDIDATES (1u << 26) /* 32 lists of them are counted in 32 bits */

/* ---- what a kernel works with
 * -------------------------------------------------------------------------------- */

struct step {
    uint32_t set, set_size; /* where its candidates begin, and how many there are */
    uint32_t joined, excluded, greater, different;
    uint32_t lists[MOST]; /* where the offsets of the lists begin */
};

/* Tasks of a round: of every depth so many. */
struct queue {
    uint32_t count[MOST];
    uint32_t taken; /* batches */
};

struct control {
    queue queues[3]; /* of this round, the next, and one that is cleared meanwhile */
    unsigned long long found, tried, listed;
    uint32_t overflow, stop, beyond;
};

struct search {
    const uint32_t *candidates, *offsets, *values;
    control *shared;
    uint32_t *tasks[2]; /* of this round and the next, in turn */
    uint32_t room;      /* tasks of a depth */
    uint32_t *rows;
    unsigned long long most;
    uint32_t core, step_count, group_count, has_classes;
    step steps[MOST];
    uint32_t groups[MOST], alike; /* sets of steps; bits of groups */
};

/* Up to 32 partial embeddings of the same steps. */
struct level {
    uint32_t place[LANES], vertex[LANES]; /* of the last step: its candidate */
    uint32_t base[LANES];                 /* where the candidates of the next step begin among the values */
    uint32_t end[LANES];                  /* how many these and those of the entries before are */
    uint8_t parent[LANES];                /* the entry of the level before that it continues */
    uint8_t join[LANES];                  /* the step whose list they are; NOT_JOINED: all candidates */
    uint32_t count, cursor;               /* entries; candidates taken so far */
};

struct warp {
    const search &s;
    level *levels;
    uint32_t (*members)[LANES]; /* of the classes of a group, by set of classes: what is in all of it */
    unsigned lane, round, batches, trials;
    bool shares, stops; /* no task is left for others, or all must stop */
    unsigned long long found, tried;
};

static __device__ unsigned long long add(unsigned long long a, unsigned long long b)
{
    return a + b < a ? ~0ull : a + b;
}

static __device__ unsigned long long multiply(unsigned long long a, unsigned long long b)
{
    return __umul64hi(a, b) != 0 ? ~0ull : a * b;
}

/* ---- lists
 * --------------------------------------------------------------------------------------------------- */

static __device__ bool contains(const uint32_t *list, uint32_t low, uint32_t high, uint32_t value)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, found = list[middle];
        if (found == value)
            return true;
        if (found < value)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* The first place in a list of candidates, which ascend, whose data vertex is not less. */
static __device__ uint32_t lower_vertex(const search &s, const step &t, uint32_t low, uint32_t high,
                                        uint32_t vertex)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, place = t.joined != 0 ? s.values[middle] : middle;
        if (s.candidates[t.set + place] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __device__ bool contains_vertex(const search &s, const step &t, uint32_t low, uint32_t high,
                                       uint32_t vertex)
{
    uint32_t at = lower_vertex(s, t, low, high, vertex);
    return at < high && s.candidates[t.set + (t.joined != 0 ? s.values[at] : at)] == vertex;
}

/* Sums over this lane and those before it. */
static __device__ uint32_t running_sum(uint32_t value, unsigned lane)
{
    for (unsigned k = 1; k < LANES; k *= 2) {
        uint32_t before = __shfl_up_sync(ALL_LANES, value, k);
        value += lane >= k ? before : 0;
    }
    return value;
}

/* ---- a level
 * ------------------------------------------------------------------------------------------------- */

/* Lays out what is left of the candidates of the next step for every entry: `length` of them from `base`. */
static __device__ void lay_out(warp &w, level &l, uint32_t base, uint32_t length, uint32_t join)
{
    l.base[w.lane] = base;
    l.end[w.lane] = running_sum(length, w.lane);
    l.join[w.lane] = (uint8_t)join;
    if (w.lane == 0)
        l.cursor = 0;
    __syncwarp();
}

/* For every entry of a level the shortest of the lists that the candidates of step t must be in; only those
 * with a data vertex greater than is asked for. */
static __device__ void begin_level(warp &w, int depth, const step &t)
{
    level &l = w.levels[depth];
    uint32_t base = 0, length = w.lane < l.count ? t.set_size : 0, join = NOT_JOINED, least = 0;
    if (w.lane < l.count) {
        uint32_t e = w.lane;
        for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
            if ((t.joined >> d & 1) != 0) {
                const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
                uint32_t first = ends[0], count = ends[1] - first;
                if (join == NOT_JOINED || count < length) {
                    base = first;
                    length = count;
                    join = (uint32_t)d;
                }
            }
            if ((t.greater >> d & 1) != 0)
                least = max(least, w.levels[d].vertex[e] + 1);
        }
        if (least > 0) {
            uint32_t from = lower_vertex(w.s, t, base, base + length, least);
            length -= from - base;
            base = from;
        }
    }
    lay_out(w, l, base, length, join);
}

/* The entry to which candidate p of a level belongs. */
static __device__ uint32_t owner_of(const level &l, uint32_t p)
{
    uint32_t e = 0;
    for (uint32_t k = LANES / 2; k > 0; k /= 2)
        e += l.end[e + k - 1] <= p ? k : 0;
    return e;
}

/* A candidate that a lane tries. */
struct trial {
    uint32_t entry, place, vertex;
    bool fits;
};

/* All that is said of the candidate and what its entry has matched before holds; that it is greater where it
 * must be is known. */
static __device__ bool fits(const warp &w, int depth, const step &t, const trial &c, uint32_t join)
{
    uint32_t e = c.entry;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
        const level &l = w.levels[d];
        bool is_joined = (t.joined >> d & 1) != 0 && (uint32_t)d != join;
        if ((t.different >> d & 1) != 0 && l.vertex[e] == c.vertex)
            return false;
        if (is_joined || (t.excluded >> d & 1) != 0) {
            const uint32_t *ends = w.s.offsets + t.lists[d] + l.place[e];
            if (contains(w.s.values, ends[0], ends[1], c.place) != is_joined)
                return false;
        }
    }
    return true;
}

/* The candidate after the cursor that falls to this lane. */
static __device__ trial try_next(warp &w, int depth, const step &t, uint32_t cursor)
{
    const level &l = w.levels[depth];
    trial c = {0, 0, 0, false};
    uint32_t p = cursor + w.lane, total = l.end[LANES - 1];
    if (p < total) {
        c.entry = owner_of(l, p);
        uint32_t at = l.base[c.entry] + p - (c.entry > 0 ? l.end[c.entry - 1] : 0);
        c.place = t.joined != 0 ? w.s.values[at] : at;
        c.vertex = w.s.candidates[t.set + c.place];
        c.fits = fits(w, depth, t, c, l.join[c.entry]);
        w.tried++;
    }
    return c;
}

/* Adds what the warp found to what all have found, and stops them beyond the limit. */
static __device__ void report(warp &w)
{
    unsigned long long found = w.found, tried = w.tried;
    w.found = w.tried = 0;
    for (unsigned k = LANES / 2; k > 0; k /= 2) {
        found = add(found, __shfl_down_sync(ALL_LANES, found, k));
        tried += __shfl_down_sync(ALL_LANES, tried, k);
    }
    if (w.lane > 0)
        return;
    control *shared = w.s.shared;
    atomicAdd(&shared->tried, tried);
    unsigned long long before = found > 0 ? atomicAdd(&shared->found, found) : 0;
    if (before + found < before || found == ~0ull)
        atomicExch(&shared->overflow, 1u);
    if (w.s.most != ~0ull && add(before, found) > w.s.most) {
        atomicExch(&shared->beyond, 1u);
        atomicExch(&shared->stop, 1u);
    }
}

/* What others do, asked for before a candidate is tried and looked at after that, so that nobody waits for
 * the answer. */
struct glance {
    uint32_t taken, stop;
};

static __device__ glance ask(const warp &w)
{
    return {__ldcg(&w.s.shared->queues[w.round % 3].taken), __ldcg(&w.s.shared->stop)};
}

/* Whether to hand out what is left, since no task is left for others, or leave it. */
static __device__ bool must_share(warp &w, const glance &others)
{
    if (++w.trials % REPORTING == 0 && w.s.most != ~0ull)
        report(w);
    w.stops = __any_sync(ALL_LANES, others.stop != 0);
    w.shares = w.trials >= PATIENCE && (w.stops || __any_sync(ALL_LANES, others.taken >= w.batches));
    return w.shares;
}

/* Goes through the candidates of a level until 32 that fit fill the next one, none is left, or others have
 * nothing to do. */
static __device__ uint32_t fill_next(warp &w, int depth)
{
    const step &t = w.s.steps[depth + 1];
    level &l = w.levels[depth], &next = w.levels[depth + 1];
    uint32_t filled = 0, cursor = l.cursor, total = l.end[LANES - 1];
    bool goes_on = true;
    while (filled < LANES && cursor < total && goes_on) {
        glance others = ask(w);
        trial c = try_next(w, depth, t, cursor);
        uint32_t fitting = __ballot_sync(ALL_LANES, c.fits);
        uint32_t to = filled + __popc(fitting & ((1u << w.lane) - 1));
        if (c.fits && to < LANES) {
            next.place[to] = c.place;
            next.vertex[to] = c.vertex;
            next.parent[to] = (uint8_t)c.entry;
        }
        uint32_t over = __ballot_sync(ALL_LANES, c.fits && to == LANES); /* the first that has no room */
        cursor += over != 0 ? __ffs(over) - 1 : min(LANES, total - cursor);
        filled = min(LANES, filled + __popc(fitting));
        goes_on = !must_share(w, others);
    }
    __syncwarp();
    if (w.lane == 0) {
        l.cursor = cursor;
        next.count = filled;
    }
    __syncwarp();
    return filled;
}

/* A row for one more embedding: what an entry has matched. NULL where there is no room. */
static __device__ uint32_t *list_entry(warp &w, int depth, uint32_t e)
{
    unsigned long long row = atomicAdd(&w.s.shared->listed, 1ull);
    if (row >= w.s.most)
        return NULL;
    uint32_t *out = w.s.rows + row * w.s.step_count;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
        out[d] = w.levels[d].vertex[e];
    return out;
}

/* The last step, with nothing after the core: what fits is an embedding. Until none is left, or others have
 * nothing to do. */
static __device__ void count_last(warp &w, int depth)
{
    level &l = w.levels[depth];
    uint32_t cursor = l.cursor, total = l.end[LANES - 1];
    bool goes_on = true;
    for (; cursor < total && goes_on; cursor += min(LANES, total - cursor)) {
        glance others = ask(w);
        trial c = try_next(w, depth, w.s.steps[depth + 1], cursor);
        w.found += c.fits;
        uint32_t *row = c.fits && w.s.rows != NULL ? list_entry(w, depth, c.entry) : NULL;
        if (row != NULL)
            row[depth + 1] = c.vertex;
        goes_on = !must_share(w, others);
    }
    __syncwarp();
    if (w.lane == 0)
        l.cursor = cursor;
    __syncwarp();
}

/* ---- after the core: every lane has an embedding of it
 * ------------------------------------------------------- */

/* Candidates of a step that only one list decides: all of it but what is matched already. */
static __device__ uint32_t count_list(const warp &w, int depth, const step &t)
{
    uint32_t low = 0, high = t.set_size, e = w.lane;
    for (int d = depth; d >= 0 && t.joined != 0; e = w.levels[d].parent[e], d--) {
        if ((t.joined >> d & 1) != 0) {
            const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
            low = ends[0];
            high = ends[1];
        }
    }
    uint32_t count = high - low;
    e = w.lane;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
        if ((t.different >> d & 1) != 0)
            count -= contains_vertex(w.s, t, low, high, w.levels[d].vertex[e]);
    return count;
}

/* Whether a data vertex could stand for step t too. That it is none of those matched is known. */
static __device__ bool could_be(const warp &w, int depth, const step &t, uint32_t e, uint32_t vertex)
{
    if (t.joined == 0 && !contains_vertex(w.s, t, 0, t.set_size, vertex))
        return false;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
        bool is_joined = (t.joined >> d & 1) != 0;
        if ((t.greater >> d & 1) != 0 && w.levels[d].vertex[e] >= vertex)
            return false;
        if (!is_joined && (t.excluded >> d & 1) == 0)
            continue;
        const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
        uint32_t at = ends[0], end = ends[1];
        while (at < end) { /* as contains_vertex, but lists are values whatever t is joined with */
            uint32_t middle = at + (end - at) / 2, found = w.s.candidates[t.set + w.s.values[middle]];
            if (found == vertex)
                break;
            if (found < vertex)
                at = middle + 1;
            else
                end = middle;
        }
        if ((at < end) != is_joined)
            return false;
    }
    return true;
}

/* Goes through the candidates of one class of a group and notes in which other classes each is; those that
 * come up in an earlier class have been noted. */
static __device__ void note_class(warp &w, int depth, const uint32_t *classes, uint32_t count, uint32_t mine)
{
    const step &t = w.s.steps[classes[mine]];
    begin_level(w, depth, t);
    uint32_t total = w.levels[depth].end[LANES - 1];
    for (uint32_t cursor = 0; cursor < total; cursor += min(LANES, total - cursor)) {
        trial c = try_next(w, depth, t, cursor);
        uint32_t in = 1u << mine;
        for (uint32_t other = 0; other < count && c.fits; other++)
            if (other != mine && could_be(w, depth, w.s.steps[classes[other]], c.entry, c.vertex))
                in |= 1u << other;
        if (c.fits && (in & ((1u << mine) - 1)) == 0)
            atomicAdd(&w.members[in][c.entry], 1u);
    }
    __syncwarp();
}

/* Ways to choose a different data vertex from each of up to three classes, by inclusion and exclusion. */
static __device__ unsigned long long choose(const warp &w, uint32_t count)
{
    unsigned long long m[1 << CLASSES];
    for (uint32_t set = 1; set < 1 << CLASSES; set++)
        m[set] = w.members[set][w.lane];
    unsigned long long a = m[1] + m[3] + m[5] + m[7], b = m[2] + m[3] + m[6] + m[7];
    unsigned long long c = m[4] + m[5] + m[6] + m[7], ab = m[3] + m[7], ac = m[5] + m[7], bc = m[6] + m[7];
    if (count == 1)
        return a;
    if (count == 2)
        return a * b - ab;
    unsigned long long all = multiply(multiply(a, b), c);
    return all == ~0ull ? all : all - ab * c - ac * b - bc * a + 2 * m[7];
}

static __device__ unsigned long long falling(unsigned long long n, uint32_t k)
{
    unsigned long long product = 1;
    for (uint32_t i = 0; i < k; i++)
        product = i < n ? multiply(product, n - i) : 0;
    return product;
}

static __device__ unsigned long long count_group(warp &w, int depth, uint32_t group, bool alike)
{
    uint32_t classes[CLASSES], count = 0, size = __popc(group);
    for (uint32_t left = group; left != 0 && count < (alike ? 1 : CLASSES); left &= left - 1)
        classes[count++] = __ffs(left) - 1;
    const step &t = w.s.steps[classes[0]];
    if (alike && t.excluded == 0 && t.greater == 0 && (t.joined & (t.joined - 1)) == 0)
        return falling(w.lane < w.levels[depth].count ? count_list(w, depth, t) : 0, size);
    for (uint32_t set = 1; set < 1 << CLASSES; set++)
        w.members[set][w.lane] = 0;
    __syncwarp();
    for (uint32_t i = 0; i < count; i++)
        note_class(w, depth, classes, count, i);
    return alike ? falling(w.members[1][w.lane], size) : choose(w, count);
}

static __device__ void finish(warp &w, int depth)
{
    unsigned long long ways = w.lane < w.levels[depth].count;
    if (w.s.rows != NULL && ways != 0) /* only a pattern of one vertex is listed from here */
        list_entry(w, depth, w.lane);
    for (uint32_t g = 0; g < w.s.group_count && __any_sync(ALL_LANES, ways != 0); g++)
        ways = multiply(ways, count_group(w, depth, w.s.groups[g], (w.s.alike >> g & 1) != 0));
    w.found = add(w.found, ways);
    __syncwarp();
}

/* ---- tasks
 * --------------------------------------------------------------------------------------------------- */

/* A task of a depth is a column of words: the places of its steps, and what is left of the candidates of the
 * next one: where they begin, how many they are, and whose list they are. Those of the last depth are
 * embeddings of the core; no candidates are left. */
static __device__ uint32_t *task_words(const search &s, unsigned round, int depth)
{
    return s.tasks[round & 1] + (size_t)s.room * (4 * depth + depth * (depth - 1) / 2);
}

/* Makes tasks the entries of a level. Those of the first round are the candidates of the first step. */
static __device__ void load(warp &w, int depth, uint32_t first, uint32_t count)
{
    const search &s = w.s;
    const uint32_t *words = task_words(s, w.round, depth) + first + w.lane;
    for (int d = 0; d <= depth && w.lane < count; d++) {
        uint32_t place = w.round == 0 ? first + w.lane : words[(size_t)d * s.room];
        w.levels[d].place[w.lane] = place;
        w.levels[d].vertex[w.lane] = s.candidates[s.steps[d].set + place];
        w.levels[d].parent[w.lane] = (uint8_t)w.lane;
    }
    if (w.lane == 0)
        w.levels[depth].count = count;
    __syncwarp();
    w.trials = 0;
    w.shares = false;
    if (depth + 1 == (int)s.core)
        return;
    if (w.round == 0) {
        begin_level(w, 0, s.steps[1]);
        return;
    }
    bool is_mine = w.lane < count;
    lay_out(w, w.levels[depth], is_mine ? words[(size_t)(depth + 1) * s.room] : 0,
            is_mine ? words[(size_t)(depth + 2) * s.room] : 0,
            is_mine ? words[(size_t)(depth + 3) * s.room] : NOT_JOINED);
}

/* Takes a batch of tasks of one depth; -1 where none is left. */
static __device__ int take(warp &w)
{
    control *shared = w.s.shared;
    queue &q = shared->queues[w.round % 3];
    uint32_t tasks = w.lane < MOST ? __ldcg(&q.count[w.lane]) : 0;
    uint32_t total = __shfl_sync(ALL_LANES, running_sum(tasks, w.lane), LANES - 1);
    uint32_t batch = min(max(total / (2 * gridDim.x * WARPS), 1), (uint32_t)LANES);
    uint32_t batches = (tasks + batch - 1) / batch, end = running_sum(batches, w.lane), mine = 0;
    if (w.lane == 0)
        mine = __ldcg(&shared->stop) != 0 ? ~0u : atomicAdd(&q.taken, 1u);
    mine = __shfl_sync(ALL_LANES, mine, 0);
    w.batches = __shfl_sync(ALL_LANES, end, LANES - 1);
    if (mine >= w.batches)
        return -1;
    int depth = __ffs(__ballot_sync(ALL_LANES, mine < end)) - 1;
    uint32_t first = (mine - __shfl_sync(ALL_LANES, end - batches, depth)) * batch;
    load(w, depth, first, min(batch, __shfl_sync(ALL_LANES, tasks, depth) - first));
    return depth;
}

/* What is left of a level, in pieces of entries, as tasks of the next round. A warp does this once a round,
 * so there is room. */
static __device__ void hand_out_level(warp &w, int depth)
{
    const search &s = w.s;
    const level &l = w.levels[depth];
    bool is_last = depth + 1 == (int)s.core; /* an embedding of the core is one piece */
    uint32_t total = l.end[LANES - 1], before = w.lane > 0 ? l.end[w.lane - 1] : 0;
    uint32_t begin = max(before, l.cursor), left = l.end[w.lane] > begin ? l.end[w.lane] - begin : 0;
    uint32_t piece = max((total - l.cursor + PIECES - 1) / PIECES, 1u), pieces = (left + piece - 1) / piece;
    if (is_last)
        pieces = w.lane < l.count;
    uint32_t end = running_sum(pieces, w.lane), first = 0;
    if (w.lane == LANES - 1)
        first = atomicAdd(&s.shared->queues[(w.round + 1) % 3].count[depth], end);
    first = __shfl_sync(ALL_LANES, first, LANES - 1) + end - pieces;
    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t *words = task_words(s, w.round + 1, depth) + first + i, e = w.lane;
        for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
            words[(size_t)d * s.room] = w.levels[d].place[e];
        if (is_last)
            continue;
        words[(size_t)(depth + 1) * s.room] = l.base[w.lane] + begin - before + i * piece;
        words[(size_t)(depth + 2) * s.room] = min(piece, left - i * piece);
        words[(size_t)(depth + 3) * s.room] = l.join[w.lane];
    }
}

/* ---- the search
 * ---------------------------------------------------------------------------------------------- */

/* Everything below the entries of the level at `top`, or what is left of it as tasks. */
static __device__ void search_below(warp &w, int top)
{
    int depth = top, last = (int)w.s.core - 1;
    if (top == last) {
        finish(w, top);
        return;
    }
    for (;;) {
        while (w.levels[depth].cursor >= w.levels[depth].end[LANES - 1])
            if (depth-- == top)
                return;
        if (depth + 1 == last && w.s.group_count == 0) {
            count_last(w, depth);
        } else if (fill_next(w, depth) > 0) {
            depth++;
            if (depth < last)
                begin_level(w, depth, w.s.steps[depth + 1]);
        }
        if (w.shares) {
            for (int d = top; d <= depth && !w.stops; d++)
                hand_out_level(w, d);
            return;
        }
        if (depth == last) {
            finish(w, depth);
            depth--;
        }
    }
}

static __global__ void __launch_bounds__(WARPS *LANES, 5) search_all(const __grid_constant__ search s)
{
    extern __shared__ uint32_t room[];
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned own = threadIdx.x / LANES;
    level *levels = (level *)room;
    uint32_t(*members)[LANES] = (uint32_t(*)[LANES])(levels + (size_t)WARPS * s.core);
    warp w = {s, levels + (size_t)own * s.core, members + (size_t)own * (1 << CLASSES), threadIdx.x % LANES};
    for (w.round = 0;; w.round++) {
        if (blockIdx.x == 0 && threadIdx.x <= MOST) /* nobody looks at it in this round */
            (threadIdx.x < MOST ? s.shared->queues[(w.round + 2) % 3].count[threadIdx.x]
                                : s.shared->queues[(w.round + 2) % 3].taken) = 0;
        for (int depth = take(w); depth >= 0; depth = take(w))
            search_below(w, depth);
        grid.sync();
        uint32_t next = w.lane < MOST ? __ldcg(&s.shared->queues[(w.round + 1) % 3].count[w.lane]) : 0;
        if (!__any_sync(ALL_LANES, next != 0))
            break;
    }
    report(w);
}

/* ---- the job
 * ------------------------------------------------------------------------------------------------- */

static __global__ void narrow_offsets(uint32_t *narrow, const uint64_t *offsets, uint32_t count,
                                      uint32_t base)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        narrow[i] = base + (uint32_t)offsets[i];
}

/* Device memory of a job, given back as a whole. */
struct memory {
    sf_backend_device *device;
    void *blocks[8];
    size_t bytes[8];
    uint32_t count;
};

template <class T> static int allocate(memory *m, T **block, size_t items, sf_error *error)
{
    size_t bytes = items * sizeof **block;
    int status = sf_gpu_alloc(m->device, (void **)block, bytes, error);
    if (status == SF_OK) {
        m->blocks[m->count] = *block;
        m->bytes[m->count++] = bytes;
    }
    return status;
}

static void give_back(memory *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        sf_gpu_free(m->device, m->blocks[i], m->bytes[i]);
}

/* How much a job's arrays hold together. */
struct extent {
    uint64_t candidates, offsets, values;
    uint32_t most_rows;
};

static int measure(extent *x, const sf_backend_match_job *job, sf_error *error)
{
    *x = {};
    for (uint32_t i = 0; i < job->set_count; i++) {
        x->candidates += job->set_sizes[i];
        if (job->set_sizes[i] > MOST_CANDIDATES)
            return sf_fail(error, SF_UNAVAILABLE, NULL,
                           "%u data vertices can stand for one of the pattern, a device takes up to %u",
                           job->set_sizes[i], MOST_CANDIDATES);
    }
    for (uint32_t i = 0; i < job->list_count; i++) {
        x->offsets += (uint64_t)job->lists[i].rows + 1;
        x->values += job->lists[i].offsets[job->lists[i].rows];
        x->most_rows = job->lists[i].rows > x->most_rows ? job->lists[i].rows : x->most_rows;
    }
    if (x->values > UINT32_MAX || x->offsets > UINT32_MAX || x->candidates > UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the candidates have %llu pairs of neighbours, a device takes up to %u",
                       (unsigned long long)x->values, UINT32_MAX);
    return SF_OK;
}

/* Copies candidates and lists, and notes where those of each begin. */
static int upload_all(sf_backend_device *device, const sf_backend_match_job *job, const search *s,
                      uint64_t *raw, uint32_t *set_begin, uint32_t *list_begin, sf_error *error)
{
    uint32_t candidates = 0, offsets = 0, values = 0;
    int status = SF_OK, blocks = device->properties.multiProcessorCount * 8;
    for (uint32_t i = 0; i < job->set_count && status == SF_OK; i++) {
        set_begin[i] = candidates;
        status = sf_gpu_upload(device, (uint32_t *)s->candidates + candidates, job->sets[i],
                               job->set_sizes[i] * sizeof(uint32_t), error);
        candidates += job->set_sizes[i];
    }
    for (uint32_t i = 0; i < job->list_count && status == SF_OK; i++) {
        const sf_backend_match_lists *lists = &job->lists[i];
        list_begin[i] = offsets;
        status = sf_gpu_upload(device, raw, lists->offsets, ((size_t)lists->rows + 1) * sizeof *raw, error);
        if (status != SF_OK)
            return status;
        narrow_offsets<<<blocks, 256, 0, device->work>>>((uint32_t *)s->offsets + offsets, raw,
                                                         lists->rows + 1, values);
        SF_GPU_LAUNCHED();
        status = sf_gpu_upload(device, (uint32_t *)s->values + values, lists->values,
                               lists->offsets[lists->rows] * sizeof(uint32_t), error);
        offsets += lists->rows + 1;
        values += (uint32_t)lists->offsets[lists->rows];
    }
    return status;
}

static void set_steps(search *s, const sf_backend_match_job *job, const uint32_t *set_begin,
                      const uint32_t *list_begin)
{
    for (uint32_t i = 0; i < job->step_count; i++) {
        const sf_backend_match_step *from = &job->steps[i];
        step *to = &s->steps[i];
        *to = {set_begin[from->set], job->set_sizes[from->set], from->joined, from->excluded, from->greater,
               from->different};
        for (uint32_t d = 0; d < i; d++)
            if (((from->joined | from->excluded) >> d & 1) != 0)
                to->lists[d] = list_begin[from->lists[d]];
    }
    for (uint32_t g = 0; g < job->group_count; g++) {
        const step *first = &s->steps[__builtin_ctz(job->groups[g].steps)];
        s->groups[g] = job->groups[g].steps;
        s->alike |= (uint32_t)job->groups[g].alike << g;
        s->has_classes |= !job->groups[g].alike || first->excluded != 0 || first->greater != 0 ||
                          (first->joined & (first->joined - 1)) != 0;
    }
}

static int load_job(memory *m, search *s, const sf_backend_match_job *job, sf_error *error)
{
    extent x;
    uint32_t set_begin[MOST], list_begin[MOST * MOST], *candidates, *offsets, *values;
    uint64_t *raw = NULL;
    int status = measure(&x, job, error);
    if (status == SF_OK)
        status = allocate(m, &candidates, x.candidates, error);
    if (status == SF_OK)
        status = allocate(m, &offsets, x.offsets, error);
    if (status == SF_OK)
        status = allocate(m, &values, x.values, error);
    if (status == SF_OK)
        status = allocate(m, &raw, (size_t)x.most_rows + 1, error);
    if (status == SF_OK && job->rows != NULL)
        status = allocate(m, &s->rows, job->most * job->step_count, error);
    if (status != SF_OK)
        return status;
    s->candidates = candidates;
    s->offsets = offsets;
    s->values = values;
    s->most = job->most;
    s->core = job->core;
    s->step_count = job->step_count;
    s->group_count = job->group_count;
    status = upload_all(m->device, job, s, raw, set_begin, list_begin, error);
    if (status == SF_OK)
        set_steps(s, job, set_begin, list_begin);
    return status;
}

/* As many blocks as run at once, since they wait for one another. */
static int shape(uint32_t *blocks, size_t *shared_bytes, sf_backend_device *device, const search *s,
                 sf_error *error)
{
    size_t members = s->has_classes ? sizeof(uint32_t[1 << CLASSES][LANES]) : 0;
    int of_each = 0;
    *shared_bytes = WARPS * (s->core * sizeof(level) + members);
    if (*shared_bytes > device->properties.sharedMemPerBlockOptin || !device->properties.cooperativeLaunch)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the device does not match patterns of %u vertices",
                       s->core);
    SF_GPU_TRY(
        cudaFuncSetAttribute(search_all, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*shared_bytes));
    SF_GPU_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, search_all, WARPS * LANES, *shared_bytes));
    *blocks = (uint32_t)(of_each * device->properties.multiProcessorCount);
    return SF_OK;
}

/* While the kernel runs, only the copy engine reaches it. */
static int tell_to_stop(control *shared, uint32_t *pinned, sf_error *error)
{
    cudaStream_t beside;
    *pinned = 1;
    SF_GPU_TRY(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    cudaError_t result =
        cudaMemcpyAsync(&shared->stop, pinned, sizeof *pinned, cudaMemcpyHostToDevice, beside);
    if (result == cudaSuccess)
        result = cudaStreamSynchronize(beside);
    cudaStreamDestroy(beside);
    return sf_gpu_check(result, "cudaMemcpyAsync(stop)", error);
}

/* Watches the clock and the caller until everything on the device's stream is done. */
static int wait_for(sf_backend_device *device, const sf_backend_match_job *job, control *shared,
                    uint32_t *pinned, bool *late, bool *cancelled, sf_error *error)
{
    const double short_wait = 2e-3;
    double start = sf_clock_seconds(), told = start;
    bool stopped = false;
    for (;;) {
        cudaError_t result = cudaStreamQuery(device->work);
        if (result != cudaErrorNotReady)
            return sf_gpu_check(result, "cudaStreamQuery", error);
        double now = sf_clock_seconds();
        *late |= job->deadline > 0 && now > job->deadline;
        if (now - told > short_wait) {
            *cancelled |= !sf_progress_update(job->progress, "matching", 0, 1);
            told = now;
        }
        if ((*late || *cancelled) && !stopped) {
            stopped = true;
            int status = tell_to_stop(shared, pinned, error);
            if (status != SF_OK)
                return status;
        }
        struct timespec pause = {0, 100000};
        if (now - start > short_wait)
            nanosleep(&pause, NULL);
    }
}

static int launch(memory *m, search *s, const sf_backend_match_job *job, sf_error *error)
{
    sf_backend_device *device = m->device;
    uint32_t blocks = 0, depths = s->core;
    size_t shared_bytes = 0;
    int status = shape(&blocks, &shared_bytes, device, s, error);
    if (status != SF_OK)
        return status;
    s->room = blocks * WARPS * 2 * LANES;
    for (int i = 0; i < 2 && status == SF_OK; i++)
        status = allocate(m, &s->tasks[i], (size_t)s->room * (4 * depths + depths * (depths - 1) / 2), error);
    if (status == SF_OK)
        status = allocate(m, &s->shared, 1, error);
    control begin = {};
    begin.queues[0].count[0] = job->set_sizes[job->steps[0].set];
    if (status == SF_OK)
        status = sf_gpu_upload(device, s->shared, &begin, sizeof begin, error);
    if (status != SF_OK)
        return status;
    void *arguments[] = {s};
    SF_GPU_TRY(cudaEventRecord(device->timed[0], device->work));
    SF_GPU_TRY(cudaLaunchCooperativeKernel((void *)search_all, blocks, WARPS * LANES, arguments, shared_bytes,
                                           device->work));
    SF_GPU_TRY(cudaEventRecord(device->timed[1], device->work));
    return SF_OK;
}

static int run(memory *m, const sf_backend_match_job *job, sf_backend_match_answer *answer, sf_error *error)
{
    search s = {};
    bool late = false, cancelled = false;
    int status = load_job(m, &s, job, error);
    if (status == SF_OK)
        status = sf_gpu_landing(m->device, 2 * sizeof(control), error);
    if (status == SF_OK)
        status = launch(m, &s, job, error);
    if (status != SF_OK)
        return status;
    control *end = (control *)m->device->landing;
    SF_GPU_TRY(cudaMemcpyAsync(end, s.shared, sizeof *end, cudaMemcpyDeviceToHost, m->device->work));
    status = wait_for(m->device, job, s.shared, (uint32_t *)(end + 1), &late, &cancelled, error);
    if (status == SF_OK && cancelled)
        status = sf_fail(error, SF_CANCELLED, NULL, "was stopped");
    if (status != SF_OK)
        return status;
    answer->count = end->overflow != 0 ? UINT64_MAX : end->found;
    answer->tried = end->tried;
    float milliseconds = 0;
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, m->device->timed[0], m->device->timed[1]));
    answer->seconds = milliseconds * 1e-3;
    answer->stopped = late || end->beyond != 0;
    answer->listed = job->rows == NULL ? 0 : end->listed < job->most ? end->listed : job->most;
    return sf_gpu_download(m->device, job->rows, s.rows, answer->listed * job->step_count * sizeof(uint32_t),
                           error);
}

static int match(sf_backend_device *device, const sf_backend_match_job *job, sf_backend_match_answer *answer,
                 sf_error *error)
{
    memory m = {device};
    *answer = {};
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    int status = run(&m, job, answer, error);
    give_back(&m);
    return status;
}

const sf_backend_match sf_gpu_match = {match, sf_gpu_twigs_open, sf_gpu_twigs_close, sf_gpu_twigs_expand,
                                       sf_gpu_twigs_collect};
