;; Promise: arithmetic without a result is a trap with its name.
(component
  (core module $m
    (func (export "division") (param i32) (drop (i32.div_s (i32.const 1) (local.get 0))))
    (func (export "overflow") (param i32)
      (drop (i32.div_s (i32.const 0x80000000) (i32.sub (local.get 0) (i32.const 1)))))
    (func (export "conversion") (param i32)
      (drop (i32.trunc_f64_s (f64.div (f64.const 0) (f64.convert_i32_s (local.get 0)))))))
  (core instance $i (instantiate $m))
  (func (export "division") (param "zero" s32) (canon lift (core func $i "division")))
  (func (export "overflow") (param "zero" s32) (canon lift (core func $i "overflow")))
  (func (export "conversion") (param "zero" s32) (canon lift (core func $i "conversion"))))
