;; Promise: a handle of one kind is none of another.
;; Known from: GHSA-hgjw.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))
    (export "poll" (func (param "in" (list (borrow $p))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (export "pollable" (type $p (eq $pollable)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
  (type $r (resource (rep i32)))
  (core func $new (canon resource.new $r))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core module $m
    (import "host" "new" (func $new (param i32) (result i32)))
    (import "host" "block" (func $block (param i32)))
    (func (export "run") (call $block (call $new (i32.const 7)))))
  (core instance $i (instantiate $m (with "host" (instance
    (export "new" (func $new)) (export "block" (func $block))))))
  (func (export "run") (canon lift (core func $i "run"))))
