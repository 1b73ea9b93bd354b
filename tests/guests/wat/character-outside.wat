;; Promise: numbers above the last character are no characters.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 0x110000)))
  (core instance $i (instantiate $m))
  (func (export "run") (result char) (canon lift (core func $i "run")
    (memory $i "memory"))))
