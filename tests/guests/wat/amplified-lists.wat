;; Promise: lists that all lie at one place end at the bytes of a result.
(component
  (core module $m
    (memory (export "memory") 1)
    ;; A thousand entries each, which all name the next level.
    (func $level (param $at i32) (param $next i32) (local $n i32)
      (loop $again
        (i32.store (local.get $at) (local.get $next))
        (i32.store (i32.add (local.get $at) (i32.const 4)) (i32.const 1000))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $n) (i32.const 1000)))))
    (func (export "run") (result i32)
      (call $level (i32.const 8000) (i32.const 16000))
      (call $level (i32.const 16000) (i32.const 24000))
      (call $level (i32.const 24000) (i32.const 32000))
      (call $level (i32.const 0) (i32.const 8000))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result (list (list (list string)))) (canon lift (core func $i "run")
    (memory $i "memory"))))
