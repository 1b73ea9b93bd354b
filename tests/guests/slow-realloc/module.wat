;; Loops while the host asks for room for an argument.
(module
  (memory (export "memory") 1)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (loop $again (br $again))
    unreachable)
  (func (export "hostile:slow-realloc/guest#echo") (param i32 i32) (result i32)
    unreachable))
