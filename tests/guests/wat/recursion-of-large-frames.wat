;; Promise: recursion whose frames are large ends at the stack, and never beyond its guard.
(component
  (core module $m
    (func $run (export "run") (call $many
      (i64.const 0) (i64.const 1) (i64.const 2) (i64.const 3)
      (i64.const 8) (i64.const 9) (i64.const 10) (i64.const 11)
      (i64.const 16) (i64.const 17) (i64.const 18) (i64.const 19)
      (i64.const 24) (i64.const 25) (i64.const 26) (i64.const 27)
      (i64.const 32) (i64.const 33) (i64.const 34) (i64.const 35)
      (i64.const 40) (i64.const 41) (i64.const 42) (i64.const 43)
      (i64.const 48) (i64.const 49) (i64.const 50) (i64.const 51)
      (i64.const 56) (i64.const 57) (i64.const 58) (i64.const 59)
      (i64.const 64) (i64.const 65) (i64.const 66) (i64.const 67)
      (i64.const 72) (i64.const 73) (i64.const 74) (i64.const 75)))
    (func $many (param i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64)
      (call $run)
      (call $run)))
  (core instance $i (instantiate $m))
  (func (export "run") (canon lift (core func $i "run"))))
