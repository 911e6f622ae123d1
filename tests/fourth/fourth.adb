--  SPDX-License-Identifier: MIT
--  Hashes by GNAT's library as often as it is told, and prints a part of the result.

with Ada.Command_Line;
with Ada.Text_IO;
with GNAT.SHA1;

procedure Fourth is
   Text : String (1 .. 65536) := (others => 'b');
begin
   for N in 1 .. Positive'Value (Ada.Command_Line.Argument (1)) loop
      Text (1 .. 40) := GNAT.SHA1.Digest (Text);
   end loop;
   Ada.Text_IO.Put_Line (Text (1 .. 8));
end Fourth;
