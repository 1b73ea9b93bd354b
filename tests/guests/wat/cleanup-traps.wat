;; Promise: a trap while cleaning up is a trap of the call, though it had a result.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "cleanup") (param i32) unreachable)
    (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $m))
  (func (export "run") (result string) (canon lift (core func $i "run")
    (memory $i "memory") (post-return (func $i "cleanup")))))
