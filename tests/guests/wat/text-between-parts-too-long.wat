;; Promise: a length that overflows when it is converted is a trap.
;; Known from: GHSA-394w.
(component
  (component $reader
    (core module $m
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
      (func (export "take") (param i32 i32)))
    (core instance $i (instantiate $m))
    (func (export "take") (param "text" string) (canon lift (core func $i "take")
      (memory $i "memory") (realloc (func $i "realloc")) string-encoding=latin1+utf16)))
  (instance $reader (instantiate $reader))
  (component $writer
    (import "take" (func $take (param "text" string)))
    (core module $libc (memory (export "memory") 1))
    (core instance $libc (instantiate $libc))
    (core func $take (canon lower (func $take) (memory $libc "memory") string-encoding=utf16))
    (core module $m
      (import "host" "take" (func $take (param i32 i32)))
      (func (export "run") (call $take (i32.const 0) (i32.const 0x7fffffff))))
    (core instance $i (instantiate $m (with "host" (instance (export "take" (func $take))))))
    (func (export "run") (canon lift (core func $i "run"))))
  (instance $writer (instantiate $writer (with "take" (func $reader "take"))))
  (export "run" (func $writer "run")))
