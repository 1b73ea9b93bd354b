;; Returns properly and loops in the clean-up call that follows.
(module
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\02\00\00\00")
  (data (i32.const 16) "ok")
  (func (export "hostile:endless-cleanup/guest#run") (result i32) (i32.const 0))
  (func (export "cabi_post_hostile:endless-cleanup/guest#run") (param i32)
    (loop $again (br $again))))
