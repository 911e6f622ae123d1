# SPDX-License-Identifier: MIT
"""Write a PDF of one page with a stream of 120 MB that does not compress: pdf.py FILE"""

import os
import pathlib
import sys

stream = os.urandom(1 << 20) * 120
objects = [
    b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
    b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream),
]
written, places = b"%PDF-1.4\n", []
for number, one in enumerate(objects, 1):
    places.append(len(written))
    written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
table = b"".join(b"%010d 00000 n \n" % place for place in places)
written += b"xref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (table, len(written))
pathlib.Path(sys.argv[1]).write_bytes(written)
