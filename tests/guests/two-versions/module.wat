;; One interface in two versions, as a component has that serves callers old and new.
(module
  (memory (export "memory") 1)
  (func (export "acme:ledger/book@0.1.0#total") (result i32) (i32.const 12))
  (func (export "acme:ledger/book@0.2.0#total") (result i64) (i64.const 1234))
  (func (export "acme:ledger/book@0.2.0#close") (result i32) (i32.const 1)))
