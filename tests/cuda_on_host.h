// Stands in for CUDA where there is no GPU: the threads of a block are threads of the processor, one block at a time.
#include <math.h>
#include <pthread.h>

#define __device__ static
#define __global__
#define __syncthreads() pthread_barrier_wait(&barrier)
#define UNROLL
#define ROLLED
#define BOUNDED
#define SHARED_ROOM(name) unsigned char *name = shared_room

struct Place { int x; };
static thread_local Place blockIdx, threadIdx, blockDim, gridDim;
static pthread_barrier_t barrier;
static unsigned char *shared_room;

extern "C" void begin(unsigned char *room, int n_threads) {
    shared_room = room;
    pthread_barrier_init(&barrier, 0, n_threads);
}

extern "C" void take_place(int block, int thread, int n_blocks, int n_threads) {
    blockIdx.x = block, threadIdx.x = thread, gridDim.x = n_blocks, blockDim.x = n_threads;
}

extern "C" void end_block() { __syncthreads(); }
