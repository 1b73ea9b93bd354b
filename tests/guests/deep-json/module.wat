;; JSON that is too deep to be read by recursion, and JSON that is none.
(module
  (memory (export "memory") 64)
  (func $area (param $length i32) (result i32)
    (i32.store (i32.const 0) (i32.const 16))
    (i32.store (i32.const 4) (local.get $length))
    (i32.const 0))
  (func (export "hostile:deep-json/guest#deep") (param $depth i32) (result i32)
    (memory.fill (i32.const 16) (i32.const 0x5b) (local.get $depth))
    (memory.fill (i32.add (i32.const 16) (local.get $depth)) (i32.const 0x5d) (local.get $depth))
    (call $area (i32.shl (local.get $depth) (i32.const 1))))
  (func (export "hostile:deep-json/guest#broken") (result i32)
    (i32.store8 (i32.const 16) (i32.const 0x7b))
    (call $area (i32.const 1))))
