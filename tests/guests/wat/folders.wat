;; Promise: without a grant there are no folders.
(component
  (import "wasi:filesystem/types@0.2.0" (instance $types
    (export "descriptor" (type (sub resource)))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (export "descriptor" (type $d (eq $descriptor)))
    (export "get-directories" (func (result (list (tuple (own $d) string)))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096)))
  (core instance $libc (instantiate $libc))
  (core func $folders (canon lower (func $preopens "get-directories")
    (memory $libc "memory") (realloc (func $libc "realloc"))))
  (core module $m
    (import "libc" "memory" (memory 1))
    (import "host" "folders" (func $folders (param i32)))
    ;; How many there are.
    (func (export "run") (result i32)
      (call $folders (i32.const 0))
      (i32.load (i32.const 4))))
  (core instance $i (instantiate $m
    (with "libc" (instance $libc))
    (with "host" (instance (export "folders" (func $folders))))))
  (func (export "run") (result u32) (canon lift (core func $i "run"))))
