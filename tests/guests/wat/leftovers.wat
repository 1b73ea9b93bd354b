;; Promise: nothing of a call is there for the next one: no memory, no globals, no tables.
;; Known from: GHSA-6wgr.
(component
  (core module $m
    (type $f (func))
    (memory 1)
    (table $t 8 funcref)
    (global $g (mut i32) (i32.const 0))
    (elem declare func $mark)
    (func $mark (export "mark")
      (drop (memory.grow (i32.const 15)))
      (memory.fill (i32.const 0) (i32.const 0x5a) (i32.const 0x100000))
      (drop (table.grow $t (ref.null func) (i32.const 56)))
      (table.fill $t (i32.const 0) (ref.func $mark) (i32.const 64))
      (global.set $g (i32.const 1))
      unreachable)
    ;; How many words and elements are not as they were made.
    (func (export "look") (result i32) (local $at i32) (local $found i32)
      (drop (memory.grow (i32.const 15)))
      (loop $words
        (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
          (then (local.set $found (i32.add (local.get $found) (i32.const 1)))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $words (i32.lt_u (local.get $at) (i32.const 0x100000))))
      (drop (table.grow $t (ref.null func) (i32.const 56)))
      (local.set $at (i32.const 0))
      (loop $elements
        (if (i32.eqz (ref.is_null (table.get $t (local.get $at))))
          (then (local.set $found (i32.add (local.get $found) (i32.const 1)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $elements (i32.lt_u (local.get $at) (i32.const 64))))
      (i32.add (local.get $found) (global.get $g))))
  (core instance $i (instantiate $m))
  (func (export "mark") (canon lift (core func $i "mark")))
  (func (export "look") (result u32) (canon lift (core func $i "look"))))
