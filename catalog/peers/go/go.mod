// SPDX-License-Identifier: MIT
module peer

go 1.21
