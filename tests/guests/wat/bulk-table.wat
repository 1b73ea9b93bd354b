;; Promise: bulk steps outside of a table are traps, whole or not at all.
;; Known from: GHSA-2hw9.
(component
  (core module $m
    (table $t 4 funcref)
    (elem $e func $f)
    (func $f)
    (func (export "fill") (table.fill $t (i32.const 3) (ref.null func) (i32.const 2)))
    (func (export "copy") (table.copy (i32.const 0) (i32.const -1) (i32.const 2)))
    (func (export "init") (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 2)))
    (func (export "get") (drop (table.get $t (i32.const 4)))))
  (core instance $i (instantiate $m))
  (func (export "fill") (canon lift (core func $i "fill")))
  (func (export "copy") (canon lift (core func $i "copy")))
  (func (export "init") (canon lift (core func $i "init")))
  (func (export "get") (canon lift (core func $i "get"))))
