# SPDX-License-Identifier: MIT
"""Write inputs of programs: inputs.py FOLDER"""

import pathlib
import random
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
(folder / "words").write_text("".join(f"wordword{n}\n" for n in range(2200)))
(folder / "big.sh").write_text("#!/bin/sh\n" + "".join(
    f'f{n}() {{ if [ $1 -gt {n} ]; then echo "$1 $2" | sed s/{n}/x/; else for w in $*; do echo $w; done; fi; }}\n'
    for n in range(250)))
(folder / "big.js").write_text("".join(
    f"export function f{n}(first, second) {{ const total = first * {n} + second; if (total > {n}) {{ return [total, "
    f"'text {n}'].map((one) => one + {n % 7}); }} return {{first, second, total}}; }}\n" for n in range(60000)))
names = [f"x{n}" for n in range(900)]
(folder / "a.lp").write_text("Maximize\n o: " + " + ".join(f"{n * 7919 % 97 + 1} {name}" for n, name in enumerate(names))
    + "\nSubject To\n" + "".join(f" c{row}: " + " + ".join(
        f"{(n * 31 + row * 17) % 23 + 1} {name}" for n, name in enumerate(names)) + f" <= {row * 13 + 3000}\n"
        for row in range(900)) + "End\n")
pixels = bytes((x * y >> shift) + (x * 7919 % 31) & 255 for y in range(500) for x in range(700) for shift in (3, 5, 7))
(folder / "picture.ppm").write_bytes(b"P6\n700 500\n255\n" + pixels)
(folder / "image.its").write_text("""/dts-v1/;
/ { description = "image"; images { kernel { description = "kernel"; data = /incbin/("../large"); type = "kernel";
arch = "x86_64"; os = "linux"; compression = "none"; load = <0>; entry = <0>;
hash-1 { algo = "sha256"; }; hash-2 { algo = "md5"; }; }; };
configurations { default = "one"; one { kernel = "kernel"; }; }; };
""")
noise = random.Random(1)
(folder / "photo.ppm").write_bytes(b"P6\n5000 5000\n255\n" + noise.randbytes(75000000))
objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
           b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << >> >>",
           b"<< /Length 60000000 >>\nstream\n" + noise.randbytes(60000000) + b"\nendstream"]
text, places = b"%PDF-1.7\n", []
for number, one in enumerate(objects, 1):
    places.append(len(text))
    text += b"%d 0 obj\n" % number + one + b"\nendobj\n"
table = b"".join(b"%010d 00000 n \n" % place for place in places)
(folder / "plain.pdf").write_bytes(text + b"xref\n0 5\n0000000000 65535 f \n" + table
    + b"trailer\n<< /Size 5 /Root 1 0 R /Other 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(text))
(folder / "scene.pov").write_text("camera { location <0, 2, -9> look_at 0 }\nlight_source { <9, 9, -9> color rgb 1 }\n"
    + "".join(f"sphere {{ <{n % 9 - 4}, {n % 5 - 2}, {n % 7}>, 0.6 texture {{ pigment {{ color rgb <0.{n % 10}, 0.5, 1> }} "
              f"finish {{ reflection 0.5 phong 1 }} }} }}\n" for n in range(90)))
