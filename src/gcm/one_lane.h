/* SPDX-License-Identifier: MIT */
/* The words of gcm/tail.h for lanes, where a vector is one block. */
#ifndef EVC_GCM_ONE_LANE_H
#define EVC_GCM_ONE_LANE_H

#define v_last(block) (block)
#define v_last_block(v) (v)
#define v_at(block, lane) ((lane) == 0 ? (block) : v_zero())

#endif
