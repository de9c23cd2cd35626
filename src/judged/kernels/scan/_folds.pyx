# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Measures that are one pass over the judged documents of a query, straight from dicts of scores or lists of ids.

The arithmetic is that of the kernels in NumPy, to the last bit: sums from left to right, the same discounts.
"""

from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next, PyDict_SetItem
from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, qsort

from judged.kernels.scan._dicts cimport LEFT, Hit, Shelf

import math
from collections import defaultdict

import numpy as np

from judged.kernels.scan import scanner

cdef enum:
    GAIN = 0  # the sum of gains, each over the logarithm of its rank + 1
    PRECISION = 1  # the sum of precisions at relevant documents
    FIRST = 2  # one over the rank of the first relevant document
    ANY = 3  # whether there is a relevant document
    COUNT = 4  # the number of relevant documents
    COUNT_TO_DIVISOR = 5  # the same, down to the rank that the divisor is
    NEAR = 1024  # ranks whose discounts are in a table
    LONGEST = 1 << 24  # results of a list up to which places are distinct in any precision
    FEW_QUERIES = 8  # for fewer, NumPy adds from left to right too

KINDS = ("gain", "precision", "first", "any", "count", "count to divisor")
"""The kinds of folds, in the order of their numbers."""

logarithm = math.log2
cdef double DISCOUNT[NEAR]
cdef Py_ssize_t place
for place in range(NEAR):
    DISCOUNT[place] = logarithm(place + 2)


cdef double discount(int64_t rank) except -1.0:
    return DISCOUNT[rank - 1] if rank <= NEAR else <double> logarithm(rank + 1)


cdef int falling(const void *one, const void *other) noexcept nogil:
    cdef double x = (<const double *> one)[0], y = (<const double *> other)[0]
    return (x < y) - (x > y)


cdef class Folds:
    """Folds over one set of judgments, under one protocol.

    Nothing changes after it was made, and every call has room of its own, so threads may share it.
    """

    cdef list names, queries, documents
    cdef const int64_t[::1] row_offset
    cdef const double[::1] grade
    cdef const double[:, ::1] gain  # by kind of gain and row
    cdef double[:, ::1] divisor  # by measure and query
    cdef const int64_t[::1] kind, limit, gain_of  # of every measure
    cdef const double[::1] rel
    cdef const unsigned char[::1] shortened  # whether a measure's divisor is at most the number retrieved
    cdef const unsigned char[::1] kept  # whether a query can be scored
    cdef int rule
    cdef bint single, removed, untied, skip_missing, only_judged, complete
    cdef int64_t depth
    cdef Py_ssize_t most  # judged documents of a query

    def __init__(self, *, list names, list queries, list documents, row_offset, grade, gain, divisor, kind, limit,
                 gain_of, rel, shortened, ideal, kept, int rule, bint single, bint removed, bint untied, bint skip_missing,
                 bint only_judged, bint complete, int64_t depth):
        self.names, self.queries, self.documents = names, queries, documents
        self.row_offset, self.grade, self.gain, self.divisor = row_offset, grade, gain, divisor
        self.kind, self.limit, self.gain_of, self.rel = kind, limit, gain_of, rel
        self.shortened, self.kept = shortened, kept
        self.rule, self.single, self.removed, self.untied = rule, single, removed, untied
        self.skip_missing, self.only_judged, self.complete = skip_missing, only_judged, complete
        self.depth = depth
        cdef Py_ssize_t q, m
        self.most = 1
        for q in range(len(queries)):
            self.most = max(self.most, self.row_offset[q + 1] - self.row_offset[q])
        for m in range(len(names)):
            if ideal[m]:
                self._find_ideals(m)

    cdef int _find_ideals(self, Py_ssize_t m) except -1:
        """Make the divisor of a measure its own sum over the best order of every query."""
        cdef double *best = <double *> malloc(self.most * sizeof(double))
        cdef Py_ssize_t q, i, count
        cdef double total
        if best == NULL:
            raise MemoryError
        try:
            for q in range(len(self.queries)):
                count, total = self.row_offset[q + 1] - self.row_offset[q], 0
                for i in range(count):
                    best[i] = self.gain[self.gain_of[m], self.row_offset[q] + i]
                qsort(best, count, sizeof(double), falling)
                for i in range(min(count, self.limit[m])):
                    if best[i] <= 0:  # negative gains are never part of the best order
                        break
                    total += best[i] / discount(i + 1)
                self.divisor[m, q] = total
        finally:
            free(best)
        return 0

    def means(self, run):
        """Return the mean of every measure; None for what only the long way can score."""
        cdef Py_ssize_t width = len(self.queries), m, n, count
        cdef double *value = self._make_values()
        cdef double total
        cdef dict means = {}
        try:
            count = self._score_run(run, value, None)
            if count <= 0:
                return None
            for m in range(len(self.names)):
                if count < FEW_QUERIES:
                    total = 0
                    for n in range(count):
                        total += value[m * width + n]
                else:
                    total = np.add.reduce(np.asarray(<double[:count]> (value + m * width)))
                PyDict_SetItem(means, self.names[m], total / <double> count)
        finally:
            free(value)
        return means

    def by_query(self, run):
        """Return the values of every measure by query; None for what only the long way can score."""
        cdef Py_ssize_t width = len(self.queries), m, n, count
        cdef double *value = self._make_values()
        cdef dict found = {}, row
        cdef list scored = []
        try:
            count = self._score_run(run, value, scored)
            if count <= 0:
                return None
            for m in range(len(self.names)):
                row = {}
                for n in range(count):
                    PyDict_SetItem(row, scored[n], value[m * width + n])
                found[self.names[m]] = row
        finally:
            free(value)
        return found

    def of_ranks(self, ranks, keep):
        """Return the values of every measure for the queries to keep of a run that was aligned; None: not finite."""
        cdef const int64_t[:] row = ranks.row, rank = ranks.rank
        cdef const int64_t[::1] offset = ranks.offset, retrieved = np.ascontiguousarray(ranks.retrieved)
        cdef const unsigned char[::1] kept = keep.view(np.uint8)
        cdef Py_ssize_t width = int(keep.sum()), q, i, found, n = 0
        cdef int64_t count
        values = np.empty((len(self.names), width + 1))  # one more, so that there is a first
        cdef double[:, ::1] value = values
        cdef Hit *hit = self._make_room()
        try:
            for q in range(len(self.queries)):
                if not kept[q]:
                    continue
                found = offset[q + 1] - offset[q]
                for i in range(found):
                    hit[i].row, hit[i].rank = row[offset[q] + i], rank[offset[q] + i]
                count = retrieved[q]
                found = self._select(hit, found, &count)
                if not self._fold(q, hit, found, count, &value[0, n], width + 1):
                    return None
                n += 1
        finally:
            free(hit)
        return values[:, :width]

    cdef Py_ssize_t _score_run(self, run, double *value, list scored) except -2:
        """Write a row of values for each measure, and the queries that they are of; return how many these are.

        Whatever is odd is left to the long way, which scores it or says what is wrong: then it returns -1.
        """
        if type(run) is not dict and type(run) is not defaultdict:
            return -1
        cdef Hit *hit = self._make_room()
        try:
            lists = self._check(<dict> run)
            return -1 if lists is None else self._score(<dict> run, lists, hit, value, scored)
        except (TypeError, ValueError, OverflowError):
            return -1
        finally:
            free(hit)

    cdef double *_make_values(self) except NULL:
        cdef double *value = <double *> malloc((len(self.names) * len(self.queries) + 1) * sizeof(double))
        if value == NULL:
            raise MemoryError
        return value

    cdef Hit *_make_room(self) except NULL:
        cdef Hit *hit = <Hit *> malloc(self.most * sizeof(Hit))
        if hit == NULL:
            raise MemoryError
        return hit

    cdef object _check(self, dict run):
        """Return whether the run has lists, not dicts; None if it has anything else, or both."""
        cdef Py_ssize_t position = 0, lists = 0
        cdef PyObject *key = NULL
        cdef PyObject *value = NULL
        while PyDict_Next(run, &position, &key, &value):
            kind = type(<object> value)
            if type(<object> key) is not str:
                return None
            if kind is list:
                lists += 1
            elif kind is not dict and kind is not defaultdict:
                return None
        if not lists:
            return False
        if lists != len(run):
            return None
        # as columns, they are all checked, whether they are judged or not
        return True if all([is_plain(query) and is_sound(ids) for query, ids in run.items()]) else None

    cdef Py_ssize_t _score(self, dict run, bint lists, Hit *hit, double *value, list scored) except -2:
        """Score every query that counts; return how many, or -1 for what only the long way can score."""
        cdef Shelf shelf = Shelf()
        cdef Py_ssize_t width = len(self.queries), q, found, n = 0, present = 0
        cdef int64_t retrieved
        cdef PyObject *held
        for q in range(width):
            query = self.queries[q]
            held = PyDict_GetItemWithError(run, query)
            found = retrieved = 0
            if held != NULL:
                present += 1
                inner = <object> held
                retrieved = len(inner)
                if retrieved:
                    found = self._find_in_list(<list> inner, q, hit) if lists else self._find(shelf, <dict> inner, q, hit)
                    if found < 0:
                        return -1
            if not self.kept[q] or (self.skip_missing and held == NULL):
                continue
            found = self._select(hit, found, &retrieved)
            if not self._fold(q, hit, found, retrieved, value + n, width):
                return -1
            if scored is not None:
                scored.append(query)
            n += 1
        if shelf.nan or not present or (self.only_judged and present != len(run)) or (self.complete and present != width):
            return -1
        return n

    cdef Py_ssize_t _find(self, Shelf shelf, dict scores, Py_ssize_t q, Hit *hit) except -2:
        """Write the judged documents among scores, by rank; return how many, -1 for ties that are averaged."""
        cdef Py_ssize_t first = self.row_offset[q], found, i
        cdef const int64_t[:, ::1] places
        found = shelf.find_judged(scores, self.documents, first, self.row_offset[q + 1], hit, self.rule, self.single)
        if found == LEFT:
            every, table = scanner.scan_query(
                scores, self.documents[first : self.row_offset[q + 1]], rule=self.rule, single=self.single
            )
            if np.isnan(every).any():
                return -1
            places = np.ascontiguousarray(table)
            found = places.shape[0]
            for i in range(found):
                hit[i].row, hit[i].rank, hit[i].tied = first + places[i, 0], places[i, 1], places[i, 3]
        if self.untied:
            for i in range(found):
                if hit[i].tied > 1:
                    return -1
        return found

    cdef Py_ssize_t _find_in_list(self, list ids, Py_ssize_t q, Hit *hit) except -2:
        """Write the judged documents of a list of distinct ids, by rank; return how many."""
        cdef dict ranks = {}
        cdef Py_ssize_t i, j, found = 0
        cdef PyObject *held
        cdef Hit moved
        for i in range(len(ids)):
            PyDict_SetItem(ranks, ids[i], i + 1)
        for i in range(self.row_offset[q], self.row_offset[q + 1]):
            held = PyDict_GetItemWithError(ranks, self.documents[i])
            if held == NULL:
                continue
            moved.row, moved.rank, j = i, <object> held, found
            while j > 0 and hit[j - 1].rank > moved.rank:
                hit[j] = hit[j - 1]
                j -= 1
            hit[j] = moved
            found += 1
        return found

    cdef Py_ssize_t _select(self, Hit *hit, Py_ssize_t found, int64_t *retrieved) noexcept:
        """Apply the depth, and remove documents that are not judged; return how many are left."""
        cdef Py_ssize_t i, n = 0
        for i in range(found):
            if hit[i].rank > self.depth:
                break
            if self.removed and self.grade[hit[i].row] < 0:
                continue
            hit[n] = hit[i]
            if self.removed:
                hit[n].rank = n + 1
            n += 1
        retrieved[0] = n if self.removed else min(retrieved[0], self.depth)
        return n

    cdef bint _fold(
        self, Py_ssize_t q, const Hit *hit, Py_ssize_t found, int64_t retrieved, double *value, Py_ssize_t width
    ) except -1:
        """Write the value of every measure, each `width` after the last; return whether all are finite."""
        cdef Py_ssize_t m
        for m in range(len(self.names)):
            value[m * width] = self._value(m, q, hit, found, retrieved)
            if not isfinite(value[m * width]):
                return False
        return True

    cdef double _value(
        self, Py_ssize_t m, Py_ssize_t q, const Hit *hit, Py_ssize_t found, int64_t retrieved
    ) except? -1.0:
        cdef int64_t kind = self.kind[m], limit = self.limit[m], rank, relevant = 0
        cdef double divisor = self.divisor[m, q], total = 0, grade
        cdef Py_ssize_t i
        if kind == COUNT_TO_DIVISOR:
            limit = <int64_t> divisor
        for i in range(found):
            rank = hit[i].rank
            if rank > limit:
                break
            if kind == GAIN:
                total += self.gain[self.gain_of[m], hit[i].row] / discount(rank)
                continue
            grade = self.grade[hit[i].row]
            if grade < self.rel[m] or grade < 0:
                continue
            relevant += 1
            if kind == PRECISION:
                total += <double> relevant / <double> rank
            elif kind == FIRST:
                return 1.0 / <double> rank
            elif kind == ANY:
                return 1.0
        if kind >= COUNT:
            total = <double> relevant
        if self.shortened[m]:
            divisor = min(divisor, <double> retrieved)
        return total / divisor if divisor != 0 else 0.0


cdef bint is_plain(str text) except -1:
    """Whether UTF-8 can hold a text; UnicodeEncodeError, which is a ValueError, if not."""
    if not text.isascii():
        text.encode()
    return True


cdef bint is_sound(list ids) except -1:
    """Whether a list has distinct ids that are text."""
    cdef set seen
    if len(ids) >= LONGEST:
        return False
    for identifier in ids:
        if type(identifier) is not str or not is_plain(identifier):
            return False
    seen = set(ids)
    return len(seen) == len(ids)
