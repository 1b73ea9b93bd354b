;; Promise: text of 16 bits that one part gives another has to lie at an even place.
;; Known from: GHSA-jxhv.
(component
  (component $reader
    (core module $m
      (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
      (func (export "take") (param i32 i32)))
    (core instance $i (instantiate $m))
    (func (export "take") (param "text" string) (canon lift (core func $i "take")
      (memory $i "memory") (realloc (func $i "realloc")))))
  (instance $reader (instantiate $reader))
  (component $writer
    (import "take" (func $take (param "text" string)))
    (core module $libc (memory (export "memory") 1))
    (core instance $libc (instantiate $libc))
    (core func $take (canon lower (func $take) (memory $libc "memory") string-encoding=utf16))
    (core module $m
      (import "host" "take" (func $take (param i32 i32)))
      (func (export "run") (call $take (i32.const 9) (i32.const 4))))
    (core instance $i (instantiate $m (with "host" (instance (export "take" (func $take))))))
    (func (export "run") (canon lift (core func $i "run"))))
  (instance $writer (instantiate $writer (with "take" (func $reader "take"))))
  (export "run" (func $writer "run")))
