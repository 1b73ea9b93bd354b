;; Promise: there is nothing to read, however much is asked for.
;; Known from: GHSA-852m.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "error" (type $e (eq $error-type)))
    (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $failed (eq $failure)))
    (export "input-stream" (type $in (sub resource)))
    (export "[method]input-stream.blocking-read"
      (func (param "self" (borrow $in)) (param "len" u64) (result (result (list u8) (error $failed)))))))
  (alias export $streams "input-stream" (type $input-stream))
  (import "wasi:cli/stdin@0.2.0" (instance $stdin
    (export "input-stream" (type $in (eq $input-stream)))
    (export "get-stdin" (func (result (own $in))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $get (canon lower (func $stdin "get-stdin")))
  (core func $read (canon lower (func $streams "[method]input-stream.blocking-read")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "get" (func $get (result i32)))
    (import "host" "read" (func $read (param i32 i64 i32)))
    ;; The bytes that were read, or 1,000 and the case of the error.
    (func (export "run") (result i32)
      (call $read (call $get) (i64.const -1) (i32.const 0))
      (if (result i32) (i32.load8_u (i32.const 0))
        (then (i32.add (i32.const 1000) (i32.load8_u (i32.const 4))))
        (else (i32.load (i32.const 8))))))
  (core instance $i (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "get" (func $get)) (export "read" (func $read))))))
  (func (export "run") (result u32) (canon lift (core func $i "run"))))
