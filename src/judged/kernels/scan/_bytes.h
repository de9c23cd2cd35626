/* Bytes of text, eight at a time, without one CPU's intrinsics: the end of a token, its hash, its number.

   Nothing here reads at or beyond `limit`, the end of the buffer; nothing here writes. */

#ifndef JUDGED_BYTES_H
#define JUDGED_BYTES_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
static inline int judged_trailing_zeros(uint64_t x) {
    unsigned long i;
    _BitScanForward64(&i, x);
    return (int)i;
}
#define judged_prefetch(p) ((void)(p))
#else
#define judged_trailing_zeros(x) __builtin_ctzll(x)
#define judged_prefetch(p) __builtin_prefetch(p)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define JUDGED_LITTLE_ENDIAN 0
#else
#define JUDGED_LITTLE_ENDIAN 1
#endif

#define JUDGED_ONES 0x0101010101010101ull
#define JUDGED_TOPS 0x8080808080808080ull

static inline uint64_t judged_load(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

/* White space is what C's isspace accepts in the "C" locale. */
static inline int judged_is_space(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13); }

/* The first white space at or after `p`, or `limit`. */
static inline const uint8_t *judged_token_end(const uint8_t *p, const uint8_t *limit) {
#if JUDGED_LITTLE_ENDIAN
    while (limit - p >= 8) {
        uint64_t word = judged_load(p);
        /* The lowest flag marks the first byte below 0x21; higher flags may be borrowed, so are not trusted. */
        uint64_t low = (word - JUDGED_ONES * 0x21) & ~word & JUDGED_TOPS;
        if (!low) {
            p += 8;
            continue;
        }
        p += judged_trailing_zeros(low) >> 3;
        if (judged_is_space(*p)) return p;
        p++; /* a control character that is not white space: part of the token */
    }
#endif
    while (p < limit && !judged_is_space(*p)) p++;
    return p;
}

/* The first byte at or after `p` that is not white space, or a line feed, or `limit`. */
static inline const uint8_t *judged_next_token(const uint8_t *p, const uint8_t *limit) {
    if (limit - p > 1 && *p == ' ' && p[1] > ' ') return p + 1; /* one space, as nearly always */
    while (p < limit && *p != '\n' && judged_is_space(*p)) p++;
    return p;
}

/* The places of the first six bytes from `p` that are white space or control characters, if they end six tokens
   as nearly all lines have them: one space between, a line feed at the end. Returns 0 for any other line. */
static inline int judged_plain_line(const uint8_t *p, const uint8_t *limit, const uint8_t *cut[6]) {
#if JUDGED_LITTLE_ENDIAN
    int found = 0;
    for (const uint8_t *at = p; limit - at >= 8; at += 8) {
        uint64_t word = judged_load(at);
        uint64_t low = ~(((word & ~JUDGED_TOPS) + JUDGED_ONES * 0x5f) | word) & JUDGED_TOPS; /* exact, byte by byte */
        for (; low; low &= low - 1) {
            cut[found] = at + (judged_trailing_zeros(low) >> 3);
            if (++found == 6)
                return *cut[0] == ' ' && *cut[1] == ' ' && *cut[2] == ' ' && *cut[3] == ' ' && *cut[4] == ' ' &&
                       *cut[5] == '\n' && *p != '#' && cut[0] > p && cut[1] - cut[0] > 1 && cut[2] - cut[1] > 1 &&
                       cut[3] - cut[2] > 1 && cut[4] - cut[3] > 1 && cut[5] - cut[4] > 1;
        }
    }
#endif
    return 0;
}

static inline uint64_t judged_mix(uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    h ^= h >> 32;
    return h;
}

/* A hash of `n` bytes; equal bytes give equal hashes wherever in whichever buffer they lie. Nobody who does not know
   the seed can make many ids of one hash. */
static inline uint32_t judged_hash(const uint8_t *p, size_t n, const uint8_t *limit, uint64_t seed) {
    uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ull), word;
    if (n >= 8) {
        const uint8_t *last = p + n - 8;
        for (; p < last; p += 8) h = judged_mix(h ^ judged_load(p)) * 0xff51afd7ed558ccdull;
        word = judged_load(last);
    } else if (JUDGED_LITTLE_ENDIAN && n && limit - p >= 8) {
        word = judged_load(p) & (~0ull >> (64 - 8 * n));
    } else {
        word = 0;
        memcpy(&word, p, n);
    }
    h = judged_mix(h ^ word);
    return (uint32_t)(h ^ (h >> 29));
}

/* Order of ids: bytewise, a prefix before what it begins. */
static inline int judged_compare(const uint8_t *a, size_t m, const uint8_t *b, size_t n) {
    int order = memcmp(a, b, m < n ? m : n);
    if (order) return order;
    return m < n ? -1 : m > n;
}

/* Do the bytes from `p` begin with the `n` bytes at `q`? Both buffers end at or before `limit`. */
static inline int judged_begins(const uint8_t *p, const uint8_t *q, size_t n, const uint8_t *limit) {
    if ((size_t)(limit - p) < n) return 0;
    if (JUDGED_LITTLE_ENDIAN && n && n <= 8 && limit - p >= 8 && limit - q >= 8)
        return ((judged_load(p) ^ judged_load(q)) << (64 - 8 * n)) == 0;
    return memcmp(p, q, n) == 0;
}

static inline int judged_equal(const uint8_t *a, size_t m, const uint8_t *b, size_t n) {
    return m == n && memcmp(a, b, n) == 0;
}

static const double judged_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The number that eight digits in a word are, the first in its lowest byte; or no digits: a number above any such. */
static inline uint64_t judged_eight_digits(uint64_t word) {
    if (((word & 0xf0f0f0f0f0f0f0f0ull) | (((word + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull) >> 4)) !=
        0x3333333333333333ull)
        return ~0ull;
    word -= 0x3030303030303030ull;
    word = word * 10 + (word >> 8); /* pairs of digits in every second byte */
    return (((word & 0x000000ff000000ffull) * 0x000f424000000064ull) +
            (((word >> 16) & 0x000000ff000000ffull) * 0x0000271000000001ull)) >>
           32;
}

enum { JUDGED_NUMBER, JUDGED_NOT_A_NUMBER, JUDGED_ASK_PYTHON };
enum { JUDGED_LONGEST_NUMBER = 64 }; /* bytes of a number that is read here, so that no count can overflow */

/* The value of a decimal such as `12.345678`, as most scores are written: up to seven digits, a point, and up to
   eight digits. Returns 0, and leaves `out` alone, where the token is anything else. */
static inline int judged_short_decimal(const uint8_t *p, const uint8_t *end, const uint8_t *limit, double *out) {
    const uint8_t *first = p;
    uint64_t whole = 0, part;
    if (!JUDGED_LITTLE_ENDIAN || limit - end < 8) return 0; /* so that eight bytes can be loaded anywhere */
    while (p < end && (uint8_t)(*p - '0') < 10) whole = whole * 10 + (uint8_t)(*p++ - '0');
    size_t fraction = (size_t)(end - p) - 1;
    if (p == first || p - first > 7 || p == end || *p != '.' || fraction - 1 > 7) return 0;
    part = judged_load(p + 1) << (64 - 8 * fraction); /* the digits in the highest bytes, */
    part |= fraction < 8 ? 0x3030303030303030ull >> (8 * fraction) : 0; /* zeros before them */
    part = judged_eight_digits(part);
    if (part == ~0ull) return 0;
    *out = (double)(int64_t)(whole * (uint64_t)judged_tens[fraction] + part) / judged_tens[fraction];
    return 1;
}

/* Is `near`, within two units of its last place, certain to round to the same float32 as the true value? */
static inline int judged_rounds_alike(double near) {
    uint64_t bits;
    memcpy(&bits, &near, 8);
    uint64_t exponent = (bits >> 52) & 0x7ff;
    uint64_t tail = bits & 0x1fffffff; /* what float32 drops of a normal number */
    if (exponent < 1023 - 126 || exponent > 1023 + 126) return 0;
    return tail < 0x0ffffffd || tail > 0x10000003;
}

/* The number written from `p` to `end`, rounded to double as IEEE demands; or, where `single` is set, a double
   that is certain to become the right float32. Plain decimals of up to 19 digits are settled here; anything that is
   longer, has an exponent, or lies too near a border of rounding is left to Python. */
static inline int judged_number(const uint8_t *p, const uint8_t *end, const uint8_t *limit, int single, double *out) {
    if (end - p > JUDGED_LONGEST_NUMBER) return JUDGED_ASK_PYTHON;
    if (judged_short_decimal(p, end, limit, out)) return JUDGED_NUMBER;
    uint64_t digits = 0;
    int count = 0, fraction = 0, negative = 0, seen = 0;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    while (p < end && (uint8_t)(*p - '0') < 10) {
        count += digits != 0 || *p != '0'; /* leading zeros are not digits of the number */
        digits = digits * 10 + (uint8_t)(*p++ - '0');
        seen = 1;
    }
    if (p < end && *p == '.') {
        const uint8_t *point = ++p;
        while (p < end && (uint8_t)(*p - '0') < 10) {
            count += digits != 0 || *p != '0';
            digits = digits * 10 + (uint8_t)(*p++ - '0');
        }
        fraction = (int)(p - point);
        seen |= fraction > 0;
    }
    if (p != end) return JUDGED_ASK_PYTHON; /* an exponent, `inf`, `nan`, or no number at all */
    if (!seen) return JUDGED_NOT_A_NUMBER;
    if (count > 19 || fraction > 22) return JUDGED_ASK_PYTHON;
    if (digits >> 53) {
        if (single) {
            double near = (double)digits / judged_tens[fraction];
            if (!judged_rounds_alike(near)) return JUDGED_ASK_PYTHON;
            *out = negative ? -near : near;
            return JUDGED_NUMBER;
        }
#if LDBL_MANT_DIG == 64
        long double wide = (long double)digits / (long double)judged_tens[fraction];
        uint64_t mantissa;
        memcpy(&mantissa, &wide, 8);
        uint64_t tail = mantissa & 0x7ff; /* what double drops: halfway is 0x400, and `wide` may be one off */
        if (tail >= 0x3ff && tail <= 0x401) return JUDGED_ASK_PYTHON;
        *out = negative ? -(double)wide : (double)wide;
        return JUDGED_NUMBER;
#else
        return JUDGED_ASK_PYTHON;
#endif
    }
    *out = (double)digits / judged_tens[fraction]; /* both exact, so one correctly rounded division */
    if (negative) *out = -*out;
    return JUDGED_NUMBER;
}

#endif
