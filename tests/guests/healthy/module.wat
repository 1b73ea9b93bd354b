;; The call that must go on working after every other guest here.
(module
  (memory (export "memory") 1)
  (func (export "hostile:healthy/guest#double") (param i32) (result i32)
    (i32.shl (local.get 0) (i32.const 1))))
