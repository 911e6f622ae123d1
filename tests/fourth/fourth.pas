{ SPDX-License-Identifier: MIT }
{ Encrypts by Free Pascal's BlowFish as often as it is told, and prints a part of the result. }
program fourth;

{$mode objfpc}

uses BlowFish, SysUtils;

var
    key: TBlowFishKey;
    block: TBFBlock;
    cipher: TBlowFish;
    n: Int64;
begin
    FillChar(key, SizeOf(key), 7);
    block[0] := 1;
    block[1] := 2;
    cipher := TBlowFish.Create(key, 16);
    for n := 1 to StrToInt64(ParamStr(1)) do
        cipher.Encrypt(block);
    WriteLn(IntToHex(block[0], 8));
    cipher.Free;
end.
