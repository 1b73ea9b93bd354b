;; Promise: memory is counted over all memories of a component.
(component
  (core module $part
    (memory 1)
    (func (export "grow") (result i32) (memory.grow (i32.const 16))))
  (core instance $a (instantiate $part))
  (core instance $b (instantiate $part))
  (core instance $c (instantiate $part))
  (core module $m
    (import "a" "grow" (func $a (result i32)))
    (import "b" "grow" (func $b (result i32)))
    (import "c" "grow" (func $c (result i32)))
    (func (export "run")
      (loop $again
        (br_if $again (i32.and (i32.ne (call $a) (i32.const -1)) (i32.and
          (i32.ne (call $b) (i32.const -1)) (i32.ne (call $c) (i32.const -1))))))
      unreachable))
  (core instance $i (instantiate $m
    (with "a" (instance $a)) (with "b" (instance $b)) (with "c" (instance $c))))
  (func (export "run") (canon lift (core func $i "run"))))
