"""Rows on their way into blocks, as the compiled scanners fill them."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from judged.kernels.scan._index cimport Index


# What can be wrong with a row; the order is that of `judged.kernels.scan.scanner.KINDS`.
cdef enum:
    FEW_COLUMNS = 0
    NOT_NUMBER = 1
    NAN = 2
    REPEATED = 3
    KINDS = 4
    KEPT = 1000  # faults of a kind remembered of one scan; all are counted


cdef struct Longs:
    int64_t *data
    Py_ssize_t count
    Py_ssize_t room


cdef class Blocks:
    cdef Index index
    cdef int rule
    cdef bint single
    cdef const uint8_t *base  # where places are counted from
    cdef const uint8_t *limit  # where the buffer ends
    # the block being read
    cdef int64_t query, first, judged
    cdef const uint8_t *query_start
    cdef size_t query_length
    cdef int64_t count, room
    cdef double *score
    cdef const uint8_t **document
    cdef uint32_t *length
    cdef bint rising, level  # some score is above, some equal to the one before
    cdef double previous
    cdef uint64_t *slots
    cdef uint32_t mask, slot_room
    cdef int32_t *place  # of each judged document, its row in the block, or -1
    cdef int64_t place_room
    cdef int32_t *opened  # of each query, how many blocks it has had
    cdef bint skipped  # the block is of a scattered query: its rows are counted and read again later
    cdef Longs found  # judged documents in the order they came
    # what was found
    cdef Longs block_query, block_begin, block_end, block_count, block_hits
    cdef Longs hit_row, hit_rank, hit_above, hit_tied
    cdef Longs faults
    cdef int64_t counts[KINDS]
    cdef int64_t infinite, wide

    cdef int fault(self, int kind, int64_t place, int64_t detail) except -1 nogil
    cdef int open(self, int64_t query, int64_t begin) except -1 nogil
    cdef int resize(self, int64_t wanted) except -1 nogil
    cdef void insert(self, uint32_t fingerprint, uint32_t what) noexcept nogil
    cdef int widen(self) except -1 nogil
    cdef int more_room(self) except -1 nogil
    cdef int add(self, const uint8_t *p, size_t n, double score) except -1 nogil
    cdef bint is_judged(self, uint32_t judged, const uint8_t *p, size_t n) noexcept nogil
    cdef int meet(self, uint32_t judged, int64_t i) except -1 nogil
    cdef int close(self, int64_t end) except -1 nogil
    cdef int report(self, int64_t h, int64_t above, int64_t tied, int64_t before) except -1 nogil
    cdef bint comes_before(self, int64_t i, int64_t j) noexcept nogil
    cdef int rank_by_counting(self, int64_t h) except -1 nogil
    cdef int rank_by_sorting(self) except -1 nogil
    cdef int report_sorted(self, const int64_t *order, const int64_t *found_at) except -1 nogil
    cdef void merge_sort(self, int64_t *order, int64_t *spare, int64_t n) noexcept nogil
    cdef bint outranks(self, int64_t i, int64_t j) noexcept nogil
    cdef void order_hits(self, int64_t start) noexcept nogil
