# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The judged documents of every query, to be found by hash."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from judged.kernels.scan._bytes cimport equal, hash_of

import os

import numpy as np


cdef class Index:
    """The judged documents of every query, with hash tables to find queries and fingerprints of documents."""

    def __cinit__(self, query_bytes, query_offset, document_bytes, document_offset, row_offset):
        # An empty buffer has no first element to point at.
        self.query_bytes = query_bytes if len(query_bytes) else np.zeros(1, np.uint8)
        self.document_bytes = document_bytes if len(document_bytes) else np.zeros(1, np.uint8)
        self.query_offset, self.document_offset = query_offset, document_offset
        self.row_offset = row_offset
        cdef Py_ssize_t queries = len(query_offset) - 1, rows = len(document_offset) - 1, i
        cdef uint32_t at
        self.seed = int.from_bytes(os.urandom(8), "little")
        self.mask = 1
        while self.mask < 2 * queries + 1:
            self.mask = 2 * self.mask + 1
        self.fingerprint = <uint32_t *> malloc((rows + 1) * sizeof(uint32_t))
        self.slots = <uint32_t *> calloc(<size_t> self.mask + 1, sizeof(uint32_t))
        if self.fingerprint == NULL or self.slots == NULL:
            raise MemoryError
        cdef const uint8_t *limit = &self.document_bytes[0] + len(self.document_bytes)
        for i in range(rows):
            self.fingerprint[i] = hash_of(self.document(i), self.document_length(i), limit, self.seed)
        limit = &self.query_bytes[0] + len(self.query_bytes)
        for i in range(queries):
            at = hash_of(self.query(i), self.query_length(i), limit, self.seed) & self.mask
            while self.slots[at]:
                at = (at + 1) & self.mask
            self.slots[at] = <uint32_t> i + 1

    def __dealloc__(self):
        free(self.fingerprint)
        free(self.slots)

    cdef const uint8_t *query(self, Py_ssize_t i) noexcept nogil:
        return &self.query_bytes[0] + self.query_offset[i]

    cdef size_t query_length(self, Py_ssize_t i) noexcept nogil:
        return <size_t> (self.query_offset[i + 1] - self.query_offset[i])

    cdef const uint8_t *document(self, Py_ssize_t i) noexcept nogil:
        return &self.document_bytes[0] + self.document_offset[i]

    cdef size_t document_length(self, Py_ssize_t i) noexcept nogil:
        return <size_t> (self.document_offset[i + 1] - self.document_offset[i])

    cdef int64_t find(self, const uint8_t *p, size_t n, const uint8_t *limit) noexcept nogil:
        """Return the number of the query with that id, or -1 if it is unjudged."""
        cdef uint32_t at = hash_of(p, n, limit, self.seed) & self.mask, i
        while self.slots[at]:
            i = self.slots[at] - 1
            if equal(p, n, self.query(i), self.query_length(i)):
                return i
            at = (at + 1) & self.mask
        return -1
