// Tables of numerators of all 2^q labelsets, and what is asked of them; integers only, bit for bit those of the CPU.
//
// Compiled for one problem by macros:
//   FOLDS, LABELS        how many there are
//   CHUNK                folds whose sums are at hand at a time
//   LOW, HIGH            a thread has one code of the LOW first labels; it goes through all codes of the next HIGH ones
//   SLOTS                objects that a block works on side by side; its threads are SLOTS << LOW
//   PIECES               of the codes of an object, which are reduced apart; none shorter than a block has threads
//   CODE_ROWS            whether some costs are given by code, the same for all objects
//   OWN_PAIRS            whether each object has pairwise costs of its own
//   LINKS, PENALTIES     whether there are square roots, and rows of costs after them
//   LOOKS                2 where scores above a labelset's own count for more than equal ones, else 1
//   WEIGHTS              whether counts are weighed
//   ALLOWED              whether constraints say which codes are candidates
//   PLAIN                whether numerators are counts and one more
//   ROW, BUCKET          types of numerators, and of what a bucket holds
//   SHARED_VALUES, SHARED_BUCKETS   whether calibration scores, and buckets, fit beside the processors
//   FAST                 whether numbers of buckets fit 31 bits, whatever the labels
// A test compiles the same source for the CPU, where a header stands in for what CUDA brings.

typedef long long i64;

#define PARTS (LABELS - LOW - HIGH)
#define CODES ((i64)1 << LABELS)
#define PIECE (CODES / PIECES)
#define NEAR (LOW < 5 ? LOW : 5)  // labels that tell the threads of a warp apart
#define SUMS ((1 << NEAR) + (1 << (LOW - NEAR)) + (1 << HIGH))
#define LARGEST 0x7fffffffffffffffLL
#define LOWEST ((ROW)(sizeof(ROW) == 4 ? -0x7fffffff : -LARGEST))

enum { BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, ORIGIN, SHIFT, LINK, COLUMNS };

// The calibration scores of all folds: as in ScoreTables, but values are distances from the origin of their fold's
// buckets and end with the largest number, which counts have a 0 for.
struct Tables {
    const BUCKET *buckets, *counts;
    const i64 *values;
};

// What the scores of labelsets are sums of: a constant and each label's cost (n, K, 1 + q), pairs (n, K, q, q), and
// costs by code before and after links (K, 2^q). Without links constants are less the origin.
struct Costs {
    const i64 *labels, *pairs, *rows, *penalties;
};

__device__ i64 square_root(i64 square) {
    if (square <= 0) return 0;
    i64 root = (i64)sqrt((double)square);
    while (root * root > square) root--;
    while ((root + 1) * (root + 1) <= square) root++;
    return root;
}

// Where a fold's part of the tables lies.
struct Fold {
    i64 origin;
    int bucket_begin, bucket_last, value_begin, value_end, shift, link;
};

__device__ Fold fold_of(const i64 *layout) {
    Fold own = {layout[ORIGIN]};
    own.bucket_begin = layout[BUCKET_BEGIN], own.bucket_last = layout[BUCKET_LAST];
    own.value_begin = layout[VALUE_BEGIN], own.value_end = layout[VALUE_END];
    own.shift = layout[SHIFT], own.link = layout[LINK];
    return own;
}

// How many of a fold's calibration scores are at least `score`, when all values before `position` are below it.
__device__ int count_from(i64 score, int position, const Fold &own, const Tables &tables) {
    ROLLED
    for (int tries = 0; tries < 4; tries++, position++)  // few share a bucket; nothing is above the last value
        if (tables.values[position] >= score) return tables.counts[position];
    int below = position - 1, above = own.value_end;
    while (above - below > 1) {
        const int middle = (above + below) / 2;
        if (tables.values[middle] < score) below = middle;
        else above = middle;
    }
    return tables.counts[above];
}

// The same for any score; it is counted from the fold's origin.
__device__ int count_at_least(i64 score, const Fold &own, const Tables &tables) {
    const i64 bucket = score >> own.shift;
    int place;
    if (FAST) place = (int)bucket < own.bucket_last ? (int)bucket : own.bucket_last;
    else place = bucket < own.bucket_last ? (bucket < 0 ? 0 : (int)bucket) : own.bucket_last;
    const int count = tables.buckets[own.bucket_begin + (place > 0 ? place : 0)];
    return count >= 0 ? count : count_from(score, own.value_begin + ~count, own, tables);
}

// The sum over labels first <= j < last that are on, pairs among them included.
__device__ i64 sum_over(i64 code, int first, int last, const i64 *labels, const i64 *pairs) {
    i64 sum = 0;
    for (int j = first; j < last; j++) {
        if (!((code >> j) & 1)) continue;
        sum += labels[1 + j];
        if (OWN_PAIRS)
            for (int r = j + 1; r < last; r++)
                if ((code >> r) & 1) sum += pairs[j * LABELS + r];
    }
    return sum;
}

// The score of a code, given the sum over its labels.
__device__ i64 score_of(i64 sum, i64 place, i64 link, const Costs &costs) {
    if (CODE_ROWS) sum += costs.rows[place];
    if (LINKS && link >= 0) sum = square_root(sum << link);
    return PENALTIES ? sum + costs.penalties[place] : sum;
}

__device__ bool is_candidate(i64 code, i64 first_code, const unsigned char *allowed) {
    return code >= first_code && (!ALLOWED || allowed[code]);
}

// Writes the numerator of every code of every object; 0 where it is no candidate.
extern "C" __global__ void BOUNDED count_rows(
    i64 n_objects, const i64 *labels, const i64 *pairs, const i64 *code_rows, const i64 *penalties,
    const BUCKET *all_buckets, i64 n_buckets, const BUCKET *all_counts, const i64 *all_values, i64 n_values,
    const i64 *layout, const i64 *start, const i64 *at_least, const i64 *above, const i64 *weights,
    i64 width, i64 first_code, const unsigned char *allowed, ROW *rows
) {
    SHARED_ROOM(room);
    i64 *sums = (i64 *)room;                   // (slot, fold, part of the code)
    i64 *cross = sums + SLOTS * CHUNK * SUMS;  // (slot, fold, high code, low label)
    i64 *values = cross + (OWN_PAIRS ? (SLOTS * CHUNK << HIGH) * LOW : 0);
    const i64 n_shared = SHARED_VALUES ? n_values : 0;
    BUCKET *counts = (BUCKET *)(values + n_shared), *buckets = counts + n_shared;
    for (i64 e = threadIdx.x; SHARED_BUCKETS && e < n_buckets; e += blockDim.x) buckets[e] = all_buckets[e];
    for (i64 e = threadIdx.x; e < n_shared; e += blockDim.x) values[e] = all_values[e], counts[e] = all_counts[e];
    const Tables tables = {SHARED_BUCKETS ? buckets : all_buckets, SHARED_VALUES ? counts : all_counts,
                           SHARED_VALUES ? values : all_values};
    const Costs costs = {labels, pairs, code_rows, penalties};
    const int slot = threadIdx.x >> LOW, low_code = threadIdx.x & ((1 << LOW) - 1);
    const int near = low_code & ((1 << NEAR) - 1), far = low_code >> NEAR;
    const i64 n_items = n_objects << PARTS, n_groups = (n_items + SLOTS - 1) / SLOTS;
    for (i64 group = blockIdx.x; group < n_groups; group += gridDim.x) {
        const i64 item = group * SLOTS + slot, i = item >> PARTS, part = item & (((i64)1 << PARTS) - 1);
        const bool present = item < n_items;
        ROW totals[1 << HIGH];
        UNROLL
        for (int high = 0; high < 1 << HIGH; high++) totals[high] = present ? (ROW)start[i] : 0;
        // fold by fold, so that what belongs to a fold is at hand for all codes of the high labels
        for (int begin = 0; begin < FOLDS; begin += CHUNK) {
            const int n_here = FOLDS - begin < CHUNK ? FOLDS - begin : CHUNK;
            __syncthreads();
            for (int e = threadIdx.x; e < SLOTS * CHUNK * SUMS; e += blockDim.x) {
                const int place = e % SUMS, here = e / SUMS % CHUNK;
                const i64 its_item = group * SLOTS + e / SUMS / CHUNK, its_object = its_item >> PARTS;
                if (its_item >= n_items || here >= n_here) continue;
                const i64 row = its_object * FOLDS + begin + here;
                const i64 *of_labels = labels + row * (1 + LABELS);
                const i64 *of_pairs = OWN_PAIRS ? pairs + row * LABELS * LABELS : 0;
                const int high = place - (1 << NEAR) - (1 << (LOW - NEAR));
                if (high < 0) {
                    const i64 code = place < 1 << NEAR ? place : (i64)(place - (1 << NEAR)) << NEAR;
                    sums[e] = OWN_PAIRS ? 0 : sum_over(code, 0, LOW, of_labels, of_pairs);
                    continue;
                }
                const i64 code = ((its_item & (((i64)1 << PARTS) - 1)) << HIGH | high) << LOW;
                sums[e] = of_labels[0] + sum_over(code, LOW, LABELS, of_labels, of_pairs);
                for (int j = 0; OWN_PAIRS && j < LOW; j++) {
                    i64 sum = 0;
                    for (int r = LOW; r < LABELS; r++)
                        if ((code >> r) & 1) sum += of_pairs[j * LABELS + r];
                    cross[((e / SUMS << HIGH) + high) * LOW + j] = sum;
                }
            }
            __syncthreads();
            for (int here = 0; present && here < n_here; here++) {
                const int k = begin + here;
                const Fold own = fold_of(layout + k * COLUMNS);
                const i64 *of_near = sums + (slot * CHUNK + here) * SUMS, *of_far = of_near + (1 << NEAR);
                const i64 *of_high = of_far + (1 << (LOW - NEAR)), row = i * FOLDS + k;
                const i64 low = OWN_PAIRS ? sum_over(low_code, 0, LOW, labels + row * (1 + LABELS),
                                                     pairs + row * LABELS * LABELS)
                                          : of_near[near] + of_far[far];
                UNROLL
                for (int high = 0; high < 1 << HIGH; high++) {
                    i64 score = low + of_high[high];
                    for (int j = 0; OWN_PAIRS && j < LOW; j++)
                        if ((low_code >> j) & 1) score += cross[((slot * CHUNK + here << HIGH) + high) * LOW + j];
                    score = score_of(score, k * CODES + ((part << HIGH | high) << LOW | low_code), own.link, costs);
                    if (LINKS) score -= own.origin;
                    for (int strict = 0; strict < LOOKS; strict++) {
                        i64 count = count_at_least(score + strict, own, tables);
                        if (WEIGHTS) count = weights[k * width + count];
                        totals[high] += (ROW)(PLAIN ? count : count * (strict ? above[i] : at_least[i]));
                    }
                }
            }
        }
        UNROLL
        for (int high = 0; high < 1 << HIGH; high++) {
            const i64 code = (part << HIGH | high) << LOW | low_code;
            const i64 value = totals[high];
            if (present) rows[i * CODES + code] = is_candidate(code, first_code, allowed) ? (ROW)value : 0;
        }
    }
}

// Writes how many numerators of each piece of an object are at least its smallest.
extern "C" __global__ void BOUNDED count_members(
    i64 n_objects, i64 first_code, const unsigned char *allowed, const ROW *rows, const i64 *smallest, i64 *sizes
) {
    SHARED_ROOM(room);
    i64 *partial = (i64 *)room;
    for (i64 item = blockIdx.x; item < n_objects * PIECES; item += gridDim.x) {
        const i64 i = item / PIECES, begin = item % PIECES * PIECE;
        i64 size = 0;
        for (i64 code = begin + threadIdx.x; code < begin + PIECE; code += blockDim.x)
            size += rows[i * CODES + code] >= smallest[i] && is_candidate(code, first_code, allowed);
        partial[threadIdx.x] = size;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) sizes[item] = partial[0];
        __syncthreads();
    }
}

// Writes the highest numerators of each piece with each label off and on, (n, pieces, q, 2); the lowest number there is
// where no code is such.
extern "C" __global__ void BOUNDED label_maxima(i64 n_objects, const ROW *rows, i64 *maxima) {
    SHARED_ROOM(room);
    i64 *partial = (i64 *)room;
    for (i64 item = blockIdx.x; item < n_objects * PIECES; item += gridDim.x) {
        const i64 i = item / PIECES, begin = item % PIECES * PIECE;
        ROW own = LOWEST, upper[LABELS][2];  // the low labels are on or off in all codes of a thread
        for (int j = LOW; j < LABELS; j++) upper[j][0] = upper[j][1] = LOWEST;
        for (i64 code = begin + threadIdx.x; code < begin + PIECE; code += blockDim.x) {
            const ROW value = rows[i * CODES + code];
            own = value > own ? value : own;
            UNROLL
            for (int j = LOW; j < LABELS; j++) {
                const int on = (code >> j) & 1;
                if (on && value > upper[j][1]) upper[j][1] = value;
                if (!on && value > upper[j][0]) upper[j][0] = value;
            }
        }
        UNROLL
        for (int e = 0; e < 2 * LABELS; e++) {
            const int j = e / 2, on = e % 2;
            partial[threadIdx.x] = j >= LOW ? upper[j][on] : ((int)threadIdx.x >> j & 1) == on ? own : LOWEST;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half && partial[threadIdx.x + half] > partial[threadIdx.x])
                    partial[threadIdx.x] = partial[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) maxima[item * 2 * LABELS + e] = partial[0];
            __syncthreads();
        }
    }
}

// A code among others: by highest numerator, then by lowest total score, then by lowest code.
struct Ranked {
    i64 value, total, code;
};

__device__ bool before(const Ranked &one, const Ranked &other) {
    if (one.value != other.value) return one.value > other.value;
    return one.total < other.total || (one.total == other.total && one.code < other.code);
}

// Writes the best codes of each piece of an object, in order; the numerator is the lowest number there is where a piece
// has no further candidate. Costs are those of `n_terms` terms that total scores are sums of.
extern "C" __global__ void BOUNDED best_codes(
    i64 n_objects, const i64 *labels, const i64 *pairs, const i64 *code_rows, const i64 *penalties, const i64 *links,
    i64 n_terms, i64 first_code, const unsigned char *allowed, const ROW *rows, i64 n_best, i64 *numerators, i64 *totals, i64 *codes
) {
    SHARED_ROOM(room);
    Ranked *partial = (Ranked *)room;
    const Costs costs = {labels, pairs, code_rows, penalties};
    for (i64 item = blockIdx.x; item < n_objects * PIECES; item += gridDim.x) {
        const i64 i = item / PIECES, begin = item % PIECES * PIECE;
        Ranked last = {LARGEST, 0, 0};
        for (i64 place = 0; place < n_best; place++) {
            Ranked best = {-LARGEST, LARGEST, CODES};
            for (i64 code = begin + threadIdx.x; code < begin + PIECE; code += blockDim.x) {
                Ranked own = {rows[i * CODES + code], 0, code};
                if (own.value < best.value || own.value > last.value || !is_candidate(code, first_code, allowed)) continue;
                for (i64 k = 0; k < n_terms; k++) {
                    const i64 row = i * n_terms + k, *of_labels = labels + row * (1 + LABELS);
                    const i64 *of_pairs = OWN_PAIRS ? pairs + row * LABELS * LABELS : 0;
                    const i64 sum = of_labels[0] + sum_over(code, 0, LABELS, of_labels, of_pairs);
                    own.total += score_of(sum, k * CODES + code, links[k], costs);
                }
                if (before(last, own) && before(own, best)) best = own;
            }
            partial[threadIdx.x] = best;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half && before(partial[threadIdx.x + half], partial[threadIdx.x]))
                    partial[threadIdx.x] = partial[threadIdx.x + half];
                __syncthreads();
            }
            last = partial[0];
            if (threadIdx.x == 0) {
                const i64 out = item * n_best + place;
                numerators[out] = last.value, totals[out] = last.total, codes[out] = last.code;
            }
            __syncthreads();
        }
    }
}
