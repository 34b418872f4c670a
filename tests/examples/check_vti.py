"""Whether a .vti file is well-formed XML around its numbers. Takes: FILE, NXxNYxNZ."""
import struct
import sys
import xml.etree.ElementTree as tree

data = open(sys.argv[1], "rb").read()
size = [int(n) for n in sys.argv[2].split("x")]
head, rest = data.split(b'<AppendedData encoding="raw">', 1)
start = rest.index(b"_") + 1
assert rest[: start - 1].strip() == b"", "there is text before the underscore"
(count,) = struct.unpack_from("=Q", rest, start)
assert count == 8 * size[0] * size[1] * size[2], count
end = rest[start + 8 + count :]
root = tree.fromstring(head + b'<AppendedData encoding="raw">' + end)
assert root.tag == "VTKFile" and [child.tag for child in root] == ["ImageData", "AppendedData"]
path = "ImageData/Piece/PointData/DataArray"
assert len(root.findall(path)) == 1 and root.find(path).get("format") == "appended"
values = struct.unpack_from("=%dd" % (count // 8), rest, start + 8)
assert max(values) > 0 and min(values) >= 0, (min(values), max(values))
