;; One export for each way to stop abnormally.
(module
  (type $f (func))
  (memory (export "memory") 1)
  (table 1 funcref)
  (func (export "hostile:traps/guest#unreachable") unreachable)
  (func (export "hostile:traps/guest#division")
    (drop (i32.div_u (i32.const 1) (i32.const 0))))
  (func (export "hostile:traps/guest#out-of-bounds")
    (drop (i32.load (i32.const 0x7ffffff0))))
  (func (export "hostile:traps/guest#indirect")
    (call_indirect (type $f) (i32.const 0))))
