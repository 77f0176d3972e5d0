// Tables of numerators of all 2^q labelsets, and what is asked of them; integers only, bit for bit those of the CPU.
//
// Compiled for one problem by macros:
//   FOLDS, LABELS        how many there are
//   LOW, HIGH            a thread has one code of the LOW first labels; it goes through all codes of the next HIGH ones
//   SLOTS                objects that a block works on side by side; its threads are SLOTS << LOW
//   PAIRS                0: none; 1: a row of costs by code for all objects; 2: a matrix of costs for each object
//   PENALTIES, LINKS     whether there are rows of costs after the link, and square roots
//   LOOKS                2 where scores above a labelset's own count for more than equal ones, else 1
//   WEIGHTS, PREFIXES    whether counts are weighed, and whether the smallest weighed prefix counts
//   ALLOWED              whether constraints say which codes are candidates
//   PLAIN                whether numerators are counts and one more
//   ROW, BUCKET          types of numerators, and of what a bucket holds
//   SHARED_BUCKETS       whether buckets and values fit beside the processors
//   FAST                 whether scores are sums that stay below 2^31 buckets: then buckets are their upper halves
// A test compiles the same source for the CPU, where a header stands in for what CUDA brings.

typedef long long i64;
typedef unsigned long long u64;

#define UPPER (LABELS - LOW)
#define PARTS (UPPER - HIGH)
#define CODES ((i64)1 << LABELS)
#define LARGEST 0x7fffffffffffffffLL

enum { BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, COUNT_SHIFT, ORIGIN, SHIFT, LINK, COLUMNS };

// The calibration scores of all folds, as in ScoreTables.
struct Tables {
    const BUCKET *buckets;
    const i64 *values, *counts, *layout;
};

// What the scores of n objects' labelsets are made of: (K, n), (K, n, q), and by code (K, 2^q) or by pair (n, K, q, q).
struct Costs {
    i64 n_objects;
    const i64 *constant, *unary, *pairs, *penalties;
};

__device__ i64 square_root(i64 square) {
    if (square <= 0) return 0;
    i64 root = (i64)sqrt((double)square);
    while (root * root > square) root--;
    while ((root + 1) * (root + 1) <= square) root++;
    return root;
}

__device__ i64 final_score(i64 additive, i64 penalty, i64 link) {
    if (LINKS && link >= 0) additive = square_root(additive << link);
    return additive + penalty;
}

// Where a fold's part of the tables lies.
struct Fold {
    i64 origin, value_begin, value_end, count_shift;
    unsigned bucket_begin, bucket_last;
    int shift, link;
};

__device__ Fold fold_of(const i64 *layout) {
    Fold own = {layout[ORIGIN], layout[VALUE_BEGIN], layout[VALUE_END], layout[COUNT_SHIFT]};
    own.bucket_begin = layout[BUCKET_BEGIN], own.bucket_last = layout[BUCKET_LAST] - layout[BUCKET_BEGIN];
    own.shift = layout[SHIFT], own.link = layout[LINK];
    return own;
}

// How many of a fold's calibration scores are at least `score`, when all values before `position` are below it.
__device__ i64 count_from(i64 score, i64 position, const Fold &own, const Tables &tables) {
    i64 below = position - 1, step = 1, end = own.value_end;
    while (position < end && tables.values[position] < score) {
        below = position;
        position += step;
        step *= 2;
    }
    i64 above = position < end ? position : end;
    while (above - below > 1) {
        i64 middle = (above + below) / 2;
        if (tables.values[middle] < score) below = middle;
        else above = middle;
    }
    return tables.counts[above + own.count_shift];
}

__device__ i64 count_at_least(i64 score, const Fold &own, const Tables &tables) {
    const i64 distance = score - own.origin;
    const u64 bucket = (u64)(distance > 0 ? distance : 0) >> own.shift;
    const i64 count = tables.buckets[own.bucket_begin + (unsigned)(bucket < own.bucket_last ? bucket : own.bucket_last)];
    return count >= 0 ? count : count_from(score, own.value_begin + ~count, own, tables);
}

// The same for `scaled`, the distance from the origin in units of 2^-32 buckets.
__device__ i64 count_scaled(i64 scaled, const Fold &own, const Tables &tables) {
    const int bucket = (int)(scaled >> 32), last = own.bucket_last;
    const int place = bucket < 0 ? 0 : bucket < last ? bucket : last;
    const i64 count = tables.buckets[own.bucket_begin + place];
    if (count >= 0) return count;
    return count_from((scaled >> (32 - own.shift)) + own.origin, own.value_begin + ~count, own, tables);
}

__device__ i64 pair_cost(const i64 *pairs, int j, int r) { return pairs[j * LABELS + r]; }

// The sum over labels first <= j < last that are on, pairs among them included where each object has its own.
__device__ i64 sum_over(i64 code, int first, int last, const i64 *unary, const i64 *pairs) {
    i64 sum = 0;
    for (int j = first; j < last; j++) {
        if (!((code >> j) & 1)) continue;
        sum += unary[j];
        if (PAIRS == 2)
            for (int r = j + 1; r < last; r++)
                if ((code >> r) & 1) sum += pair_cost(pairs, j, r);
    }
    return sum;
}

__device__ i64 score_of(i64 i, int k, i64 code, const Costs &costs, const Tables &tables) {
    const i64 *unary = costs.unary + (k * costs.n_objects + i) * LABELS;
    const i64 *own_pairs = PAIRS == 2 ? costs.pairs + (i * FOLDS + k) * LABELS * LABELS : 0;
    i64 additive = costs.constant[k * costs.n_objects + i] + sum_over(code, 0, LABELS, unary, own_pairs);
    if (PAIRS == 1) additive += costs.pairs[k * CODES + code];
    return final_score(additive, PENALTIES ? costs.penalties[k * CODES + code] : 0, tables.layout[k * COLUMNS + LINK]);
}

__device__ bool is_candidate(i64 code, i64 first_code, const unsigned char *allowed) {
    return code >= first_code && (!ALLOWED || allowed[code]);
}

// Writes the numerator of every code of every object; 0 where it is no candidate.
extern "C" __global__ void BOUNDED count_rows(
    i64 n_objects, const i64 *constant, const i64 *unary, const i64 *pairs, const i64 *penalties,
    const BUCKET *all_buckets, i64 n_buckets, const i64 *all_values, const i64 *all_counts, i64 n_values, const i64 *layout,
    const i64 *start, const i64 *at_least, const i64 *above, const i64 *first, const i64 *weights,
    const i64 *multipliers, i64 width, i64 first_code, const unsigned char *allowed, ROW *rows
) {
    SHARED_ROOM(room);
    i64 *own_layout = (i64 *)room;
    i64 *base = own_layout + FOLDS * COLUMNS;                                 // (slot, fold, high code)
    i64 *cross = base + (SLOTS * FOLDS << HIGH);                              // (slot, fold, high code, low label)
    i64 *values = cross + (PAIRS == 2 ? (SLOTS * FOLDS << HIGH) * LOW : 0), *counts = values + n_values;
    BUCKET *buckets = (BUCKET *)(counts + n_values + FOLDS);
    for (i64 e = threadIdx.x; e < FOLDS * COLUMNS; e += blockDim.x) own_layout[e] = layout[e];
    if (SHARED_BUCKETS) {
        for (i64 e = threadIdx.x; e < n_buckets; e += blockDim.x) buckets[e] = all_buckets[e];
        for (i64 e = threadIdx.x; e < n_values; e += blockDim.x) values[e] = all_values[e];
        for (i64 e = threadIdx.x; e < n_values + FOLDS; e += blockDim.x) counts[e] = all_counts[e];
    }
    const Tables tables = {SHARED_BUCKETS ? buckets : all_buckets, SHARED_BUCKETS ? values : all_values,
                           SHARED_BUCKETS ? counts : all_counts, own_layout};
    const Costs costs = {n_objects, constant, unary, pairs, penalties};

    const int slot = threadIdx.x >> LOW, low_code = threadIdx.x & ((1 << LOW) - 1);
    const i64 n_items = n_objects << PARTS, n_groups = (n_items + SLOTS - 1) / SLOTS;
    for (i64 group = blockIdx.x; group < n_groups; group += gridDim.x) {
        __syncthreads();
        for (int e = threadIdx.x; e < (SLOTS * FOLDS << HIGH); e += blockDim.x) {
            i64 item = group * SLOTS + (e >> HIGH) / FOLDS;
            if (item >= n_items) continue;
            i64 i = item >> PARTS, k = (e >> HIGH) % FOLDS;
            i64 upper = ((item & (((i64)1 << PARTS) - 1)) << HIGH | (e & ((1 << HIGH) - 1))) << LOW;
            const i64 *of_labels = costs.unary + (k * n_objects + i) * LABELS;
            const i64 *of_pairs = PAIRS == 2 ? costs.pairs + (i * FOLDS + k) * LABELS * LABELS : 0;
            base[e] = costs.constant[k * n_objects + i] + sum_over(upper, LOW, LABELS, of_labels, of_pairs);
            if (FAST) base[e] = (base[e] - layout[k * COLUMNS + ORIGIN]) << (32 - layout[k * COLUMNS + SHIFT]);
            if (PAIRS == 2)
                for (int j = 0; j < LOW; j++) {
                    i64 sum = 0;
                    for (int r = LOW; r < LABELS; r++)
                        if ((upper >> r) & 1) sum += pair_cost(of_pairs, j, r);
                    cross[e * LOW + j] = sum;
                }
        }
        __syncthreads();
        const i64 item = group * SLOTS + slot, i = item >> PARTS;
        if (item >= n_items) continue;
        // fold by fold, so that what belongs to a fold is at hand for all codes of the high labels
        ROW totals[1 << HIGH];
        i64 lowest[PREFIXES ? 1 << HIGH : 1];
        UNROLL
        for (int high = 0; high < 1 << HIGH; high++) totals[high] = (ROW)start[i];
        const i64 first_upper = (item & (((i64)1 << PARTS) - 1)) << HIGH;
        for (int k = 0; k < FOLDS; k++) {
            const i64 *of_pairs = PAIRS == 2 ? costs.pairs + (i * FOLDS + k) * LABELS * LABELS : 0;
            const Fold own = fold_of(own_layout + k * COLUMNS);
            const i64 low_sum = sum_over(low_code, 0, LOW, costs.unary + (k * n_objects + i) * LABELS, of_pairs);
            const i64 low = FAST ? low_sum << (32 - own.shift) : low_sum;
            UNROLL
            for (int high = 0; high < 1 << HIGH; high++) {
                const int e = (slot * FOLDS + k) << HIGH | high;
                const i64 place = k * CODES + ((first_upper | high) << LOW | low_code);
                i64 score = low + base[e];
                if (PAIRS == 1) score += FAST ? costs.pairs[place] << (32 - own.shift) : costs.pairs[place];
                if (PAIRS == 2)
                    for (int j = 0; j < LOW; j++)
                        if ((low_code >> j) & 1)
                            score += FAST ? cross[e * LOW + j] << (32 - own.shift) : cross[e * LOW + j];
                if (!FAST) score = final_score(score, PENALTIES ? costs.penalties[place] : 0, own.link);
                for (int strict = 0; strict < LOOKS; strict++) {
                    i64 count = FAST ? count_scaled(score + ((i64)strict << (32 - own.shift)), own, tables)
                                     : count_at_least(score + strict, own, tables);
                    if (WEIGHTS) count = weights[k * width + count];
                    totals[high] += (ROW)(PLAIN ? count : count * (strict ? above[i] : at_least[i]));
                }
                if (PREFIXES) {
                    const i64 prefix = totals[high] * (k == 0 ? first[i] : multipliers[k]);
                    lowest[high] = k == 0 || prefix < lowest[high] ? prefix : lowest[high];
                }
            }
        }
        UNROLL
        for (int high = 0; high < 1 << HIGH; high++) {
            const i64 code = (first_upper | high) << LOW | low_code;
            const i64 value = PREFIXES ? lowest[high] : totals[high];
            rows[i * CODES + code] = is_candidate(code, first_code, allowed) ? (ROW)value : 0;
        }
    }
}

// Writes how many numerators of each object are at least its smallest.
extern "C" __global__ void BOUNDED count_members(
    i64 n_objects, i64 first_code, const unsigned char *allowed, const ROW *rows, const i64 *smallest, i64 *sizes
) {
    SHARED_ROOM(room);
    i64 *partial = (i64 *)room;
    for (i64 i = blockIdx.x; i < n_objects; i += gridDim.x) {
        i64 size = 0;
        for (i64 code = threadIdx.x; code < CODES; code += blockDim.x)
            size += rows[i * CODES + code] >= smallest[i] && is_candidate(code, first_code, allowed);
        partial[threadIdx.x] = size;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) sizes[i] = partial[0];
        __syncthreads();
    }
}

// Writes the highest numerators with each label off and on, (n, q, 2); 0 where no candidate is such.
extern "C" __global__ void BOUNDED label_maxima(i64 n_objects, const ROW *rows, i64 *maxima) {
    SHARED_ROOM(room);
    i64 *partial = (i64 *)room;
    for (i64 i = blockIdx.x; i < n_objects; i += gridDim.x) {
        i64 highest[LABELS][2];
        for (int j = 0; j < LABELS; j++) highest[j][0] = highest[j][1] = 0;
        for (i64 code = threadIdx.x; code < CODES; code += blockDim.x) {
            const i64 value = rows[i * CODES + code];
            UNROLL
            for (int j = 0; j < LABELS; j++) {
                const int on = (code >> j) & 1;
                if (on && value > highest[j][1]) highest[j][1] = value;
                if (!on && value > highest[j][0]) highest[j][0] = value;
            }
        }
        UNROLL
        for (int e = 0; e < 2 * LABELS; e++) {
            partial[threadIdx.x] = highest[e / 2][e % 2];
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half && partial[threadIdx.x + half] > partial[threadIdx.x])
                    partial[threadIdx.x] = partial[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) maxima[i * 2 * LABELS + e] = partial[0];
            __syncthreads();
        }
    }
}

// Whether (total, code) comes before another.
__device__ bool before(i64 total, i64 code, i64 other_total, i64 other_code) {
    return total < other_total || (total == other_total && code < other_code);
}

// Writes the best codes of each object: by highest numerator, then by lowest total score, then by lowest code.
extern "C" __global__ void BOUNDED best_codes(
    i64 n_objects, const i64 *constant, const i64 *unary, const i64 *pairs, const i64 *penalties, const i64 *layout,
    i64 first_code, const unsigned char *allowed, const ROW *rows, i64 n_best, i64 *codes, i64 *numerators
) {
    SHARED_ROOM(room);
    i64 *partial = (i64 *)room, *partial_codes = partial + blockDim.x, *tied = partial_codes + blockDim.x;
    const Tables tables = {0, 0, 0, layout};
    const Costs costs = {n_objects, constant, unary, pairs, penalties};
    for (i64 i = blockIdx.x; i < n_objects; i += gridDim.x) {
        i64 value = LARGEST, total = 0, last = 0, n_left = 0;
        for (i64 place = 0; place < n_best; place++) {
            const bool fresh = n_left == 0;
            if (fresh) {  // the highest numerator below those that are done with
                i64 highest = -LARGEST;
                for (i64 code = threadIdx.x; code < CODES; code += blockDim.x) {
                    const i64 own = rows[i * CODES + code];
                    if (own < value && own > highest && is_candidate(code, first_code, allowed)) highest = own;
                }
                partial[threadIdx.x] = highest;
                __syncthreads();
                for (int half = blockDim.x / 2; half > 0; half /= 2) {
                    if (threadIdx.x < half && partial[threadIdx.x + half] > partial[threadIdx.x])
                        partial[threadIdx.x] = partial[threadIdx.x + half];
                    __syncthreads();
                }
                value = partial[0];
                __syncthreads();
            }
            i64 own_total = LARGEST, own_code = CODES, own_tied = 0;  // the next among those that have it
            for (i64 code = threadIdx.x; code < CODES; code += blockDim.x) {
                if (rows[i * CODES + code] != value || !is_candidate(code, first_code, allowed)) continue;
                i64 sum = 0;
                for (int k = 0; k < FOLDS; k++) sum += score_of(i, k, code, costs, tables);
                if (!fresh && !before(total, last, sum, code)) continue;
                own_tied++;
                if (before(sum, code, own_total, own_code)) own_total = sum, own_code = code;
            }
            partial[threadIdx.x] = own_total, partial_codes[threadIdx.x] = own_code, tied[threadIdx.x] = own_tied;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) {
                    const int other = threadIdx.x + half;
                    if (before(partial[other], partial_codes[other], partial[threadIdx.x], partial_codes[threadIdx.x]))
                        partial[threadIdx.x] = partial[other], partial_codes[threadIdx.x] = partial_codes[other];
                    tied[threadIdx.x] += tied[other];
                }
                __syncthreads();
            }
            total = partial[0], last = partial_codes[0], n_left = tied[0] - 1;
            if (threadIdx.x == 0) codes[i * n_best + place] = last, numerators[i * n_best + place] = value;
            __syncthreads();
        }
    }
}
