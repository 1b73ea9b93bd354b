;; Promise: waiting while an instance is made ends at the wall clock.
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
  (core instance $host
    (export "block" (func $block))
    (export "subscribe" (func $subscribe))
    (export "drop" (func $drop)))
  (core module $m
    (import "host" "block" (func $block (param i32)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "drop" (func $drop (param i32)))
    (func $start (call $block (call $subscribe (i64.const 3600000000000))))
    (start $start)
    (func (export "run")))
  (core instance $i (instantiate $m (with "host" (instance $host))))
  (func (export "run") (canon lift (core func $i "run"))))
