"""The judged documents as the compiled scanners see them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef class Index:
    cdef const uint8_t[::1] query_bytes, document_bytes
    cdef const int64_t[::1] query_offset, document_offset, row_offset
    cdef uint32_t *fingerprint
    cdef uint32_t *slots
    cdef uint32_t mask
    cdef uint64_t seed  # of the hashes, different in every index

    cdef const uint8_t *query(self, Py_ssize_t i) noexcept nogil
    cdef size_t query_length(self, Py_ssize_t i) noexcept nogil
    cdef const uint8_t *document(self, Py_ssize_t i) noexcept nogil
    cdef size_t document_length(self, Py_ssize_t i) noexcept nogil
    cdef int64_t find(self, const uint8_t *p, size_t n, const uint8_t *limit) noexcept nogil
