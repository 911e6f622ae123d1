# SPDX-License-Identifier: MIT
# Counts words, and sorts them.
for {set n 0} {$n < 900000} {incr n} { incr count([expr {$n * 7919 % 10007}]) $n }
puts [lindex [lsort -integer [array names count]] end]
