;; Promise: recursion through a table ends at the stack.
(component
  (core module $m
    (type $f (func))
    (table 1 funcref)
    (elem (i32.const 0) func $run)
    (func $run (export "run")
      (call_indirect (type $f) (i32.const 0))
      (call_indirect (type $f) (i32.const 0))))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
