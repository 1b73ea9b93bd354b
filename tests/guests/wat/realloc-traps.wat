;; Promise: a trap while an argument is passed is a trap of the call.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
    (func (export "run") (param i32 i32)))
  (core instance $i (instantiate $m))
  (func (export "run") (param "text" string) (canon lift (core func $i "run")
    (memory $i "memory") (realloc (func $i "realloc")))))
