(* SPDX-License-Identifier: MIT *)
(* Repeats one operation of Cryptokit as often as it is told, and prints a part of the result. *)

let () =
  let count = int_of_string Sys.argv.(2) in
  let text = ref (String.make 65536 'b') in
  for _ = 1 to count do
    let result =
      match Sys.argv.(1) with
      | "3des" -> Cryptokit.(transform_string (Cipher.triple_des ~mode:Cipher.CBC (String.init 16 Char.chr) Cipher.Encrypt) !text)
      | _ -> Cryptokit.(hash_string (Hash.sha512 ()) !text)
    in
    let length = String.length result in
    text := result ^ String.sub !text length (65536 - length)
  done;
  print_endline (String.escaped (String.sub !text 0 8))
