;; Grows its memory or its table one step at a time.
(module
  (memory (export "memory") 1)
  (table $t 1 funcref)
  (func (export "hostile:endless-growth/guest#memory")
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    unreachable)
  (func (export "hostile:endless-growth/guest#pages") (result i32)
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (memory.size))
  (func (export "hostile:endless-growth/guest#table")
    (loop $again
      (br_if $again (i32.ne (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1))))
    unreachable))
