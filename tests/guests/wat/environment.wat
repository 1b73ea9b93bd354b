;; Promise: without a grant there are no variables and no arguments.
;; Known from: wassette#261.
(component
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))
    (export "get-arguments" (func (result (list string))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $variables (canon lower (func $environment "get-environment")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core func $arguments (canon lower (func $environment "get-arguments")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "variables" (func $variables (param i32)))
    (import "host" "arguments" (func $arguments (param i32)))
    ;; How many there are of both.
    (func (export "run") (result i32)
      (call $variables (i32.const 0))
      (call $arguments (i32.const 8))
      (i32.add (i32.load (i32.const 4)) (i32.load (i32.const 12)))))
  (core instance $i (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "variables" (func $variables)) (export "arguments" (func $arguments))))))
  (func (export "run") (result u32) (canon lift (core func $i "run"))))
