;; Promise: numbers of cases that a type does not have are traps.
(component
  (core module $m
    (memory (export "memory") 1)
    (func (export "four") (result i32) (i32.const 4))
    (func (export "area") (result i32)
      (i32.store (i32.const 0) (i32.const 4))
      (i32.const 0)))
  (core instance $i (instantiate $m))
  (type $mood (enum "a" "b"))
  (type $shape (variant (case "a") (case "b" u8)))
  (func $enum (result $mood) (canon lift (core func $i "four")))
  (func $variant (result $shape) (canon lift (core func $i "area") (memory $i "memory")))
  (func $option (result (option u8)) (canon lift (core func $i "area") (memory $i "memory")))
  (func $result (result (result u8)) (canon lift (core func $i "area") (memory $i "memory")))
  (instance $guest
    (export "mood" (type $mood))
    (export "shape" (type $shape))
    (export "enum" (func $enum))
    (export "variant" (func $variant))
    (export "option" (func $option))
    (export "result" (func $result)))
  (export "hostile:unknown-cases/guest" (instance $guest)))
