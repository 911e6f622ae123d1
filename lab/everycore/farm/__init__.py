# SPDX-License-Identifier: MIT
"""Work that may run on any host: jobs, workers that do them, and runs that hand them out."""
