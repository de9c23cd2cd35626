"""Dicts of scores as the compiled scanners see them."""

from libc.stdint cimport int64_t


cdef enum:
    LEFT = -1  # of a query whose ranks are found by sorting names
    FEW = 64  # for this many judged documents or fewer, counting ranks is faster than sorting


cdef struct Hit:
    int64_t row  # of the judgments
    int64_t rank
    int64_t above  # documents with a higher score
    int64_t tied  # documents with the same score, itself included


cdef class Shelf:
    cdef double *score
    cdef Py_ssize_t count, room
    cdef bint falling  # no score is above the one before it
    cdef bint level  # one is equal to it
    cdef int64_t infinite, nan  # of all dicts so far

    cdef int fill(self, dict scores, bint single) except -1
    cdef int sort(self) except -1
    cdef int make_room(self, Py_ssize_t count) except -1
    cdef void locate(self, double score, int64_t *above, int64_t *tied) noexcept nogil
    cdef int64_t equals_before(self, dict scores, object document, double score, int rule) except -1
    cdef Py_ssize_t find_judged(
        self, dict scores, list documents, Py_ssize_t first, Py_ssize_t last, Hit *hit, int rule, bint single
    ) except -2
