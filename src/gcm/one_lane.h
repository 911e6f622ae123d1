/* SPDX-License-Identifier: MIT */
/* Parts of vectors, by the words of gcm/message.h, where a vector is one block; over load_part1, store_part1 and
 * first_bytes1, which do this for the first bytes of a block. */
#ifndef EVC_GCM_ONE_LANE_H
#define EVC_GCM_ONE_LANE_H

#define v_last(block) (block)
#define v_last_block(v) (v)
#define v_at(block, lane) ((lane) == 0 ? (block) : v_zero())
#define v_load_end(p, n_bytes) load_part1(p, n_bytes)
#define v_store_end(p, n_bytes, v) store_part1(p, v, n_bytes)
#define v_keep_end(v, n_bytes) first_bytes1(v, n_bytes)
#define v_load_front(p, empty) ((empty) ? v_zero() : v_load(p))
#define v_store_front(p, empty, v) ((empty) ? (void)0 : v_store(p, v))
#define v_keep_front(v, empty) ((empty) ? v_zero() : (v))
#define v_load_both(p, empty, n_bytes) ((void)(empty), load_part1(p, n_bytes))
#define v_store_both(p, empty, n_bytes, v) ((void)(empty), store_part1(p, v, n_bytes))
#define v_keep_both(v, empty, n_bytes) ((void)(empty), first_bytes1(v, n_bytes))

#endif
