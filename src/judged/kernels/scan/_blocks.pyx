# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Blocks: rows of one query come in, the ranks of its judged documents come out; names are never all sorted.

While rows come in, one hash table holds the judged documents of the query and the documents seen so far, so that a
single look-up finds a judged document, or a document that came before. Where scores fall strictly, a row's position
is its rank; elsewhere ranks are counted from the scores, and ids are compared only among equals.
"""

from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from judged.kernels.scan._bytes cimport compare, equal, hash_of
from judged.kernels.scan._index cimport Index

import numpy as np

cdef enum:
    DESCENDING = 0
    ASCENDING = 1
    AS_GIVEN = 2

cdef double NAN_BEFORE = float("nan")  # the score before the first: neither above, below nor equal to any

cdef enum:
    JUDGED = 0x80000000u  # marks a slot that holds a judged document, not a row
    FEW = 64  # for this many judged documents or fewer, counting ranks is faster than sorting
    SCATTERED = 1  # blocks of a query after which its further ones are skipped


cdef int push(Longs *longs, int64_t value) except -1 nogil:
    if longs.count == longs.room:
        longs.room = 2 * longs.room + 64
        grown = <int64_t *> realloc(longs.data, longs.room * sizeof(int64_t))
        if grown == NULL:
            raise MemoryError
        longs.data = grown
    longs.data[longs.count] = value
    longs.count += 1
    return 0


cdef object taken(Longs *longs):
    """The numbers as a NumPy array, copied."""
    if longs.count == 0:
        return np.zeros(0, dtype=np.int64)
    return np.array(<int64_t[:longs.count]> longs.data)


cdef class Blocks:
    """One pass over a stretch of rows, block by block; `part` tells what it found."""

    def __cinit__(self, Index index, int rule, bint single):
        self.index, self.rule, self.single = index, rule, single
        self.query = -1
        self.opened = <int32_t *> calloc(len(index.row_offset), sizeof(int32_t))
        if self.opened == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.score)
        free(self.document)
        free(self.length)
        free(self.slots)
        free(self.place)
        free(self.opened)
        free(self.found.data)
        free(self.block_query.data)
        free(self.block_begin.data)
        free(self.block_end.data)
        free(self.block_count.data)
        free(self.block_hits.data)
        free(self.hit_row.data)
        free(self.hit_rank.data)
        free(self.hit_above.data)
        free(self.hit_tied.data)
        free(self.faults.data)

    def part(self):
        """What was found, as the keywords of `judged.kernels.scan.scanner.Part`."""
        return {
            "query": taken(&self.block_query),
            "begin": taken(&self.block_begin),
            "end": taken(&self.block_end),
            "count": taken(&self.block_count),
            "hits": taken(&self.block_hits),
            "row": taken(&self.hit_row),
            "rank": taken(&self.hit_rank),
            "above": taken(&self.hit_above),
            "tied": taken(&self.hit_tied),
            "faults": taken(&self.faults).reshape(-1, 3),
            "counts": np.array([self.counts[kind] for kind in range(KINDS)], dtype=np.int64),
            "infinite": self.infinite,
            "wide": self.wide,
        }

    # ------------------------------------------------------------------------------------ blocks

    cdef int fault(self, int kind, int64_t place, int64_t detail) except -1 nogil:
        self.counts[kind] += 1
        if self.counts[kind] <= KEPT:
            push(&self.faults, kind)
            push(&self.faults, place)
            push(&self.faults, detail)
        return 0

    cdef int open(self, int64_t query, int64_t begin) except -1 nogil:
        """Begin a block: its judged documents go into the hash table.

        A query in several blocks is read again as one block, so that a block after another of its query is only
        counted: rows that alternate between queries would otherwise cost a hash table each.
        """
        cdef int64_t row
        push(&self.block_query, query)
        push(&self.block_begin, begin)
        self.query, self.skipped = query, False
        if query >= 0:
            self.skipped = self.opened[query] >= SCATTERED
            self.opened[query] += not self.skipped
        if self.skipped:
            self.count, self.found.count = 0, 0
            self.rising, self.level, self.previous = False, False, NAN_BEFORE
            return 0
        self.first = self.index.row_offset[query] if query >= 0 else 0
        self.judged = self.index.row_offset[query + 1] - self.first if query >= 0 else 0
        self.resize(2 * (self.count + self.judged) + 16)  # the block before is the best guess of this one's size
        self.count, self.found.count = 0, 0
        self.rising, self.level, self.previous = False, False, NAN_BEFORE
        if self.judged > self.place_room:
            self.place_room = 2 * self.judged
            free(self.place)
            self.place = <int32_t *> malloc(self.place_room * sizeof(int32_t))
            if self.place == NULL:
                raise MemoryError
        for row in range(self.judged):
            self.place[row] = -1
            self.insert(self.index.fingerprint[self.first + row], JUDGED | <uint32_t> row)
        return 0

    cdef int resize(self, int64_t wanted) except -1 nogil:
        """An empty hash table with at least `wanted` slots."""
        cdef uint32_t mask = 63
        while mask < wanted:
            mask = 2 * mask + 1
        if mask >= self.slot_room:
            free(self.slots)
            self.slots = <uint64_t *> malloc((<size_t> mask + 1) * sizeof(uint64_t))
            if self.slots == NULL:
                self.slot_room = 0
                raise MemoryError
            self.slot_room = mask + 1
        memset(self.slots, 0, (<size_t> mask + 1) * sizeof(uint64_t))
        self.mask = mask
        return 0

    cdef void insert(self, uint32_t fingerprint, uint32_t what) noexcept nogil:
        """Put a judged document or a row where its fingerprint leads; `what` + 1 is never 0."""
        cdef uint32_t at = fingerprint & self.mask
        while self.slots[at]:
            at = (at + 1) & self.mask
        self.slots[at] = (<uint64_t> fingerprint << 32) | (what + 1)

    cdef int widen(self) except -1 nogil:
        """More slots; a slot's fingerprint says where it goes."""
        cdef uint64_t *old = self.slots
        cdef uint32_t size = self.mask + 1, i
        self.slots, self.slot_room = NULL, 0
        try:
            self.resize(4 * <int64_t> size)
            for i in range(size):
                if old[i]:
                    self.insert(<uint32_t> (old[i] >> 32), <uint32_t> old[i] - 1)
        finally:
            free(old)
        return 0

    cdef int more_room(self) except -1 nogil:
        self.room = 2 * self.room + 1024
        score = <double *> realloc(self.score, self.room * sizeof(double))
        if score != NULL:
            self.score = score
        document = <const uint8_t **> realloc(self.document, self.room * sizeof(const uint8_t *))
        if document != NULL:
            self.document = document
        length = <uint32_t *> realloc(self.length, self.room * sizeof(uint32_t))
        if length != NULL:
            self.length = length
        if score == NULL or document == NULL or length == NULL:
            raise MemoryError
        return 0

    cdef int add(self, const uint8_t *p, size_t n, double score) except -1 nogil:
        """Take in one row: order, infinity, and whether its document is judged or was seen before."""
        cdef int64_t i = self.count
        cdef uint32_t fingerprint, at, what
        cdef uint64_t slot
        if self.single:
            score = <double> <float> score
        if i == self.room:
            self.more_room()
        if isinf(score):
            self.infinite += 1
        self.rising |= score > self.previous  # no branches: an unsorted run would mispredict them
        self.level |= score == self.previous
        self.previous = score
        self.score[i], self.document[i], self.length[i] = score, p, <uint32_t> n
        self.count = i + 1
        if self.query < 0 or self.skipped:  # an unjudged query is not scored, so nothing in it can change a number
            return 0
        if 2 * (i + self.judged) > self.mask:
            self.widen()
        fingerprint = hash_of(p, n, self.limit, self.index.seed)
        at = fingerprint & self.mask
        while True:
            slot = self.slots[at]
            if slot == 0:
                self.slots[at] = (<uint64_t> fingerprint << 32) | <uint32_t> (i + 1)
                return 0
            if <uint32_t> (slot >> 32) == fingerprint:
                what = <uint32_t> slot - 1
                if what & JUDGED:
                    if self.is_judged(what & ~<uint32_t> JUDGED, p, n):
                        return self.meet(what & ~<uint32_t> JUDGED, i)
                elif equal(p, n, self.document[what], self.length[what]):
                    return self.fault(REPEATED, p - self.base, self.document[what] - self.base)
            at = (at + 1) & self.mask

    cdef bint is_judged(self, uint32_t judged, const uint8_t *p, size_t n) noexcept nogil:
        cdef int64_t row = self.first + judged
        return equal(p, n, self.index.document(row), self.index.document_length(row))

    cdef int meet(self, uint32_t judged, int64_t i) except -1 nogil:
        """A judged document was retrieved at row `i` of the block."""
        if self.place[judged] >= 0:
            return self.fault(
                REPEATED, self.document[i] - self.base, self.document[self.place[judged]] - self.base
            )
        self.place[judged] = <int32_t> i
        return push(&self.found, judged)

    cdef int close(self, int64_t end) except -1 nogil:
        """End a block: ranks of the judged documents it retrieved."""
        cdef int64_t h, start = self.hit_row.count
        push(&self.block_end, end)
        push(&self.block_count, self.count)
        push(&self.block_hits, self.found.count)
        if not self.rising and not self.level:
            for h in range(self.found.count):
                self.report(h, self.place[self.found.data[h]], 1, 0)
            return 0
        if self.found.count > FEW:
            return self.rank_by_sorting()
        for h in range(self.found.count):
            self.rank_by_counting(h)
        self.order_hits(start)
        return 0

    cdef int report(self, int64_t h, int64_t above, int64_t tied, int64_t before) except -1 nogil:
        push(&self.hit_row, self.first + self.found.data[h])
        push(&self.hit_rank, above + before + 1)
        push(&self.hit_above, above)
        push(&self.hit_tied, tied)
        return 0

    cdef bint comes_before(self, int64_t i, int64_t j) noexcept nogil:
        """Return whether row `i` comes before row `j`, of the same score, under the tie rule."""
        cdef int order
        if self.rule == AS_GIVEN:
            return i < j
        order = compare(self.document[i], self.length[i], self.document[j], self.length[j])
        if order == 0:
            return i < j
        return order > 0 if self.rule == DESCENDING else order < 0

    cdef int rank_by_counting(self, int64_t h) except -1 nogil:
        """The rank of one judged document: how many scores are higher, and which equals come before."""
        cdef int64_t mine = self.place[self.found.data[h]], i, low = 0, high = self.count
        cdef int64_t above = 0, tied = 0, before = 0
        cdef double score = self.score[mine]
        if not self.rising:  # the equals are neighbours
            low, high = mine, mine + 1
            while low > 0 and self.score[low - 1] == score:
                low -= 1
            while high < self.count and self.score[high] == score:
                high += 1
            above, tied = low, high - low
        else:
            for i in range(self.count):
                above += self.score[i] > score
                tied += self.score[i] == score
        if tied > 1:
            for i in range(low, high):
                if self.score[i] == score and i != mine:
                    before += self.comes_before(i, mine)
        return self.report(h, above, tied, before)

    cdef int rank_by_sorting(self) except -1 nogil:
        """Ranks of all judged documents of the block at once, for blocks that have many."""
        cdef int64_t n = self.count, i, h
        cdef int64_t *order = <int64_t *> malloc(3 * n * sizeof(int64_t))
        if order == NULL:
            raise MemoryError
        cdef int64_t *found_at = order + 2 * n  # of each row, its place among the documents found, or -1
        try:
            for i in range(n):
                order[i], found_at[i] = i, -1
            for h in range(self.found.count):
                found_at[self.place[self.found.data[h]]] = h
            self.merge_sort(order, order + n, n)
            self.report_sorted(order, found_at)
        finally:
            free(order)
        return 0

    cdef int report_sorted(self, const int64_t *order, const int64_t *found_at) except -1 nogil:
        """Report the hits in the order of their ranks, a group of equal scores at a time."""
        cdef int64_t first = 0, last, i
        while first < self.count:
            last = first + 1
            while last < self.count and self.score[order[last]] == self.score[order[first]]:
                last += 1
            for i in range(first, last):
                if found_at[order[i]] >= 0:
                    self.report(found_at[order[i]], first, last - first, i - first)
            first = last
        return 0

    cdef void merge_sort(self, int64_t *order, int64_t *spare, int64_t n) noexcept nogil:
        """Rows by falling score, equals by the tie rule; runs of length 1, 2, 4, … are merged."""
        cdef int64_t width = 1, low, middle, high, i, j, k
        while width < n:
            low = 0
            while low < n:
                middle, high = min(low + width, n), min(low + 2 * width, n)
                i, j = low, middle
                for k in range(low, high):
                    if i < middle and (j >= high or not self.outranks(order[j], order[i])):
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
                low = high
            for k in range(n):
                order[k] = spare[k]
            width *= 2

    cdef bint outranks(self, int64_t i, int64_t j) noexcept nogil:
        if self.score[i] != self.score[j]:
            return self.score[i] > self.score[j]
        return self.comes_before(i, j)

    cdef void order_hits(self, int64_t start) noexcept nogil:
        """Put the hits of the block just closed into the order of their ranks."""
        cdef int64_t i, j, n = self.hit_row.count
        cdef int64_t row, rank, above, tied
        for i in range(start + 1, n):
            row, rank = self.hit_row.data[i], self.hit_rank.data[i]
            above, tied = self.hit_above.data[i], self.hit_tied.data[i]
            j = i
            while j > start and self.hit_rank.data[j - 1] > rank:
                self.hit_row.data[j] = self.hit_row.data[j - 1]
                self.hit_rank.data[j] = self.hit_rank.data[j - 1]
                self.hit_above.data[j] = self.hit_above.data[j - 1]
                self.hit_tied.data[j] = self.hit_tied.data[j - 1]
                j -= 1
            self.hit_row.data[j], self.hit_rank.data[j] = row, rank
            self.hit_above.data[j], self.hit_tied.data[j] = above, tied
