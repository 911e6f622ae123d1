/* SPDX-License-Identifier: MIT */
/* Parts of vectors, by the words of gcm/message.h, where a vector is one block; over load_part1,
 * store_part1 and first_bytes1, which do this for the first bytes of a block. */
#ifndef EVC_GCM_ONE_LANE_H
#define EVC_GCM_ONE_LANE_H

#define v_last(block) (block)
#define v_last_block(v) (v)
#define v_at(block, lane) ((lane) == 0 ? (block) : v_zero())

typedef size_t vec_part; /* how many bytes; none of a vector of which the text begins behind it */
#define v_part(from, to) ((from) ? 0 : (to))
#define v_load_part(i, p, part, at_page_end) load_part1(p, part)
#define v_store_part(i, p, part, at_page_end, v) store_part1(p, v, part)
#define v_keep_part(i, v, part) first_bytes1(v, part)

#endif
