# SPDX-License-Identifier: MIT
"""Option ROMs and EFI images: what they hold, which rules they break, and how to change them."""
