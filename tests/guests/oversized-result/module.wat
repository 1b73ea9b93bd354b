;; Results that are too large, or lie where they must not.
(module
  (memory (export "memory") 1)
  ;; A result area at 0; its pointer and length are written by the functions.
  (func $room (param $length i32)
    (drop (memory.grow
      (i32.add (i32.const 1) (i32.shr_u (local.get $length) (i32.const 16))))))
  (func $area (param $at i32) (param $length i32) (result i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $length))
    (i32.const 0))
  (func $filled (param $length i32) (result i32)
    (call $room (local.get $length))
    (memory.fill (i32.const 16) (i32.const 97) (local.get $length))
    (call $area (i32.const 16) (local.get $length)))
  (func (export "hostile:oversized-result/guest#text") (param i32) (result i32)
    (call $filled (local.get 0)))
  (func (export "hostile:oversized-result/guest#bytes") (param i32) (result i32)
    (call $filled (local.get 0)))
  ;; Each text takes 8 bytes here, pointer and length both zero.
  (func (export "hostile:oversized-result/guest#texts") (param i32) (result i32)
    (call $room (i32.shl (local.get 0) (i32.const 3)))
    (call $area (i32.const 16) (local.get 0)))
  (func (export "hostile:oversized-result/guest#outside") (result i32)
    (call $area (i32.const 16) (i32.const 0x7fffffff)))
  (func (export "hostile:oversized-result/guest#not-text") (result i32)
    (i32.store8 (i32.const 16) (i32.const 0xff))
    (call $area (i32.const 16) (i32.const 1))))
