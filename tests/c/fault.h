/* SPDX-License-Identifier: MIT */
/*
 * Included before everything else in a build for allocation tests: the library allocates through functions that can
 * be told to fail. They are in test_allocation_failures.c.
 */
#ifndef QOSSIM_TESTS_FAULT_H
#define QOSSIM_TESTS_FAULT_H

#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif

#include <stdlib.h>

#undef _DEFAULT_SOURCE /* a source that defines it may do so as before */

void *fault_malloc(size_t size);
void *fault_calloc(size_t count, size_t size);
void *fault_realloc(void *block, size_t size);
void *fault_aligned_alloc(size_t alignment, size_t size);
void fault_free(void *block);

#define malloc fault_malloc
#define calloc fault_calloc
#define realloc fault_realloc
#define aligned_alloc fault_aligned_alloc
#define free fault_free

#if defined(__linux__)
void *fault_mmap(void *address, size_t length, int protection, int flags, int file, off_t offset);
int fault_munmap(void *address, size_t length);

#define mmap fault_mmap
#define munmap fault_munmap
#endif

#endif
