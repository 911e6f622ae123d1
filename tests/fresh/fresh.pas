{ SPDX-License-Identifier: MIT }
{ Repeats one hash of Free Pascal's library as often as it is told, and prints it. }
program fresh;
uses sysutils, sha1, md5;
var
  text: array[0..65535] of byte;
  n: longint;
  sum: TSHA1Digest;
  other: TMDDigest;
begin
  fillchar(text, sizeof(text), 0);
  for n := 1 to strtoint(paramstr(2)) do
    if paramstr(1) = 'sha1' then begin
      sum := SHA1Buffer(text, sizeof(text));
      move(sum, text, sizeof(sum));
    end else begin
      other := MDBuffer(text, sizeof(text), MD_VERSION_4);
      move(other, text, sizeof(other));
    end;
  for n := 0 to 15 do write(hexstr(text[n], 2));
  writeln;
end.
