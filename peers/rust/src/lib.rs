// SPDX-License-Identifier: MIT
//! One crate as a peer, by the feature that is chosen.

mod peer;

#[cfg(feature = "aws-lc")]
mod aws_lc;
