;; Promise: bulk steps outside of a memory are traps, whole or not at all.
;; Known from: GHSA-2hw9.
(component
  (core module $m
    (memory 1)
    (data $d "0123456789")
    (func (export "fill") (memory.fill (i32.const 65000) (i32.const 1) (i32.const 1000)))
    (func (export "copy") (memory.copy (i32.const 0) (i32.const -8) (i32.const 16)))
    (func (export "init") (memory.init $d (i32.const 0) (i32.const 5) (i32.const 6)))
    (func (export "dropped")
      (data.drop $d)
      (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))))
  (core instance $i (instantiate $m))
  (func (export "fill") (canon lift (core func $i "fill")))
  (func (export "copy") (canon lift (core func $i "copy")))
  (func (export "init") (canon lift (core func $i "init")))
  (func (export "dropped") (canon lift (core func $i "dropped"))))
