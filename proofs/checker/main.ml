(* Whether the matrix that `tempera exact MODEL --horizon T --power P --kernel KERNEL --json` printed
   is the kernel. The answer is kernel_check.ml's, extracted from proofs/cases/kernel_checker.v. This file
   is not verified: it reads JSON, decimal digits and the command line, and decides nothing. A
   mistake here would hand the checker another model or matrix than the one in the file. *)
open Kernel_check

exception Unreadable of string

(* JSON without what these files do not hold: numbers stay text, and only backslash and quote are escaped. *)
type json = Object of (string * json) list | List of json list | Text of string

let parse text =
  let at = ref 0 in
  let fail what = raise (Unreadable (Printf.sprintf "%s at byte %d" what !at)) in
  let peek () = if !at < String.length text then text.[!at] else fail "unexpected end" in
  let skip () = incr at in
  let blank c = c = ' ' || c = '\n' || c = '\t' || c = '\r' in
  let rec spaces () = if !at < String.length text && blank text.[!at] then (skip (); spaces ()) in
  let expect c = spaces (); if peek () = c then skip () else fail (Printf.sprintf "no '%c'" c) in
  let quoted () =
    expect '"';
    let read = Buffer.create 16 in
    let rec go () =
      match peek () with
      | '"' -> skip ()
      | '\\' ->
          skip ();
          (match peek () with
           | ('"' | '\\') as c -> Buffer.add_char read c
           | _ -> fail "an escape that is not read");
          skip (); go ()
      | c -> Buffer.add_char read c; skip (); go () in
    go (); Buffer.contents read in
  let rec items : 'a. char -> (unit -> 'a) -> 'a list = fun close item ->
    spaces ();
    if peek () = close then (skip (); [])
    else
      let rec more () =
        let first = item () in
        spaces ();
        match peek () with
        | ',' -> skip (); first :: more ()
        | c when c = close -> skip (); [ first ]
        | _ -> fail "no ','" in
      more ()
  and value () =
    spaces ();
    match peek () with
    | '{' -> skip (); Object (items '}' (fun () -> spaces (); let key = quoted () in expect ':'; (key, value ())))
    | '[' -> skip (); List (items ']' value)
    | '"' -> Text (quoted ())
    | _ ->
        let start = !at in
        let bare c = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c = '-' || c = '.' in
        while !at < String.length text && bare text.[!at] do skip () done;
        if !at = start then fail "no value";
        Text (String.sub text start (!at - start)) in
  let read = value () in
  spaces ();
  if !at < String.length text then fail "more after the end";
  read

let text = function Text t -> t | _ -> raise (Unreadable "no string where one is needed")
let list = function List l -> l | _ -> raise (Unreadable "no list where one is needed")
let pairs = function Object o -> o | _ -> raise (Unreadable "no object where one is needed")
let field key json =
  try List.assoc key (pairs json) with Not_found -> raise (Unreadable ("no \"" ^ key ^ "\""))

(* "3/8", "0.25", "-1" as a reduced fraction. *)
let rec positive n = if n = 1 then XH else if n mod 2 = 0 then XO (positive (n / 2)) else XI (positive (n / 2))
let small n = if n = 0 then Z0 else Zpos (positive n)
let integer digits =
  if digits = "" then raise (Unreadable "a number without digits");
  String.fold_left
    (fun read c ->
      if c < '0' || c > '9' then raise (Unreadable ("no number: " ^ digits));
      Z.add (Z.mul read (small 10)) (small (Char.code c - Char.code '0')))
    Z0 digits
let denominator = function Zpos p -> p | _ -> raise (Unreadable "a denominator that is not positive")
let rec fraction number =
  match String.index_opt number '/', String.index_opt number '.' with
  | _ when number <> "" && number.[0] = '-' ->
      let positive = String.sub number 1 (String.length number - 1) in
      let signed = function Zpos p -> Zneg p | z -> z in
      (match String.split_on_char '/' positive with
       | [ p; q ] -> frac (signed (integer p)) (denominator (integer q))
       | _ -> frac (signed (integer positive)) XH)
  | Some bar, _ ->
      frac (integer (String.sub number 0 bar))
        (denominator (integer (String.sub number (bar + 1) (String.length number - bar - 1))))
  | None, Some dot ->
      let decimals = String.length number - dot - 1 in
      frac (integer (String.sub number 0 dot ^ String.sub number (dot + 1) decimals))
        (denominator (integer ("1" ^ String.make decimals '0')))
  | None, None -> frac (integer number) XH

let rec nat n = if n <= 0 then O else S (nat (n - 1))

let words name = if name = "" then [] else String.split_on_char ' ' name

let index vocabulary token =
  let rec find i = function
    | [] -> raise (Unreadable ("unknown token " ^ token))
    | first :: rest -> if first = token then i else find (i + 1) rest in
  nat (find 0 vocabulary)

let model_of json =
  let vocabulary = List.map text (list (field "vocabulary" json)) in
  let terminal = List.map text (list (field "terminal" json)) in
  let row entries =
    List.map
      (fun token -> match List.assoc_opt token (pairs entries) with Some p -> fraction (text p) | None -> fraction "0")
      vocabulary in
  let optional key empty = try field key json with Unreadable _ -> empty in
  ( vocabulary,
    { width = nat (List.length vocabulary);
      ends = List.map (fun token -> List.mem token terminal) vocabulary;
      listed_rows =
        List.map
          (fun (prefix, entries) -> (List.map (index vocabulary) (words prefix), row entries))
          (pairs (optional "next" (Object [])));
      default_row = row (optional "default" (Object [])) } )

let contents channel =
  let read = Buffer.create 65536 in
  (try while true do Buffer.add_channel read channel 1 done with End_of_file -> ());
  Buffer.contents read

let check kernel model_file horizon power restart =
  let vocabulary, model = model_of (parse (contents (open_in_bin model_file))) in
  let report = parse (contents stdin) in
  let names =
    List.map (fun name -> List.map (index vocabulary) (words (text name))) (list (field "states" report)) in
  let matrix =
    List.map (fun row -> List.map (fun p -> fraction (text p)) (list row)) (list (field "matrix" report)) in
  let horizon' = nat horizon and power' = nat power in
  match kernel with
  | "fixed" -> check_fixed model horizon' power' restart names matrix
  | "truncating" -> check_truncating model horizon' power' names matrix
  | _ -> raise (Unreadable ("unknown kernel " ^ kernel))

let () =
  try
    let whole text =
      match int_of_string_opt text with
      | Some n when n >= 1 -> n
      | _ -> raise (Unreadable (text ^ " is not a whole number from 1 on")) in
    let answer =
      match Array.to_list Sys.argv with
      | [ _; kernel; model; horizon; power ] ->
          let t = whole horizon in
          check kernel model t (whole power) (List.init t (fun _ -> fraction ("1/" ^ string_of_int t)))
      | [ _; kernel; model; horizon; power; restart ] ->
          check kernel model (whole horizon) (whole power)
            (List.map fraction (String.split_on_char ',' restart))
      | _ ->
          raise (Unreadable "usage: kernel_checker fixed|truncating MODEL HORIZON POWER [W1,W2,...] <EXACT.json") in
    print_endline (if answer then "the matrix is the kernel" else "the matrix is not the kernel");
    exit (if answer then 0 else 1)
  with
  | Unreadable what | Sys_error what -> prerr_endline ("kernel_checker: " ^ what); exit 2
