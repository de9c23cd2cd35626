# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The compiled reader of whole TREC lines; it keeps the contract of `judged.kernels.scan.rows`."""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint64_t

from judged.kernels.scan._bytes cimport NOT_A_NUMBER, NUMBER, begins, next_token, number, token_end

import numpy as np

cdef extern from "_folding.h" nogil:
    uint64_t long_hash "judged_long_hash"(const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed)
    uint8_t fold "judged_fold"(
        const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed, uint64_t *hash, uint64_t *folded
    )

# What a line is; the order is that of `judged.kernels.scan.rows`.
cdef enum:
    ROW = 0
    SHORT = 1
    COMMENT = 2
    BLANK = 3
    RETURN = 16
    RUN = 6


cdef class Cut:
    """The arrays that lines are written into."""

    cdef uint8_t[::1] kinds, sound, fate
    cdef int64_t[::1] counts, line_begins, line
    cdef int64_t[::1] query_start, query_length, document_start, document_length, token_start, token_length
    cdef uint64_t[::1] query_hash, document_hash, tag, folded
    cdef double[::1] value, rank
    cdef int64_t lines, rows, room
    cdef uint64_t seed

    def __cinit__(self, Py_ssize_t lines, uint64_t seed):
        self.seed = seed
        self.room = room = max(lines, 1)
        longs = [np.zeros(room, dtype=np.int64) for _ in range(9)]
        self.counts, self.line_begins, self.line = longs[0], longs[1], longs[2]
        self.query_start, self.query_length, self.document_start = longs[3], longs[4], longs[5]
        self.document_length, self.token_start, self.token_length = longs[6], longs[7], longs[8]
        hashes = [np.zeros(room, dtype=np.uint64) for _ in range(4)]
        self.query_hash, self.document_hash, self.tag, self.folded = hashes
        self.kinds, self.sound, self.fate = [np.zeros(room, dtype=np.uint8) for _ in range(3)]
        self.value, self.rank = np.zeros(room), np.zeros(room)

    def parts(self, bint run):
        """Everything, cut to size, under the names of `Rows`."""
        parts = {
            "kinds": np.asarray(self.kinds)[: self.lines],
            "counts": np.asarray(self.counts)[: self.lines],
            "begins": np.asarray(self.line_begins)[: self.lines],
            "sound": np.asarray(self.sound)[: self.rows].view(bool),
        }
        arrays = {
            "line": self.line, "query_start": self.query_start, "query_length": self.query_length,
            "document_start": self.document_start, "document_length": self.document_length,
            "token_start": self.token_start, "token_length": self.token_length, "query_hash": self.query_hash,
            "document_hash": self.document_hash, "value": self.value, "folded": self.folded, "fate": self.fate,
        }
        parts |= {name: np.asarray(values)[: self.rows] for name, values in arrays.items()}
        parts["rank"] = np.asarray(self.rank)[: self.rows if run else 0]
        parts["tag"] = np.asarray(self.tag)[: self.rows if run else 0]
        return parts


def cut_rows(const uint8_t[::1] text, int columns, uint64_t seed):
    """The lines of a text that is not empty, as arrays under the names of `Rows`."""
    cdef Py_ssize_t size = text.shape[0]
    feeds = int(np.count_nonzero(np.asarray(text) == 10))
    cdef Cut cut = Cut(feeds + 1, seed)
    cdef const uint8_t *base = &text[0]
    with nogil:
        read_lines(cut, base, base + size, columns)
    return cut.parts(columns == RUN)


cdef int read_lines(Cut cut, const uint8_t *base, const uint8_t *end, int columns) except -1 nogil:
    cdef const uint8_t *p = base
    cdef const uint8_t *line
    cdef const uint8_t *start[6]
    cdef const uint8_t *stop[6]
    cdef int64_t count
    cdef uint8_t kind
    cdef bint comment
    while p < end:
        if cut.lines == cut.room:  # lines were counted before, and another process has written to the file since
            raise BlockingIOError("the file changed while it was read")
        line = p
        count = 0
        p = next_token(p, end)
        comment = p < end and p[0] == c'#'
        while p < end and p[0] != c'\n':
            if count < columns:
                start[count] = p
                p = token_end(p, end)
                stop[count] = p
            else:
                p = token_end(p, end)
            count += 1
            p = next_token(p, end)
        kind = COMMENT if comment else BLANK if count == 0 else SHORT if count < columns else ROW
        if kind == ROW:
            add_row(cut, base, end, start, stop, columns)
        cut.kinds[cut.lines] = kind + (RETURN if p < end and p > base and (p - 1)[0] == c'\r' else 0)
        cut.counts[cut.lines] = 0 if comment else count
        cut.line_begins[cut.lines] = line - base
        cut.lines += 1
        p += 1
    return 0


cdef inline int add_row(
    Cut cut, const uint8_t *base, const uint8_t *end, const uint8_t **start, const uint8_t **stop, int columns
) except -1 nogil:
    cdef int64_t r = cut.rows
    cdef int at = 4 if columns == RUN else 3
    cdef size_t n = stop[0] - start[0]
    cut.line[r] = cut.lines
    cut.query_start[r], cut.query_length[r] = start[0] - base, n
    if r > 0 and <size_t> cut.query_length[r - 1] == n and begins(start[0], base + cut.query_start[r - 1], n, end):
        cut.query_hash[r] = cut.query_hash[r - 1]
    else:
        cut.query_hash[r] = long_hash(start[0], n, end, cut.seed)
    cut.document_start[r], cut.document_length[r] = start[2] - base, stop[2] - start[2]
    cut.fate[r] = fold(start[2], stop[2] - start[2], end, cut.seed, &cut.document_hash[r], &cut.folded[r])
    cut.token_start[r], cut.token_length[r] = start[at] - base, stop[at] - start[at]
    cut.sound[r] = read_number(start[at], stop[at], end, &cut.value[r])
    if columns == RUN:
        read_number(start[3], stop[3], end, &cut.rank[r])
        cut.tag[r] = long_hash(start[5], stop[5] - start[5], end, cut.seed)
    cut.rows = r + 1
    return 0


cdef inline bint read_number(const uint8_t *p, const uint8_t *end, const uint8_t *limit, double *out) except -1 nogil:
    """Read a number in full; False, and NaN, where it is none."""
    cdef int outcome = number(p, end, limit, False, out)
    if outcome == NUMBER:
        return True
    if outcome == NOT_A_NUMBER or not ask_python(p, end, out):
        out[0] = NAN
        return False
    return True


cdef bint ask_python(const uint8_t *p, const uint8_t *end, double *out) except -1 with gil:
    """Python's own reading of a number that the quick way leaves open."""
    text = (<const char *> p)[: end - p]
    if b"_" in text:  # which Python allows, and no one else
        return False
    try:
        out[0] = float(text)
    except ValueError:
        return False
    return True
