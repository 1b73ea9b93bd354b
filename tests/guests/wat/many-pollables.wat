;; Promise: events that are never dropped end at the handles.
;; Known from: GHSA-852m.
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
    (func (export "run") (local $n i32)
      (loop $again
        (drop (call $subscribe (i64.const 3600000000000)))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $n) (i32.const 1000000))))))
  (core instance $i (instantiate $m (with "host" (instance $host))))
  (func (export "run") (canon lift (core func $i "run"))))
