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
    LONGEST_NUMBER = 640  # digits that Python converts under any limit


cdef double as_double(object value) except? -1.0:
    return PyFloat_AS_DOUBLE(value) if PyFloat_CheckExact(value) else PyFloat_AsDouble(value)


cdef class Shelf:
    """The scores of one query's dict, in its order, and whether they fall."""

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

    cdef Py_ssize_t find_judged(
        self, dict scores, list documents, Py_ssize_t first, Py_ssize_t last, Hit *hit, int rule, bint single
    ) except -2:
        """Write the judged documents of a query's scores, by rank, to `hit`; return how many they are.

        Returns LEFT where many documents are judged and scores are equal: sorting names once is then faster than
        comparing them with those of each judged document. TypeError where an id is not text.
        """
        cdef int64_t infinite = self.infinite, nan = self.nan
        cdef Py_ssize_t row, n = 0
        cdef PyObject *value
        cdef double score
        if not isinstance(next(iter(scores)), str):
            raise TypeError("a document id is not text")
        self.fill(scores, single)
        if last - first > FEW and self.count > FEW:
            if not self.falling and self.nan == nan:  # NaN has no place in an order
                self.sort()
            if self.level or not self.falling:
                self.infinite, self.nan = infinite, nan  # the caller counts them
                return LEFT
        for row in range(first, last):
            value = PyDict_GetItemWithError(scores, documents[row])
            if value == NULL:
                refuse_as_number(scores, documents[row])
                continue
            held = <object> value  # the dict might let go of it
            score = as_double(held)
            if single:
                score = <double> <float> score
            hit[n].row = row
            self.locate(score, &hit[n].above, &hit[n].tied)
            hit[n].rank = hit[n].above + 1
            if hit[n].tied > 1:
                hit[n].rank += self.equals_before(scores, documents[row], score, rule)
            n += 1
        order_by_rank(hit, n)
        return n


cdef int refuse_as_number(dict scores, str document) except -1:
    """TypeError where a document is missed only because the dict has it as a whole number.

    A look at the type of every key would say the same, and cost as much again as everything else here.
    """
    # the first character alone excludes most ids, without a call
    if document and document[0].isdecimal() and len(document) < LONGEST_NUMBER and document.isdecimal() and int(document) in scores:
        raise TypeError("a document id is not text")
    return 0


cdef int order_by_rank(Hit *hit, Py_ssize_t count) except -1:
    """Put the hits of one query into the order of their ranks."""
    cdef Py_ssize_t i, j
    cdef Hit moved
    if count > FEW:
        hits = np.asarray(<int64_t[:count, :4]> <int64_t *> hit)
        hits[:] = hits[np.argsort(hits[:, 1])]
        return 0
    for i in range(1, count):
        moved, j = hit[i], i
        while j > 0 and hit[j - 1].rank > moved.rank:
            hit[j] = hit[j - 1]
            j -= 1
        hit[j] = moved
    return 0


def scan_mapping(list queries, list documents, const int64_t[::1] row_offset, run, *, int rule, bint single):
    """Find the ranks of the judged documents in dicts of scores.

    Returns, for every query, the number of documents and of judged documents; then row, rank, documents above and
    documents tied of all of these; the number of infinite and of NaN scores; and the queries left to the caller,
    because many of their documents are judged and scores are equal: sorting names once is faster than comparing them
    with those of each judged document.
    """
    cdef Shelf shelf = Shelf()
    cdef Py_ssize_t q, found, n = 0
    cdef dict scores
    cdef int64_t[::1] count = np.zeros(len(queries), dtype=np.int64)
    cdef int64_t[::1] hits = np.zeros(len(queries), dtype=np.int64)
    table = np.empty((len(documents) + 1, 4), dtype=np.int64)  # one more, so that there is a first
    cdef int64_t[:, ::1] hit = table
    left = []
    for q in range(len(queries)):
        inner = run.get(queries[q])
        if inner is None or len(inner) == 0:
            continue
        scores = inner if type(inner) is dict else dict(inner)
        count[q] = len(scores)
        found = shelf.find_judged(
            scores, documents, row_offset[q], row_offset[q + 1], <Hit *> &hit[n, 0], rule, single
        )
        if found == LEFT:
            left.append(q)
        else:
            hits[q] = found
            n += found
    return np.asarray(count), np.asarray(hits), table[:n], shelf.infinite, shelf.nan, left
