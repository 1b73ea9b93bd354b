;; Promise: random bytes that are no secret come in small amounts too.
;; Known from: GHSA-852m.
(component
  (import "wasi:random/insecure@0.2.0" (instance $random
    (export "get-insecure-random-bytes" (func (param "len" u64) (result (list u8))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $bytes (canon lower (func $random "get-insecure-random-bytes")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $m
    (import "host" "bytes" (func $bytes (param i64 i32)))
    (func (export "run") (call $bytes (i64.const -1) (i32.const 0))))
  (core instance $i (instantiate $m (with "host" (instance (export "bytes" (func $bytes))))))
  (func (export "run") (canon lift (core func $i "run"))))
