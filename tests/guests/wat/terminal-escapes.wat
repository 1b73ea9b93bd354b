;; Promise: a megabyte of terminal escapes before a panic ends at the bytes of the log.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "error" (type $e (eq $error-type)))
    (export "pollable" (type $p (eq $pollable)))
    (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $failed (eq $failure)))
    (export "output-stream" (type $out (sub resource)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $out)) (param "contents" (list u8)) (result (result (error $failed)))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stderr@0.2.0" (instance $stderr
    (export "output-stream" (type $out (eq $output-stream)))
    (export "get-stderr" (func (result (own $out))))))
  (core func $get (canon lower (func $stderr "get-stderr")))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "get" (func $get (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (data (i32.const 4096) "\1b[2J\1b[H\1b]0;owned\07\1b[31m")
    (func (export "run") (local $to i32) (local $n i32)
      (local.set $to (call $get))
      (loop $again
        (call $write (local.get $to) (i32.const 4096) (i32.const 24) (i32.const 0))
        (local.set $n (i32.add (local.get $n) (i32.const 24)))
        (br_if $again (i32.lt_u (local.get $n) (i32.const 0x100000))))
      unreachable))
  (core instance $i (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "get" (func $get)) (export "write" (func $write))))))
  (func (export "run") (canon lift (core func $i "run"))))
