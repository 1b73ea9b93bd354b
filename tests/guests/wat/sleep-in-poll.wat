;; Promise: waiting for a list of events ends at the wall clock.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))
    (export "poll" (func (param "in" (list (borrow $p))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "pollable" (type $p (eq $pollable)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $drop (canon resource.drop $pollable))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $poll (canon lower (func $poll "poll")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core instance $host
    (export "poll" (func $poll))
    (export "subscribe" (func $subscribe))
    (export "drop" (func $drop)))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "drop" (func $drop (param i32)))
    (func (export "run")
      (i32.store (i32.const 0) (call $subscribe (i64.const 3600000000000)))
      (i32.store (i32.const 4) (call $subscribe (i64.const -1)))
      (call $poll (i32.const 0) (i32.const 2) (i32.const 64))))
  (core instance $i (instantiate $m (with "libc" (instance $libc)) (with "host" (instance $host))))
  (func (export "run") (canon lift (core func $i "run"))))
