"""What a GPU can do at most: a loop that never leaves its fast memory."""

from typing import Any

import numpy as np

N_BUCKETS = 90_000
SOURCE = r"""
extern "C" __global__ void __launch_bounds__(1024, 1) add_and_look_up(
    const short *all, int n_buckets, int shift, int repeats, int *out
) {
    extern __shared__ __align__(16) unsigned char room[];
    long long *sums = (long long *)room;
    short *buckets = (short *)(sums + 16);
    for (int e = threadIdx.x; e < n_buckets; e += blockDim.x) buckets[e] = all[e];
    if (threadIdx.x < 16) sums[threadIdx.x] = (long long)threadIdx.x << 24;
    __syncthreads();
    int totals[16];
    for (int high = 0; high < 16; high++) totals[high] = 0;
    unsigned state = blockIdx.x * blockDim.x + threadIdx.x + 1;
    for (int round = 0; round < repeats; round++) {
        state = state * 1664525u + 1013904223u;
        const long long low = state >> 4;
        #pragma unroll
        for (int high = 0; high < 16; high++) {
            int place = (int)((low + sums[high]) >> shift);
            place = place < n_buckets - 1 ? place : n_buckets - 1;
            totals[high] += buckets[place > 0 ? place : 0];
        }
    }
    int sum = 0;
    for (int high = 0; high < 16; high++) sum += totals[high];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def look_ups_per_second(cupy: Any, n_blocks: int, *, repeats: int = 4000) -> float:
    """Return how many additions, shifts and look-ups at random places the GPU does."""
    kernel = cupy.RawModule(code=SOURCE).get_function("add_and_look_up")
    kernel.max_dynamic_shared_size_bytes = n_bytes = 128 + 2 * N_BUCKETS
    buckets, out = cupy.ones(N_BUCKETS, dtype=np.int16), cupy.empty(1024 * n_blocks, dtype=np.int32)
    shift = (2**29 // N_BUCKETS).bit_length()  # nothing is beyond the last
    given = (buckets, np.int32(N_BUCKETS), np.int32(shift), np.int32(repeats), out)
    seconds = milliseconds(cupy, lambda: kernel((n_blocks,), (1024,), given, shared_mem=n_bytes)) / 1000
    if not (cupy.asnumpy(out) == 16 * repeats).all():
        raise RuntimeError("The loop did not do all its look-ups.")
    return 1024 * n_blocks * 16 * repeats / seconds


def milliseconds(cupy: Any, launch: Any, *, repeats: int = 10) -> float:
    """Return the median time of a kernel, by the clock of the card, launches one after the other."""
    launch()
    times = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        launch()  # so that the card is at work while the next launch is prepared
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(times))
