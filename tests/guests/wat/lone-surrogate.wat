;; Promise: half a character is no character.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "run") (result i32) (i32.const 0xd800)))
  (core instance $i (instantiate $m))
  (func (export "run") (result char) (canon lift (core func $i "run")
    (memory $i "memory"))))
