;; Calls each of its imports once.
(module
  (import "wasi:sockets/raw@0.2.3" "open" (func $open (result i32)))
  (import "wasi:http/outgoing-handler@0.2.3" "handle" (func $handle (param i32 i32 i32)))
  (import "wasi:unheard/thing@0.2.0" "use-it" (func $use))
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
  (func (export "hostile:forbidden-import/guest#run")
    (drop (call $open))
    (call $handle (i32.const 0) (i32.const 0) (i32.const 0))
    (call $use)))
