# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled scanner of `align` for dicts: no names are sorted or copied, no arrays of them are made."""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_CheckExact
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_Compare
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

import numpy as np

cdef enum:
    DESCENDING = 0
    ASCENDING = 1
    AS_GIVEN = 2

cdef enum:
    FEW = 64  # for this many judged documents or fewer, counting ranks is faster than sorting
    LONGEST_NUMBER = 640  # digits that Python converts under any limit


cdef double as_double(object value) except? -1.0:
    return PyFloat_AS_DOUBLE(value) if PyFloat_CheckExact(value) else PyFloat_AsDouble(value)


cdef class Shelf:
    """The scores of one query's dict, in its order, and whether they fall."""

    cdef double *score
    cdef Py_ssize_t count, room
    cdef bint falling, level
    """Whether no score is above the one before it, and whether one is equal to it."""
    cdef int64_t infinite, nan
    """Of all dicts so far."""

    def __dealloc__(self):
        free(self.score)

    cdef int fill(self, dict scores, bint single) except -1:
        """Take in the scores of a dict; TypeError where one is not a number."""
        cdef Py_ssize_t i = 0, position = 0
        cdef PyObject *key = NULL
        cdef PyObject *value = NULL
        cdef double x, before = 0
        self.make_room(len(scores))
        self.falling, self.level = True, False
        while PyDict_Next(scores, &position, &key, &value):  # a list of the values would count references up and down
            if i == self.count:  # more scores than there were: counted below as a change
                i += 1
                break
            held = <object> value  # the dict might let go of it
            x = as_double(held)
            if single:
                x = <double> <float> x
            if x - x != 0:  # neither of the two is common, and both are found by one comparison
                if isnan(x):
                    self.nan += 1
                else:
                    self.infinite += 1
            if i:
                self.falling &= x <= before
                self.level |= x == before
            before = self.score[i] = x
            i += 1
        if i != self.count or len(scores) != self.count:  # a score's own `__float__` may do anything
            raise RuntimeError("a dict of scores changed while it was read")
        return 0

    cdef int sort(self) except -1:
        """Put the scores into falling order."""
        cdef Py_ssize_t i
        ordered = np.asarray(<double[:self.count]> self.score)
        np.negative(ordered, out=ordered)
        ordered.sort()
        np.negative(ordered, out=ordered)
        self.falling, self.level = True, False
        for i in range(1, self.count):
            self.level |= self.score[i] == self.score[i - 1]
        return 0

    cdef int make_room(self, Py_ssize_t count) except -1:
        self.count = count
        if count > self.room:
            self.room = 2 * count
            free(self.score)
            self.score = <double *> malloc(self.room * sizeof(double))
            if self.score == NULL:
                self.room = 0
                raise MemoryError
        return 0

    cdef void locate(self, double score, int64_t *above, int64_t *tied) noexcept nogil:
        """How many scores are higher, and how many are equal."""
        cdef Py_ssize_t low = 0, high = self.count, middle, i
        above[0], tied[0] = 0, 0
        if not self.falling:
            for i in range(self.count):
                above[0] += self.score[i] > score
                tied[0] += self.score[i] == score
            return
        while low < high:
            middle = (low + high) // 2
            if self.score[middle] > score:
                low = middle + 1
            else:
                high = middle
        above[0] = low
        while low < self.count and self.score[low] == score:
            low += 1
        tied[0] = low - above[0]

    cdef int64_t equals_before(self, dict scores, object document, double score, int rule) except -1:
        """Count the documents of that score before `document` under the tie rule."""
        cdef Py_ssize_t position = 0, i = 0
        cdef PyObject *key = NULL
        cdef PyObject *value = NULL
        cdef int64_t before = 0
        cdef int order
        while i < self.count and PyDict_Next(scores, &position, &key, &value):
            if self.score[i] == score:
                order = PyUnicode_Compare(<object> key, document)
                if rule == AS_GIVEN and order == 0:
                    return before
                before += rule == AS_GIVEN or (order > 0 if rule == DESCENDING else order < 0)
            i += 1
        return before


cdef int refuse_as_number(dict scores, str document) except -1:
    """TypeError where a document is missed only because the dict has it as a whole number.

    A look at the type of every key would say the same, and cost as much again as everything else here.
    """
    # the first character alone excludes most ids, without a call
    if document and document[0].isdecimal() and len(document) < LONGEST_NUMBER and document.isdecimal() and int(document) in scores:
        raise TypeError("a document id is not text")
    return 0


cdef void order_by_rank(int64_t[:, ::1] hit, Py_ssize_t first, Py_ssize_t last) noexcept:
    """Put the hits of one query, of which there are few, into the order of their ranks."""
    cdef Py_ssize_t i, j, k
    for i in range(first + 1, last):
        j = i
        while j > first and hit[j - 1, 1] > hit[j, 1]:
            for k in range(4):
                hit[j - 1, k], hit[j, k] = hit[j, k], hit[j - 1, k]
            j -= 1


def scan_mapping(list queries, list documents, const int64_t[::1] row_offset, run, *, int rule, bint single):
    """Find the ranks of the judged documents in dicts of scores.

    Returns, for every query, the number of documents and of judged documents; then row, rank, documents above and
    documents tied of all of these; the number of infinite and of NaN scores; and the queries left to the caller,
    because many of their documents are judged and scores are equal: sorting names once is faster than comparing them
    with those of each judged document.
    """
    cdef Shelf shelf = Shelf()
    cdef Py_ssize_t q, n = 0
    cdef int64_t row
    cdef double score
    cdef PyObject *value
    cdef dict scores
    cdef int64_t infinite, nan
    cdef int64_t[::1] count = np.zeros(len(queries), dtype=np.int64)
    cdef int64_t[::1] hits = np.zeros(len(queries), dtype=np.int64)
    found = np.empty((len(documents), 4), dtype=np.int64)
    cdef int64_t[:, ::1] hit = found
    left = []
    for q in range(len(queries)):
        inner = run.get(queries[q])
        if inner is None or len(inner) == 0:
            continue
        scores = inner if type(inner) is dict else dict(inner)
        count[q] = len(scores)
        if not isinstance(next(iter(scores)), str):
            raise TypeError("a document id is not text")
        infinite, nan = shelf.infinite, shelf.nan
        shelf.fill(scores, single)
        if row_offset[q + 1] - row_offset[q] > FEW and count[q] > FEW:
            if not shelf.falling and shelf.nan == nan:  # NaN has no place in an order
                shelf.sort()
            if shelf.level or not shelf.falling:
                shelf.infinite, shelf.nan = infinite, nan  # the caller counts them
                left.append(q)
                continue
        for row in range(row_offset[q], row_offset[q + 1]):
            value = PyDict_GetItemWithError(scores, documents[row])
            if value == NULL:
                refuse_as_number(scores, documents[row])
                continue
            held = <object> value  # the dict might let go of it
            score = as_double(held)
            if single:
                score = <double> <float> score
            hit[n, 0] = row
            shelf.locate(score, &hit[n, 2], &hit[n, 3])
            hit[n, 1] = hit[n, 2] + 1
            if hit[n, 3] > 1:
                hit[n, 1] += shelf.equals_before(scores, documents[row], score, rule)
            hits[q] += 1
            n += 1
        if hits[q] <= FEW:
            order_by_rank(hit, n - hits[q], n)
        else:
            mine = found[n - hits[q] : n]
            mine[:] = mine[np.argsort(mine[:, 1])]
    return np.asarray(count), np.asarray(hits), found[:n], shelf.infinite, shelf.nan, left
