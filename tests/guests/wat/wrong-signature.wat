;; Promise: an indirect call of another type is a trap.
(component
  (core module $m
    (type $f (func (param i64) (result i64)))
    (table 1 funcref)
    (elem (i32.const 0) func $run)
    (func $run (export "run")
      (drop (call_indirect (type $f) (i64.const 0) (i32.const 0)))))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
