;; Recurses on the real stack; there is no shadow stack in memory that could end first.
(module
  (memory (export "memory") 1)
  (func $down (param i64) (result i64)
    (i64.add (call $down (i64.add (local.get 0) (i64.const 1))) (local.get 0)))
  (func (export "hostile:recursion/guest#run")
    (drop (call $down (i64.const 0)))))
